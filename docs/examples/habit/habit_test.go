// Package habit_test is the worked example of an entity type of another product: a HABIT is one value and one command,
// and links, backlinks, statistics of its own, reminders and the HTTP surface work for it without a change in pkg.
package habit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"nexus/docs/examples/tagcounts"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/local"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/table/memory"
)

// States of a HABIT.
const (
	active = "ACTIVE"
	paused = "PAUSED"
)

// habit describes the type: what it is called, its fields with their bounds, its index keys, and when it is due.
func habit() *entity.Type {
	return &entity.Type{
		Name: "HABIT", IDAttr: "habitId", IDPrefix: "hab", Plural: "habits",
		Fields: entity.Common("habitId",
			entity.Field{Name: entity.AttrTitle, Kind: entity.Text, Required: true, Min: 1, Max: 100, Doc: "One line."},
			entity.Field{
				Name: entity.AttrStatus, Kind: entity.Enum, Required: true, Default: item.String(active),
				Enum: []string{active, paused}, Doc: "A paused habit does not remind.",
			},
			entity.Field{
				Name: "nextUtc", Kind: entity.Instant, Required: true, Zone: product.AttrTzid, Doc: "When it is to be done next.",
			},
			entity.Field{Name: product.AttrTzid, Kind: entity.Zone, Doc: "Zone of nextUtc; absent means floating."},
			entity.Field{
				Name: "streak", Kind: entity.Integer, Required: true, Origin: entity.FromServer, Default: item.Int(0),
				Doc: "How often in a row.",
			},
			entity.Field{Name: entity.AttrLinks, Kind: entity.Links, Max: 49, Doc: "Other entities it refers to."},
			entity.Field{
				Name: product.AttrReminderMinutes, Kind: entity.Minutes, Max: 10, MemberMax: 1440,
				Doc: "Minutes before nextUtc at which to remind.",
			},
			entity.Field{
				Name: product.AttrDueSetAt, Kind: entity.Instant, Origin: entity.Hidden,
				Doc: "When a command last changed a due instant.",
			},
		),
		Index: func(user string, it item.Item) entity.IndexKeys {
			next, _ := it.Time("nextUtc")
			return entity.IndexKeys{
				YearPK: entity.AgendaPK(user, next.Year()), YearSK: it.Str("nextUtc"),
				StatePK: entity.UserPK(user),
				StateSK: entity.StatePrefix("HABIT", it.Str(entity.AttrStatus)) + it.Str(entity.AttrCreatedAt),
			}
		},
		Dues: func(it item.Item) []entity.Due {
			next, ok := it.Time("nextUtc")
			if !ok || it.Str(entity.AttrStatus) == paused {
				return nil
			}
			var dues []entity.Due
			for _, minutes := range it.Ints(product.AttrReminderMinutes) {
				dues = append(dues, entity.Due{
					OffsetMinutes: minutes, Occurrence: next, At: next, Floating: !it.Has(product.AttrTzid),
				})
			}
			return dues
		},
	}
}

// checkOff is a command of the product's own: the habit was done, and is due again a day later.
func checkOff(id string) command.Command {
	typ := habit()
	return command.CustomCommand{Name: "checkOffHabit", Type: typ, ID: id,
		Apply: func(before item.Item, _ time.Time) (item.Item, error) {
			if before.Str(entity.AttrStatus) == paused {
				return nil, &command.StateError{Ref: typ.Ref(before), Reason: "is paused"}
			}
			after := before.Clone()
			next, _ := before.Time("nextUtc")
			after.SetTime("nextUtc", next.AddDate(0, 0, 1))
			after["streak"] = item.Int(before.Int("streak") + 1)
			return after, nil
		}}
}

