package eventsource_test

import (
	"context"
	"fmt"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/eventsource"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// A mapping brings what is written to a table to a handler, as Lambda does with a function.
func ExampleNew() {
	ctx, stop := context.WithCancel(context.Background())
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	clock := func() time.Time { return at }
	store := memory.New(clock, memory.Options{})

	handle := func(_ context.Context, event []byte) ([]byte, error) {
		defer stop() // one event is enough here
		records, err := change.Decode(event, product.Registry())
		for _, record := range records {
			fmt.Println(record.Change.Kind, record.Change.Ref.ID)
		}
		return []byte(`{"batchItemFailures":[]}`), err
	}
	mapping, err := eventsource.New(
		eventsource.Config{Name: "printer", BatchSize: 10},
		eventsource.Wiring{
			Source: store.Feed(), Checkpoints: &eventsource.MemoryCheckpoints{}, Handler: handle,
			Clock: clock, After: time.After, NewID: func() string { return "request-1" },
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	note := product.Note().NewItem("ann", "note_1", item.Item{entity.AttrTitle: item.String("Ferns")}, at, nil)
	fmt.Println(store.Put(ctx, table.Put{Item: note, If: table.NotExists()}))
	fmt.Println(mapping.Run(ctx))
	// Output:
	// <nil>
	// Inserted note_1
	// <nil>
}
