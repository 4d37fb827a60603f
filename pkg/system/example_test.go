package system_test

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"nexus/pkg/change"
	"nexus/pkg/command"
	"nexus/pkg/product"
	"nexus/pkg/system"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// Assemble the part of the product that needs only a table, create a task, deliver its record to the consumers of all
// readers, and read the user's statistics.
func ExampleNew() {
	ctx := context.Background()
	clock := func() time.Time { return time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC) }
	store := memory.New(clock, memory.Options{})
	s, err := system.New(product.Registry(), system.Ports{
		Store: func(string) table.Store { return store }, Now: clock, NewID: uuid.NewString,
		Pause: func(context.Context, time.Duration) error { return nil },
	})
	if err != nil {
		panic(err)
	}
	made, err := s.Commands.Do(ctx, command.Request{User: "ann", Command: command.Create{
		Type: product.Task(), Fields: map[string]any{"title": "Write the report"},
	}})
	if err != nil {
		panic(err)
	}
	created := change.Change{
		Kind: change.Inserted, Type: product.Task(), User: "ann", Ref: made.Ref, Key: made.Item.Key(), New: made.Item,
		Version: 1, Created: clock(),
	}
	for _, r := range s.Readers {
		for _, c := range r.Consumers {
			if err := c.Apply(ctx, []change.Change{created})[0].Err; err != nil {
				panic(err)
			}
		}
	}
	answer, err := s.Queries.Stats(ctx, "ann")
	fmt.Println(answer.Totals.Int(product.StatTotalTasks), err)
	fmt.Println(s.Notifier == nil, s.Verifier == nil)
	// Output:
	// 1 <nil>
	// true true
}
