package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"time"

	"github.com/cli/browser"

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

// roomBesideEngine is the size in bytes at which the collector runs as often as it must: many large requests at once
// shall not make the process large.
const roomBesideEngine = 224 << 20

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
	Otlp      string         `placeholder:"URL" env:"OTEL_EXPORTER_OTLP_ENDPOINT" help:"${dev_otlp}"`
	Demo      bool           `help:"${dev_demo}"`
	Open      bool           `help:"Open the console in the browser."`
	NoConsole bool           `name:"no-console" help:"Leave out the page at /console, and the memory that it reads."`
	Private   bool           `name:"allow-private-webhooks" help:"${dev_private}"`
	Push      netip.AddrPort `name:"push-service" hidden:"" help:"Address of a push service on this machine."`
	Ephemeral bool           `help:"Keep the data in a temporary directory, removed at the end."`
}

// welcome says where everything is, and what is unusual about this start.
func (c *devCommand) welcome(ctx context.Context, to io.Writer, platform *local.Platform) {
	url := platform.URL()
	if !c.NoConsole {
		fmt.Fprintf(to, "  console  %s/console\n", url)
	}
	bearer, says := "ann", "the token is the user's id"
	if token := platform.Token(); token != "" {
		bearer, says = "ann."+token, "the token is <user>."+token+"; other machines reach this system"
	}
	fmt.Fprintf(to, "  docs     %s/docs\n", url)
	fmt.Fprintf(to, "  try      curl -H 'Authorization: Bearer %s' %s/v1/board\n           %s\n", bearer, url, says)
	data := cmp.Or(c.Data, local.DefaultDataDir)
	switch {
	case c.Store == string(local.Memory) || c.Ephemeral:
		data = "nothing is kept"
	case c.Endpoint != "":
		data = c.Endpoint
	}
	fmt.Fprintf(to, "  data     %s      stop with Ctrl-C\n", data)
	if c.Private {
		fmt.Fprintln(to, "  note     webhooks may have addresses of this machine (--allow-private-webhooks)")
	}
	for _, line := range unusual(ctx, url) {
		fmt.Fprintf(to, "  note     %s\n", line)
	}
}

// unusual names a moved clock and what is parked; what cannot be asked is left out.
func unusual(ctx context.Context, url string) (lines []string) {
	client := newClient(url)
	defer client.close()
	clock, err := client.call(ctx, http.MethodGet, "/dev/clock", nil, -1)
	if offset, errOffset := time.ParseDuration(clock.Body.Str("offset")); err == nil && errOffset == nil && offset > 0 {
		ahead := offset.Round(time.Second)
		lines = append(lines, fmt.Sprintf("the clock is %s ahead: it is %s", ahead, clock.Body.Str("now")))
	}
	parked, err := client.call(ctx, http.MethodGet, "/dev/parked?limit=1", nil, -1)
	if err == nil && len(parked.Body.List("items")) > 0 {
		lines = append(lines, "records are parked: nexus parked --dev "+url)
	}
	return lines
}

// playDemo plays the story of nexus demo in the running system, so that there is something to look at.
func playDemo(ctx context.Context, to io.Writer, url string) {
	s := newStory(ctx, newClient(url), io.Discard)
	switch err := s.play(); {
	case err != nil:
		fmt.Fprintf(to, "nexus: the demo ended early: %v\n", err)
	case s.wrong > 0:
		fmt.Fprintf(to, "nexus: the demo: %d of %d checks failed; it wants a system without data\n", s.wrong, len(s.checks))
	default:
		fmt.Fprintf(to, "nexus: the demo's story is told, user %s: all %d checks hold\n", s.client.user, len(s.checks))
	}
}

// openConsole opens the console of a system in the browser of this machine. If there is none, it says so.
func openConsole(to io.Writer, url string) {
	browser.Stdout, browser.Stderr = to, to
	if err := browser.OpenURL(url + "/console"); err != nil {
		fmt.Fprintf(to, "nexus: no browser can be opened (%v): open %s/console yourself\n", err, url)
	}
}

// Run serves until a signal stops it, and prints one line when it is ready.
func (c *devCommand) Run(ctx context.Context, out outputs) error {
	if c.Demo && c.Endpoint != "" {
		return wrongUsage("--demo moves the clock, and with --endpoint time is real")
	}
	if c.Open && c.NoConsole {
		return wrongUsage("--open opens the console, and --no-console leaves it out")
	}
	c.Private = c.Private || c.Demo // the demo's webhook is a program on this machine
	limits, err := limit.Default().With(c.Limit)
	if err != nil {
		return wrongUsage("--limit: %w", err)
	}
	// The collector reads the whole table in memory each time, and beside the engine it runs for the few megabytes of
	// each hundred requests: by Go's own pace it takes a fifth of the time of either.
	defer debug.SetGCPercent(debug.SetGCPercent(roomToCollect / 2))
	if local.Store(c.Store) != local.Memory {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(roomBesideEngine))
	}
	platform, err := local.Start(ctx, local.Options{
		Store: local.Store(c.Store), DataDir: c.Data, Endpoint: c.Endpoint, Ephemeral: c.Ephemeral, Addr: c.Addr,
		ShowEndpoint: c.Show, Expose: c.Expose, AllowHosts: c.AllowHost, Origins: c.Cors, SyncForm: c.SyncForm,
		Limits: limits, NoConsole: c.NoConsole, Collector: c.Otlp, Prices: pricesOfUnits(cost.DefaultPrices()),
		PushService: c.Push, PrivateWebhooks: c.Private,
		Log: slog.New(slog.NewTextHandler(out.messages, nil)),
	})
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return nil // stopped before it was ready
		}
		return err
	}
	c.welcome(ctx, out.messages, platform)
	fmt.Fprintf(out.results, "ready %s\n", platform.URL())
	if c.Demo {
		playDemo(ctx, out.messages, platform.URL())
	}
	if c.Open {
		openConsole(out.messages, platform.URL())
	}
	select {
	case <-ctx.Done():
		fmt.Fprintln(out.messages, "nexus: finishing; interrupt again to end at once")
	case <-platform.Done():
	}
	return errors.Join(platform.Err(), platform.Stop(context.WithoutCancel(ctx)))
}
