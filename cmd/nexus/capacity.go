package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"nexus/internal/cost"
)

// capacityCommand is nexus capacity.
type capacityCommand struct {
	Users    int     `required:"" placeholder:"N" help:"The number of users."`
	Peak     float64 `default:"5" placeholder:"F" help:"How many times the mean the busiest minutes have."`
	Settings string  `type:"path" placeholder:"FILE" help:"A stage's settings, as in cdk.json."`
	Scale    float64 `default:"0.001" placeholder:"F" help:"The part of the document's users that is replayed."`
	JSON     bool    `name:"json" help:"Answer in JSON."`
}

// Run replays the month and prints what bounds so many users.
func (c *capacityCommand) Run(ctx context.Context, out outputs) error {
	var settings cost.StageSettings
	if c.Settings != "" {
		text, err := os.ReadFile(c.Settings)
		if err != nil {
			return fmt.Errorf("settings: %w", err)
		}
		if err := json.Unmarshal(text, &settings); err != nil {
			return fmt.Errorf("%w: %s: %w", cost.ErrOptions, c.Settings, err)
		}
	}
	month, err := replayMonth(ctx, out, c.Scale, 1)
	if err != nil {
		return err
	}
	capacity, err := cost.NewCapacity(month, c.Users, c.Peak, settings, cost.NewQuotas())
	if err != nil {
		return err
	}
	if !c.JSON {
		return capacity.Print(out.results)
	}
	answer := json.NewEncoder(out.results)
	answer.SetIndent("", "  ")
	if err := answer.Encode(capacity); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}
