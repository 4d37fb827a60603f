package command_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/command"
	"nexus/pkg/product"
	"nexus/pkg/table/memory"
)

// Create a task, change it under its version, and try to change it under a version that has passed.
func ExampleService_Do() {
	ctx := context.Background()
	clock := func() time.Time { return time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC) }
	commands := command.New(command.Config{
		Store: memory.New(clock, memory.Options{}), Registry: product.Registry(), Now: clock,
		NewID: func() string { return "5e1b8c0a-9f7d-4b7e-8c3f-2d6a1b0c9e4f" },
		Pause: func(context.Context, time.Duration) error { return nil },
	})
	made, err := commands.Do(ctx, command.Request{User: "ann", Command: command.Create{
		Type: product.Task(), Fields: map[string]any{
			"title": "Write the report", "dueUtc": "2026-03-06T17:00:00+01:00", "dueTzid": "Europe/Paris",
		},
	}})
	fmt.Println(made.Item.Str("taskId"), made.Item.Int("version"), made.Item.Str("dueUtc"), err)

	seen := int64(1)
	start := command.Request{User: "ann", ExpectedVersion: &seen, Command: command.Update{
		Type: product.Task(), ID: made.Ref.ID, Patch: map[string]any{"status": "IN_PROGRESS"},
	}}
	started, err := commands.Do(ctx, start)
	fmt.Println(started.Item.Str("status"), started.Item.Int("version"), err)

	_, err = commands.Do(ctx, start)
	var stale *command.StaleError
	fmt.Println(errors.As(err, &stale), stale.Current)
	// Output:
	// task_5e1b8c0a-9f7d-4b7e-8c3f-2d6a1b0c9e4f 1 2026-03-06T16:00:00Z <nil>
	// IN_PROGRESS 2 <nil>
	// true 2
}
