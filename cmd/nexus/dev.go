package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime/debug"

	"nexus/internal/cost"
	"nexus/pkg/limit"
	"nexus/pkg/local"
)

// pricesOfUnits returns the prices of what a local system counts.
func pricesOfUnits(list cost.Prices) *local.Prices {
	unit := func(name string) float64 { return list.Prices[name].Price / list.Prices[name].Per }
	return &local.Prices{
		Source: list.Source, AsOf: list.AsOf, Currency: list.Currency, ReadUnit: unit("tableReads"),
		WriteUnit: unit("tableWrites"), ScheduleCall: unit("scheduleCalls"), Event: unit("busEvents"),
	}
}

// devCommand is nexus dev.
type devCommand struct {
	Addr      string         `default:"127.0.0.1:8080" help:"Where to listen; port 0 takes a free one."`
	Expose    bool           `help:"${dev_expose}"`
	AllowHost []string       `placeholder:"HOST" help:"A host that other machines may ask for, with --expose; repeatable."`
	Cors      []string       `placeholder:"ORIGIN" help:"${dev_cors}"`
	SyncForm  uint16         `default:"0" placeholder:"N" help:"${dev_form}"`
	Limit     map[string]int `placeholder:"NAME=N" help:"${dev_limit}"`
	Data      string         `placeholder:"DIR" help:"Directory of the data (.nexus unless given)."`
	Store     string         `enum:"dynamodb,memory" default:"dynamodb" help:"${store_place} (${enum}). ${dev_memory}"`
	Endpoint  string         `placeholder:"URL" help:"${dev_endpoint}"`
	Show      bool           `name:"show-endpoint" help:"${dev_show}"`
	NoConsole bool           `name:"no-console" help:"Leave out the page at /console, and the memory that it reads."`
	Private   bool           `name:"allow-private-webhooks" help:"${dev_private}"`
	Push      netip.AddrPort `name:"push-service" hidden:"" help:"Address of a push service on this machine."`
	Ephemeral bool           `help:"Keep the data in a temporary directory, removed at the end."`
}

// Run serves until a signal stops it, and prints one line when it is ready.
func (c *devCommand) Run(ctx context.Context, out outputs) error {
	limits, err := limit.Default().With(c.Limit)
	if err != nil {
		return wrongUsage("--limit: %w", err)
	}
	// The collector reads the whole table in memory each time, and beside the engine it runs for the few megabytes of
	// each hundred requests: by Go's own pace it takes a fifth of the time of either.
	defer debug.SetGCPercent(debug.SetGCPercent(roomToCollect / 2))
	platform, err := local.Start(ctx, local.Options{
		Store: local.Store(c.Store), DataDir: c.Data, Endpoint: c.Endpoint, Ephemeral: c.Ephemeral, Addr: c.Addr,
		ShowEndpoint: c.Show, Expose: c.Expose, AllowHosts: c.AllowHost, Origins: c.Cors, SyncForm: c.SyncForm,
		Limits: limits, NoConsole: c.NoConsole, Prices: pricesOfUnits(cost.DefaultPrices()), PushService: c.Push,
		PrivateWebhooks: c.Private,
		Log:             slog.New(slog.NewTextHandler(out.messages, nil)),
	})
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return nil // stopped before it was ready
		}
		return err
	}
	fmt.Fprintf(out.messages, "nexus: the docs are at %s/docs\n", platform.URL())
	if token := platform.Token(); token != "" {
		fmt.Fprintf(out.messages,
			"nexus: other machines reach this system; each bearer token is \"<user>.%s\" for any user, such as ann.%s\n",
			token, token)
	} else {
		fmt.Fprintln(out.messages,
			"nexus: a bearer token is a user's id: with \"Authorization: Bearer ann\" a request is user ann's")
	}
	if c.Private {
		fmt.Fprintln(out.messages, "nexus: webhooks may have addresses of this machine (--allow-private-webhooks)")
	}
	fmt.Fprintf(out.results, "ready %s\n", platform.URL())
	select {
	case <-ctx.Done():
		fmt.Fprintln(out.messages, "nexus: finishing; interrupt again to end at once")
	case <-platform.Done():
	}
	return errors.Join(platform.Err(), platform.Stop(context.WithoutCancel(ctx)))
}
