package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"nexus/internal/wiretest"
	"nexus/pkg/table"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == inside {
		if err := keep(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	e, err := startEngine(context.Background(), os.Args[1], os.Stderr)
	fmt.Println(err)
	b := newBridge(e.transport(), service())
	go func() {
		for range time.Tick(5 * time.Second) {
			b.mu.Lock()
			fmt.Println(b.bridged, len(b.unknown), strings.Join(b.unknown[max(0, len(b.unknown)-3):], "\n"))
			b.mu.Unlock()
		}
	}()
	l, _ := net.Listen("tcp", "127.0.0.1:18123")
	fmt.Println(http.Serve(l, b))
}

// service returns the rules of the service for requests to the product's table.
func service() wiretest.Service {
	schema := table.ProductSchema()
	keys := wiretest.Table{
		KeySchema: wiretest.KeySchema{Partition: schema.PK, Sort: schema.SK}, Indexes: map[string]wiretest.KeySchema{},
	}
	for _, index := range schema.Indexes {
		keys.Indexes[string(index.Name)] = wiretest.KeySchema{Partition: index.PK, Sort: index.SK}
	}
	return wiretest.DynamoDB(keys)
}
