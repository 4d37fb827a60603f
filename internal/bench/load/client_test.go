package load_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/product"
)

// callTimeout is above the half minute that settling may take.
const callTimeout = time.Minute

var errStatus = errors.New("unexpected status")

// client is a program that speaks for any user.
type client struct {
	base string
	http *http.Client
}

func newClient(base string, connections int) *client {
	return &client{base, &http.Client{Timeout: callTimeout, Transport: &http.Transport{
		MaxIdleConns: connections, MaxIdleConnsPerHost: connections,
		DisableCompression: true, // clients on the same machine ask for none
	}}}
}

// do sends a request and returns the whole answer, which must be a 200.
func (c *client) do(ctx context.Context, user, method, path string, body any) (text []byte, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s %s: %w", method, path, err)
		}
	}()
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, content)
	if err != nil {
		return nil, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if user != "" {
		r.Header.Set("Authorization", "Bearer "+user)
	}
	res, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	var buffer bytes.Buffer
	buffer.Grow(int(max(0, res.ContentLength)) + bytes.MinRead) // so that less of what is measured is the client
	_, err = buffer.ReadFrom(res.Body)
	text = buffer.Bytes()
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%w %d: %.300s", errStatus, res.StatusCode, text)
	}
	return text, errors.Join(err, res.Body.Close())
}

type commandDoc struct {
	ID              string         `json:"id"`
	Type            string         `json:"type"`
	Data            map[string]any `json:"data"`
	ExpectedVersion *int           `json:"expectedVersion,omitempty"`
}

// maxBatch is how many commands one request takes.
const maxBatch = 100

// carryOut sends the commands in batches and returns the entities, in order.
func (c *client) carryOut(ctx context.Context, user string, commands []commandDoc) ([]map[string]any, error) {
	var out []map[string]any
	for batch := range slices.Chunk(commands, maxBatch) {
		text, err := c.do(ctx, user, http.MethodPost, "/v1/commands", map[string]any{"commands": batch})
		if err != nil {
			return nil, err
		}
		var answer struct {
			Results []struct {
				Status int             `json:"status"`
				Entity map[string]any  `json:"entity"`
				Wrong  json.RawMessage `json:"problem"`
			}
		}
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

// creates are the commands that create the entities of a population.
var creates = map[string]string{
	product.TypeEvent: "CreateEvent", product.TypeTask: "CreateTask", product.TypeReminder: "CreateReminder",
	product.TypeNote: "CreateNote", entity.TypeMaster: "CreateSeries",
}

// fill gives a user the population, as an offline client would hand it over, and returns the ids of the events.
func (c *client) fill(ctx context.Context, user string, p population) (events []string, err error) {
	zone := map[string]any{"defaultTzid": homeZone}
	commands := []commandDoc{{ID: "zone", Type: "UpdateMe", ExpectedVersion: new(0), Data: zone}}
	for i, d := range slices.Concat(p.Series, p.Items) {
		commands = append(commands, commandDoc{ID: fmt.Sprint("item-", i), Type: creates[d.Type], Data: d.Body})
	}
	made, err := c.carryOut(ctx, user, commands)
	if err != nil {
		return nil, err
	}
	for _, it := range made {
		if id, ok := it["eventId"].(string); ok {
			events = append(events, id)
		}
	}
	commands = nil
	for i, e := range p.Exceptions {
		command := commandDoc{
			ID: fmt.Sprint("exception-", i), Type: "PutInstance", ExpectedVersion: new(1),
			Data: map[string]any{"masterId": made[1+e.Series]["masterId"], "date": e.Date},
		}
		if e.Body == nil {
			command.Type = "CancelInstance"
		}
		maps.Copy(command.Data, e.Body)
		commands = append(commands, command)
	}
	_, err = c.carryOut(ctx, user, commands)
	return events, err
}
