package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"nexus/pkg/local"
)

// demoCommand is nexus demo.
type demoCommand struct {
	Store string `enum:"dynamodb,memory" default:"dynamodb" help:"${store_place} (${enum})."`
	JSON  bool   `help:"Print the checks as JSON instead of the story."`
	Keep  bool   `help:"Leave the system running with what the story has made, and open its console in the browser."`

	machine func() time.Time // the machine's clock; nil: this one's
}

var errWrong = errors.New("the system did not do what it should")

// Run plays the story and fails if one number in it is wrong.
func (c *demoCommand) Run(ctx context.Context, out outputs) error {
	began := time.Now()
	platform, err := local.Start(ctx, local.Options{
		Store: local.Store(c.Store), Ephemeral: c.Store == string(local.DynamoDB), Addr: "127.0.0.1:0",
		Machine: c.machine, PrivateWebhooks: true,
		Log: slog.New(slog.NewTextHandler(out.messages, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	prose := out.results
	if c.JSON {
		prose = io.Discard
	}
	s := newStory(ctx, newClient(platform.URL()), prose)
	errStory := s.play()
	elapsed := time.Since(began)
	if errStory == nil && c.Keep {
		fmt.Fprintf(out.messages, "nexus: the system runs on until Ctrl-C; its console is at %s/console, its user is %s\n",
			platform.URL(), s.client.user)
		openConsole(out.messages, platform.URL())
		select {
		case <-ctx.Done():
		case <-platform.Done():
		}
	}
	stopped := errors.Join(platform.Err(), platform.Stop(context.WithoutCancel(ctx)))
	if c.JSON {
		text, err := json.MarshalIndent(struct {
			Store     string  `json:"store"`
			Checks    []check `json:"checks"`
			Wrong     int     `json:"wrong"`
			ElapsedMs int64   `json:"elapsedMs"`
		}{c.Store, s.checks, s.wrong, elapsed.Milliseconds()}, "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintf(out.results, "%s\n", text)
	}
	if err := errors.Join(errStory, stopped); err != nil {
		return err
	}
	if s.wrong > 0 {
		return fmt.Errorf("%w: %d of %d checks failed", errWrong, s.wrong, len(s.checks))
	}
	fmt.Fprintf(prose, "\nAll %d checks hold. It took %.1f s, start and end of the system included.\n", len(s.checks),
		elapsed.Seconds())
	return nil
}
