package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// callTimeout is above the half minute that settling may take.
const callTimeout = time.Minute

// client is a program that speaks for any user.
type client struct {
	base string
	http *http.Client
}

func newClient(base string, connections int) *client {
	return &client{base: base, http: &http.Client{
		Timeout: callTimeout, Transport: &http.Transport{
			MaxIdleConns: connections, MaxIdleConnsPerHost: connections,
			DisableCompression: true, // on this machine nobody would ask for it
		},
	}}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// do sends a request and returns the whole answer, which must be a 200.
func (c *client) do(ctx context.Context, user, method, path string, body any) (_ []byte, err error) {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", method, path, err)
		}
		content = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, content)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if user != "" {
		r.Header.Set("Authorization", "Bearer "+user)
	}
	res, err := c.http.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%w %d: %.300s", errStatus, res.StatusCode, text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	return text, nil
}

type commandDoc struct {
	ID              string         `json:"id"`
	Type            string         `json:"type"`
	Data            map[string]any `json:"data"`
	ExpectedVersion int            `json:"expectedVersion,omitempty"`
}

type commandResult struct {
	Status int             `json:"status"`
	Entity map[string]any  `json:"entity"`
	Wrong  json.RawMessage `json:"problem"`
}

// maxBatch is how many commands one request takes.
const maxBatch = 100

// carryOut sends the commands in batches and returns the entities, in order.
func (c *client) carryOut(ctx context.Context, user string, commands []commandDoc) ([]map[string]any, error) {
	var out []map[string]any
	for len(commands) > 0 {
		batch := commands[:min(len(commands), maxBatch)]
		commands = commands[len(batch):]
		text, err := c.do(ctx, user, http.MethodPost, "/v1/commands", map[string]any{"commands": batch})
		if err != nil {
			return nil, err
		}
		var answer struct{ Results []commandResult }
		if err := json.Unmarshal(text, &answer); err != nil || len(answer.Results) != len(batch) {
			return nil, fmt.Errorf("%d commands, %d results: %w", len(batch), len(answer.Results), err)
		}
		for i, r := range answer.Results {
			if r.Status >= http.StatusBadRequest {
				return nil, fmt.Errorf("%s: %w %d: %s", batch[i].Type, errStatus, r.Status, r.Wrong)
			}
			out = append(out, r.Entity)
		}
	}
	return out, nil
}

// fill gives a user the population, as an offline client would hand it over, and returns the ids of the events.
func (c *client) fill(ctx context.Context, user string, p population) (events []string, err error) {
	create := map[string]string{
		"EVENT": "CreateEvent", "TASK": "CreateTask", "REMINDER": "CreateReminder", "NOTE": "CreateNote",
		"MASTER": "CreateSeries",
	}
	send := func(documents []document, prefix string) ([]map[string]any, error) {
		var commands []commandDoc
		for i, d := range documents {
			commands = append(commands, commandDoc{ID: fmt.Sprintf("%s-%d", prefix, i), Type: create[d.Type], Data: d.Body})
		}
		return c.carryOut(ctx, user, commands)
	}
	if _, err := c.do(ctx, user, http.MethodPost, "/v1/commands", map[string]any{"commands": []commandDoc{
		{ID: "zone", Type: "UpdateMe", Data: map[string]any{"defaultTzid": homeZone}},
	}}); err != nil {
		return nil, err
	}
	items, err := send(p.Items, "item")
	if err != nil {
		return nil, err
	}
	for _, it := range items {
		if it["entityType"] == "EVENT" {
			events = append(events, it["eventId"].(string))
		}
	}
	masters, err := send(p.Series, "series")
	if err != nil {
		return nil, err
	}
	var commands []commandDoc
	for i, e := range p.Exceptions {
		command := commandDoc{
			ID: fmt.Sprintf("exception-%d", i), Type: "PutInstance", ExpectedVersion: 1, Data: map[string]any{},
		}
		if e.Body == nil {
			command.Type = "CancelInstance"
		}
		for name, v := range e.Body {
			command.Data[name] = v
		}
		command.Data["masterId"], command.Data["date"] = masters[e.Series]["masterId"], e.Date
		commands = append(commands, command)
	}
	_, err = c.carryOut(ctx, user, commands)
	return events, err
}
