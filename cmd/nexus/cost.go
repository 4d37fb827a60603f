package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"

	"nexus/internal/cost"
)

// costCommand is nexus cost.
type costCommand struct {
	Scale  float64 `default:"0.01" placeholder:"F" help:"The part of the users that is replayed; the bill is for all."`
	Prices string  `type:"path" placeholder:"FILE" help:"Another price list, in the form that --show-prices prints."`
	Seed   uint64  `default:"1" placeholder:"S" help:"Seed of what the users do."`
	Month  int     `default:"1" placeholder:"N" help:"The month of the deployment: what is stored grows."`
	// TableClass is the stage's setting of that name.
	TableClass string `default:"standard" enum:"standard,infrequent" help:"Class of the table: standard or infrequent."`

	Edge bool `help:"With the stage's setting of that name: CloudFront and AWS WAF stand before the API."`

	Replicas int `default:"0" placeholder:"N" help:"How many other regions have a replica of the table."`

	JSON bool `name:"json" help:"Answer in JSON, with all counts."`

	ShowPrices bool `help:"Print the price list that is built in, and nothing else."`
}

// infrequentAccess is the setting tableClass of a table of the class Standard-IA.
const infrequentAccess = "infrequent"

// costed is the answer in JSON.
type costed struct {
	Bill  cost.Bill   `json:"bill"`
	Month *cost.Month `json:"month"`
}

// Run replays the month and prints its bill.
func (c *costCommand) Run(ctx context.Context, out outputs) error {
	if c.ShowPrices {
		_, err := out.results.Write(cost.DefaultPriceList())
		return err
	}
	if c.Replicas < 0 {
		return fmt.Errorf("%w: %d replicas", cost.ErrOptions, c.Replicas)
	}
	prices := cost.DefaultPrices()
	if c.Prices != "" {
		text, err := os.ReadFile(c.Prices)
		if err != nil {
			return fmt.Errorf("price list: %w", err)
		}
		if prices, err = cost.ParsePrices(text); err != nil {
			return fmt.Errorf("%s: %w", c.Prices, err)
		}
	}
	month, err := replayMonth(ctx, out, c.Scale, c.Seed)
	if err != nil {
		return err
	}
	bill := cost.NewBill(month, prices, cost.When{
		Month: c.Month, Infrequent: c.TableClass == infrequentAccess, Edge: c.Edge, Replicas: c.Replicas,
	})
	if !c.JSON {
		return bill.Print(out.results, month)
	}
	answer := json.NewEncoder(out.results)
	answer.SetIndent("", "  ")
	if err := answer.Encode(costed{bill, month}); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// replayMonth replays the month of the document's load for a part of the users.
func replayMonth(ctx context.Context, out outputs, scale float64, seed uint64) (*cost.Month, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(roomToCollect / 2))
	bar := newProgress(out.messages, "days")
	defer bar.end()
	return cost.Replay(ctx, cost.Options{
		Load: cost.DocumentLoad(), Model: cost.DefaultModel(), Scale: scale, Seed: seed, Progress: bar.show,
	})
}