// TestHabit_worksLikeEveryOtherEntity starts the local platform with the type and a projection of the product's own,
// and uses both over HTTP.
func TestHabit_worksLikeEveryOtherEntity(t *testing.T) {
	t.Parallel()
	platform, err := local.Start(t.Context(), local.Options{
		Store: local.Memory, Addr: "127.0.0.1:0",
		Types: []*entity.Type{habit()}, Projections: []*projection.Projection{tagcounts.Projection()},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, platform.Stop(t.Context())) })
	c := client{t, platform.URL()}

	next := item.FormatInstant(c.clock().Add(3 * time.Hour))
	water := c.send("POST", "/v1/habits", 201, map[string]any{
		"title": "Drink water", "nextUtc": next, "tzid": "UTC", "reminderMinutes": []int{30},
	})
	id := water["habitId"].(string)
	require.Equal(t, "ACTIVE", water["status"])
	refused := c.send("POST", "/v1/habits", 422, map[string]any{"title": "", "streak": 9})
	require.Len(t, refused["errors"], 3, "title, nextUtc and streak")

	note := c.send("POST", "/v1/notes", 201, map[string]any{
		"title": "why", "tags": []string{"health"}, "links": []any{map[string]any{"targetType": "HABIT", "targetId": id}},
	})
	require.NoError(t, platform.WaitUntilIdle(t.Context()))
	backlinks := c.send("GET", "/v1/habits/"+id+"/backlinks", 200, nil)["items"].([]any)
	require.Equal(t, note["noteId"], backlinks[0].(map[string]any)["noteId"])
	agenda := c.send("GET", "/v1/agenda?types=HABIT&from="+item.FormatInstant(c.clock())+"&to="+
		item.FormatInstant(c.clock().Add(24*time.Hour)), 200, nil)
	require.Len(t, agenda["items"], 1)

	c.send("POST", "/dev/clock", 200, map[string]any{"advance": "3h"})
	events := c.send("GET", "/dev/events", 200, nil)["items"].([]any)
	require.Equal(t, "ReminderDue", events[0].(map[string]any)["type"])
}

func TestHabit_commandGoesTheWayOfEveryChange(t *testing.T) {
	t.Parallel()
	registry, err := product.RegistryWith(habit())
	require.NoError(t, err)
	now := time.Date(2025, 6, 1, 8, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	commands := command.New(command.Config{
		Store: memory.New(clock, memory.Options{}), Registry: registry, Now: clock, NewID: uuid.NewString,
		Pause: func(context.Context, time.Duration) error { return nil },
	})
	created, err := commands.Do(t.Context(), command.Request{User: "ann", Command: command.Create{
		Type: habit(), Fields: map[string]any{"title": "Run", "nextUtc": "2025-06-02T07:00:00"},
	}})
	require.NoError(t, err)
	for range 2 { // the second time is a repetition under the same key
		done, err := commands.Do(t.Context(), command.Request{
			User: "ann", IdempotencyKey: "today", Command: checkOff(created.Ref.ID),
		})
		require.NoError(t, err)
		require.Equal(t, "2025-06-03T07:00:00Z", done.Item.Str("nextUtc"))
		require.Equal(t, int64(1), done.Item.Int("streak"))
		require.Equal(t, int64(2), done.Item.Int("version"))
	}
}

// client sends requests of one user's.
type client struct {
	t   *testing.T
	url string
}

func (c client) send(method, path string, status int, body any) map[string]any {
	c.t.Helper()
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		require.NoError(c.t, err)
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, content)
	require.NoError(c.t, err)
	request.Header.Set("Authorization", "Bearer ann")
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	require.NoError(c.t, err)
	defer func() { require.NoError(c.t, response.Body.Close()) }()
	answer := map[string]any{}
	require.NoError(c.t, json.NewDecoder(response.Body).Decode(&answer))
	require.Equal(c.t, status, response.StatusCode, "%v", answer)
	return answer
}

func (c client) clock() time.Time {
	now, err := time.Parse(time.RFC3339, c.send("GET", "/dev/clock", 200, nil)["now"].(string))
	require.NoError(c.t, err)
	return now
}
