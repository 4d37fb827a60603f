// Command vulnerabilities tells which known vulnerabilities the programs can reach: make vulnerabilities. It exits with
// 1 if there is one, and if it could not look: then it says so. It changes nothing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

// patience bounds the whole run; answerTime bounds the database's first answer, so that a run without network costs no
// more.
const (
	patience   = 15 * time.Minute
	answerTime = 5 * time.Second
)

func main() {
	database := flag.String("db", "https://vuln.go.dev", "the database: its `address`, or file:// and a folder")
	scanner := flag.String("with", "", "the `path` of govulncheck; without it the database alone is asked")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	ctx, cancel := context.WithTimeout(ctx, patience)
	err := run(ctx, *database, *scanner, programs(), os.Stdout)
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "vulnerabilities:", err)
		os.Exit(1)
	}
}

// run asks the database, then has every program scanned, and prints what is found.
func run(ctx context.Context, database, scanner string, programs []program, out io.Writer) error {
	if err := reach(ctx, database, answerTime); err != nil {
		return fmt.Errorf("NOT CHECKED: the database was not reached: %w", err)
	}
	if scanner == "" {
		return nil
	}
	scanner, err := filepath.Abs(scanner) // each program is scanned in the folder of its module
	if err != nil {
		return err
	}
	var wrong []error
	for _, p := range programs {
		found, err := p.scan(ctx, scanner, database)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("NOT CHECKED: %s: %w", p.name, err))
			continue
		}
		fmt.Fprintf(out, "%s: known vulnerabilities that it can reach: %d\n", p.name, len(found))
		for _, f := range found {
			fmt.Fprintln(out, f)
		}
		if len(found) > 0 {
			wrong = append(wrong, fmt.Errorf("%s can reach %d", p.name, len(found)))
		}
	}
	return errors.Join(wrong...)
}
