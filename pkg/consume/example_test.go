package consume_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"nexus/pkg/blob/memory"
	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/entity"
	"nexus/pkg/port"
	"nexus/pkg/product"
)

// titles is a consumer that prints titles, and cannot bear an empty one.
type titles struct{}

func (titles) Name() string { return "titles" }

func (titles) Apply(_ context.Context, batch []change.Change) []change.Outcome {
	outcomes := make([]change.Outcome, len(batch))
	for i, c := range batch {
		title := c.New.Str(entity.AttrTitle)
		if title == "" {
			outcomes[i] = change.Outcome{Verdict: change.Poison, Err: errors.New("no title")}
			continue
		}
		fmt.Println("title:", title)
	}
	return outcomes
}

// A batch of three notes, one of which can never be processed. It is parked, and the answer names no failure.
func ExampleNew() {
	event, err := os.ReadFile("../../events/stream-undecodable.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	parked := memory.New(nil)
	loop, err := consume.New(consume.Config{
		Registry: product.Registry(), Consumers: []change.Consumer{titles{}}, Parking: parked,
		Log: slog.New(slog.DiscardHandler), Spread: consume.InTurn,
		Now: func() time.Time { return time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC) }, Wait: port.Sleep,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := loop.Handle(context.Background(), event)
	fmt.Println(string(answer), err)
	names, err := parked.List(context.Background(), "parked/", 10, "")
	fmt.Println("parked:", len(names), err)
	// Output:
	// title: Before the bad one
	// title: After the bad one
	// {"batchItemFailures":[]} <nil>
	// parked: 1 <nil>
}
