package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"nexus/pkg/consume"
	"nexus/pkg/local"
	"nexus/pkg/mask"
	"nexus/pkg/product"
	"nexus/pkg/replay"
)

// maxAnswer bounds the answer of a local process: reports, and the derived state of all users of the records.
const maxAnswer = 256 << 20

// replayCommand is nexus replay.
type replayCommand struct {
	Consumer []string `placeholder:"NAMES" help:"To these consumers alone, such as stats,links."`
	Dev      string   `placeholder:"URL" xor:"where" help:"Into the process that runs there: http://127.0.0.1:8080."`
	Store    string   `enum:"memory" default:"memory" help:"${replay_store} (${enum}), ${replay_time}"`
	Until    string   `placeholder:"INSTANT" help:"${replay_until}"`
	JSON     bool     `name:"json" help:"Answer in JSON."`
	Fixtures []string `arg:"" name:"fixture" help:"${replay_fixtures}"`
}

// errRefused is the command's failure if consumers refused records.
var errRefused = errors.New("records were not processed")

// Run feeds the records, and prints their outcomes and the derived data.
func (c *replayCommand) Run(ctx context.Context, out outputs) error {
	until, err := c.until()
	if err != nil {
		return err
	}
	var all bytes.Buffer
	var records []json.RawMessage
	for _, name := range c.Fixtures {
		body, err := readFixture(name)
		if err != nil {
			return err
		}
		some, err := consume.Records(body)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		records = append(records, some...)
		all.Write(body)
		all.WriteByte('\n')
	}
	var replayed local.Replayed
	if c.Dev != "" {
		replayed, err = c.inProcess(ctx, all.Bytes())
	} else {
		replayed, err = c.inMemory(ctx, out, records, until)
	}
	if errors.Is(err, replay.ErrConsumer) {
		return wrongUsage("--consumer: %w", err)
	}
	if err != nil {
		return err
	}
	if err := c.print(out.results, replayed); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	refused := 0
	for _, r := range replayed.Consumers {
		refused += r.Parked + r.Unfinished
	}
	if refused > 0 {
		return fmt.Errorf("%w: %d", errRefused, refused)
	}
	return nil
}

// until returns the zero time if the flag is absent.
func (c *replayCommand) until() (time.Time, error) {
	if c.Until == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, c.Until)
	if err != nil || c.Dev != "" {
		return at, wrongUsage("--until wants an instant such as 2026-03-02T09:00:00Z, and no --dev")
	}
	return at.UTC(), nil
}

func readFixture(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(name)
}

func (c *replayCommand) inMemory(
	ctx context.Context, out outputs, records []json.RawMessage, until time.Time,
) (done local.Replayed, err error) {
	system := replay.NewSystem(replay.Config{
		Registry: product.Registry(), Begin: time.Unix(0, 0).UTC(),
		Log: slog.New(mask.Clear(slog.NewTextHandler(out.messages, &slog.HandlerOptions{Level: slog.LevelError}))),
	})
	feeder, err := system.Feeder.Only(c.Consumer...)
	if err != nil {
		return done, err
	}
	if done.Consumers, err = system.Replay(ctx, feeder, records); err != nil {
		return done, err
	}
	if err := system.Follow(ctx, until); err != nil {
		return done, err
	}
	done.State, err = system.View().State(ctx)
	return done, err
}

func (c *replayCommand) inProcess(ctx context.Context, body []byte) (done local.Replayed, err error) {
	address := strings.TrimSuffix(c.Dev, "/") + "/dev/replay"
	if len(c.Consumer) > 0 {
		address += "?" + url.Values{"consumer": {strings.Join(c.Consumer, ",")}}.Encode()
	}
	from, end, err := ask(ctx, http.MethodPost, address, body)
	if err != nil {
		return done, err
	}
	defer end()
	if err := json.NewDecoder(io.LimitReader(from, maxAnswer)).Decode(&done); err != nil {
		return done, fmt.Errorf("POST %s: the answer breaks off: %w", address, err)
	}
	return done, nil
}

func (c *replayCommand) print(to io.Writer, done local.Replayed) error {
	if c.JSON {
		return json.NewEncoder(to).Encode(done)
	}
	var text strings.Builder
	for _, r := range done.Consumers {
		fmt.Fprintf(&text, "%-10s %d records: %d done, %d parked, %d unfinished; %d not for it\n", r.Consumer, r.Records,
			r.Done, r.Parked, r.Unfinished, r.Filtered)
		for _, trouble := range r.Troubles {
			fmt.Fprintf(&text, "  %s %s %s: %s\n", trouble.Outcome, trouble.Sequence, trouble.Key, trouble.Reason)
		}
	}
	text.WriteString("\n" + done.State.String())
	_, err := io.WriteString(to, text.String())
	return err
}
