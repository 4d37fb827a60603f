package replay_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/product"
	"nexus/pkg/replay"
)

const (
	historyUsers = 12
	// horizon is when events begin: after everything that happens here.
	horizon = 400 * 24 * time.Hour
)

// history is random users at work on a system, and the records that consumers get to see of it.
type history struct {
	t        *testing.T
	luck     *rand.Rand
	system   *replay.System
	commands *command.Service
	ids      int
	items    []*written // alive
	feed     map[string]string
	shards   map[string][]json.RawMessage // records not yet handed out, by shard
	names    []string                     // of shards, in the order of their first record

	lastEvent, lastDone map[string]time.Time // by user: the latest ever
}

// written is an item as its user knows it.
type written struct {
	user, id string
	typ      *entity.Type
	version  int64
}

func newHistory(t *testing.T, seed uint64, shards int) *history {
	h := &history{
		t: t, luck: rand.New(rand.NewPCG(seed, 0)), feed: map[string]string{}, shards: map[string][]json.RawMessage{},
		lastEvent: map[string]time.Time{}, lastDone: map[string]time.Time{},
		system: replay.NewSystem(replay.Config{Registry: product.Registry(), Begin: noon, Shards: shards}),
	}
	h.commands = command.New(command.Config{Store: h.system.Store, Registry: product.Registry(), Now: h.system.Now,
		Pause: func(context.Context, time.Duration) error { return nil }, NewID: func() string {
			h.ids++
			return uuidOf(h.ids)
		}})
	return h
}

func document(t *testing.T, text string) map[string]any {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	out := map[string]any{}
	require.NoError(t, d.Decode(&out), text)
	return out
}

// write makes one change.
func (h *history) write() {
	h.system.MoveTo(h.system.Now().Add(time.Duration(1+h.luck.IntN(20)) * time.Second))
	r := command.Request{User: fmt.Sprint("user", h.luck.IntN(historyUsers))}
	var it *written
	n := h.luck.IntN(len(h.items) + 1)
	switch {
	case n == len(h.items) || h.luck.IntN(3) == 0:
		it = &written{
			user: r.User,
			typ:  []*entity.Type{product.Event(), product.Task(), product.Note(), product.Reminder()}[h.luck.IntN(4)],
		}
		r.Command = command.Create{Type: it.typ, Fields: document(h.t, h.fields(it))}
	case h.luck.IntN(4) == 0:
		it = h.items[n]
		r.User, r.ExpectedVersion, r.Command = it.user, &it.version, command.Delete{Type: it.typ, ID: it.id}
	default:
		it = h.items[n]
		r.User, r.ExpectedVersion = it.user, &it.version
		r.Command = command.Update{Type: it.typ, ID: it.id, Patch: document(h.t, h.patch(it))}
	}
	result, err := h.commands.Do(h.t.Context(), r)
	require.NoError(h.t, err, "%+v", r)
	if _, deleted := r.Command.(command.Delete); deleted {
		h.items[n] = h.items[len(h.items)-1]
		h.items = h.items[:len(h.items)-1]
		return
	}
	if it.id == "" {
		it.id = result.Item.Str(it.typ.IDAttr)
		h.items = append(h.items, it)
		if it.typ.Name == product.TypeEvent {
			h.lastEvent[it.user] = h.system.Now()
		}
	}
	it.version = result.Item.Int(entity.AttrVersion)
	if at, done := result.Item.Time(product.AttrCompletedAt); done && it.typ.Name == product.TypeTask &&
		at.After(h.lastDone[it.user]) {
		h.lastDone[it.user] = at
	}
}

func (h *history) fields(it *written) string {
	at := noon.Add(horizon + time.Duration(h.luck.IntN(1000))*time.Hour).Format(time.RFC3339)
	common := `"title":"t"` + h.links(it)
	switch it.typ.Name {
	case product.TypeEvent:
		return fmt.Sprintf(`{%s,"startUtc":%q,"startTzid":"UTC","reminderMinutes":[30]}`, common, at)
	case product.TypeReminder:
		return fmt.Sprintf(`{%s,"triggerUtc":%q,"tzid":"UTC"}`, common, at)
	case product.TypeNote:
		return "{" + common + `,"body":"b"}`
	}
	return "{" + common + "}"
}

// links are up to three of the user's items.
func (h *history) links(it *written) string {
	var out []string
	for range h.luck.IntN(4) {
		if len(h.items) == 0 {
			break
		}
		to := h.items[h.luck.IntN(len(h.items))]
		one := fmt.Sprintf(`{"targetType":%q,"targetId":%q}`, to.typ.Name, to.id)
		if to.user == it.user && to.id != it.id && !strings.Contains(strings.Join(out, ""), to.id) {
			out = append(out, one)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return `,"links":[` + strings.Join(out, ",") + "]"
}

func (h *history) patch(it *written) string {
	if h.luck.IntN(3) == 0 {
		return `{"title":"u"` + h.links(it) + `}`
	}
	switch it.typ.Name {
	case product.TypeEvent:
		return `{"status":"` + []string{"CONFIRMED", "CANCELLED"}[h.luck.IntN(2)] + `"}`
	case product.TypeTask:
		return `{"status":"` + []string{"BACKLOG", "IN_PROGRESS", "COMPLETED"}[h.luck.IntN(3)] + `"}`
	case product.TypeNote:
		return `{"isPinned":true,"links":null}`
	}
	return `{"notes":"n"}`
}

// read takes in what was written to the stream and returns how much of it reaches consumers.
func (h *history) read() int {
	shards, err := h.system.Store.Feed().Shards(h.t.Context())
	require.NoError(h.t, err)
	n := 0
	for _, shard := range shards {
		for {
			slice, err := h.system.Store.Feed().Read(h.t.Context(), shard.ID, h.feed[shard.ID], 1000)
			require.NoError(h.t, err)
			if len(slice.Records) == 0 {
				break
			}
			for _, r := range slice.Records {
				h.feed[shard.ID] = r.Sequence
				if !passes(r) {
					continue
				}
				if len(h.shards[shard.ID]) == 0 {
					h.names = append(h.names, shard.ID)
				}
				h.shards[shard.ID] = append(h.shards[shard.ID], change.AppendRecord(nil, r))
				n++
			}
		}
	}
	return n
}

// next hands out the next records of one of the shards, whichever: only an item's are in order. Nil when all are out.
func (h *history) next() []json.RawMessage {
	if len(h.names) == 0 {
		return nil
	}
	i := h.luck.IntN(len(h.names))
	name := h.names[i]
	some := h.shards[name][:min(1+h.luck.IntN(50), len(h.shards[name]))]
	if h.shards[name] = h.shards[name][len(some):]; len(h.shards[name]) == 0 {
		h.names = append(h.names[:i], h.names[i+1:]...)
	}
	return some
}

// feedTo brings records to consumers, all of which finish them.
func (h *history) feedTo(feeder replay.Feeder, records []json.RawMessage) {
	reports, err := feeder.Feed(h.t.Context(), records)
	require.NoError(h.t, err)
	for _, r := range reports {
		require.Empty(h.t, r.Troubles)
	}
}
