package tabletest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/archive"
	blobs "nexus/pkg/blob/memory"
	buslocal "nexus/pkg/bus/local"
	"nexus/pkg/change"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/links"
	"nexus/pkg/projection"
	"nexus/pkg/query"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule"
	schedulelocal "nexus/pkg/schedule/local"
	"nexus/pkg/stats"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/table/tabletest"
)

// system is everything that writes to the table, above a store that watches the law.
type system struct {
	t         *testing.T
	now       time.Time
	memory    *memory.Store
	law       *tabletest.Law
	registry  *entity.Registry
	commands  *command.Service
	queries   *query.Service
	archive   *archive.Archive
	consumers []change.Consumer
	schedules *schedulelocal.Scheduler
	read      string
}

func newSystem(t *testing.T, registry *entity.Registry) *system {
	s := &system{t: t, now: time.Date(2025, 6, 1, 8, 0, 0, 0, time.UTC), registry: registry}
	clock := func() time.Time { return s.now }
	s.memory = memory.New(clock, memory.Options{})
	s.law = tabletest.NewLaw(s.memory, registry)
	ids := 0
	s.commands = command.New(command.Config{Store: s.law, Registry: registry, Now: clock, NewID: func() string {
		ids++
		return fmt.Sprintf("00000000-0000-4000-8000-%012d", ids)
	}})
	s.queries = query.New(query.Config{Store: s.law, Registry: registry, Now: clock})
	events, err := buslocal.New(buslocal.Config{})
	require.NoError(t, err)
	var notifier *reminders.Notifier
	s.schedules, err = schedulelocal.New(schedulelocal.Config{Target: func(ctx context.Context, due schedule.Schedule) error {
		return notifier.Handle(ctx, due.Payload)
	}})
	require.NoError(t, err)
	remind := reminders.Config{Store: s.law, Registry: registry, Scheduler: s.schedules, Bus: events, Now: clock, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	notifier = reminders.NewNotifier(remind)
	keep := archive.Config{Store: s.law, Registry: registry, Copies: blobs.New(nil), Bus: events, Now: clock}
	s.archive = archive.New(keep)
	s.consumers = []change.Consumer{
		projection.NewConsumer(stats.Projection(), s.law, clock), projection.NewConsumer(links.Projection(), s.law, clock),
		reminders.New(remind), archive.NewConsumer(keep),
	}
	return s
}

// do carries out a command and lets every consumer see what it did.
func (s *system) do(c command.Command, expected ...entity.Item) entity.Item {
	request := command.Request{User: "ann", Command: c}
	if len(expected) > 0 {
		version := expected[0].Int(entity.AttrVersion)
		request.ExpectedVersion = &version
	}
	result, err := s.commands.Do(s.t.Context(), request)
	require.NoError(s.t, err, "%T", c)
	s.settle()
	return result.Item
}

func (s *system) settle() {
	for {
		shards, err := s.memory.Feed().Shards(s.t.Context())
		require.NoError(s.t, err)
		slice, err := s.memory.Feed().Read(s.t.Context(), shards[0].ID, s.read, 1000)
		require.NoError(s.t, err)
		if len(slice.Records) == 0 {
			return
		}
		for _, rec := range slice.Records {
			s.read = rec.Sequence
			c, err := change.Interpret(s.registry, rec)
			require.NoError(s.t, err)
			if c.Type == nil && !rec.Expired {
				continue
			}
			for _, consumer := range s.consumers {
				for _, o := range consumer.Apply(s.t.Context(), []change.Change{c}) {
					require.NoError(s.t, o.Err, consumer.Name())
				}
			}
		}
	}
}

func (s *system) advance(d time.Duration) {
	s.now = s.now.Add(d)
	_, err := s.schedules.Fire(s.t.Context(), s.now)
	require.NoError(s.t, err)
	s.memory.Sweep(s.now.Add(time.Second), 0)
	s.settle()
}

// TestEveryEntityAndEveryStoreCallKeepsTheLaw plays every command and every consumer's every transition.
func TestEveryEntityAndEveryStoreCallKeepsTheLaw(t *testing.T) {
	t.Parallel()
	s := newSystem(t, entity.Product())
	event, task, reminder, note := entity.Event(), entity.Task(), entity.Reminder(), entity.Note()

	n := s.do(command.Create{Type: note, Fields: map[string]any{"title": "plan", "isPinned": true, "tags": []any{"a"}}})
	s.do(command.Update{Type: note, ID: n.Str("noteId"), Patch: map[string]any{"status": "ARCHIVED", "tags": nil}}, n)
	e := s.do(command.Create{Type: event, Fields: map[string]any{"title": "fair", "startUtc": "2025-06-01T10:00:00", "endUtc": "2025-06-03T10:00:00", "reminderMinutes": []any{}}})
	e = s.do(command.Update{Type: event, ID: e.Str("eventId"), Patch: map[string]any{"isAllDay": true, "startUtc": nil, "endUtc": nil, "startDate": "2025-06-07"}}, e)
	s.do(command.AddLink{Type: event, ID: e.Str("eventId"), Target: note.Ref(n)})
	e = s.do(command.RemoveLink{Type: event, ID: e.Str("eventId"), Target: note.Ref(n)})
	s.do(command.Update{Type: event, ID: e.Str("eventId"), Patch: map[string]any{"status": "CANCELLED"}}, e)
	r := s.do(command.Create{Type: reminder, Fields: map[string]any{"title": "call", "triggerUtc": "2025-06-01T09:00:00"}})
	s.advance(time.Hour) // it fires
	r = s.do(command.SnoozeReminder{ID: r.Str("reminderId"), UntilUtc: "2025-06-01T10:00:00Z"})
	me, err := s.queries.Me(t.Context(), "ann")
	require.NoError(t, err)
	s.do(command.UpdateMe{Patch: map[string]any{"defaultTzid": "Europe/Paris", "preferences": map[string]any{"theme": nil, "weekStart": json.Number("0")}}}, me)
	s.advance(time.Hour) // the snooze ends
	s.do(command.CompleteReminder{ID: r.Str("reminderId")})
	k := s.do(command.Create{Type: task, Fields: map[string]any{"title": "write", "isAllDay": true, "dueDate": "2025-06-02"}})
	k = s.do(command.Update{Type: task, ID: k.Str("taskId"), Patch: map[string]any{"status": "COMPLETED"}}, k)
	s.advance(25 * time.Hour)     // archived
	s.advance(8 * 24 * time.Hour) // expired
	_, err = s.archive.Restore(t.Context(), task, "ann", k.Str("taskId"))
	require.NoError(t, err)
	s.settle()
	k, err = s.queries.Get(t.Context(), "ann", task, k.Str("taskId"))
	require.NoError(t, err)
	s.do(command.Delete{Type: task, ID: k.Str("taskId")}, k)
	s.do(command.DismissReminder{ID: s.do(command.Create{Type: reminder, Fields: map[string]any{"title": "x", "triggerUtc": "2026-01-01T00:00:00"}}).Str("reminderId")})
	for _, ask := range []func() error{
		func() error { _, err := s.queries.Board(t.Context(), "ann", 10); return err },
		func() error { _, err := s.queries.Stats(t.Context(), "ann"); return err },
		func() error { _, err := s.queries.Backlinks(t.Context(), "ann", note.Ref(n), 10, ""); return err },
		func() error {
			_, err := s.queries.Agenda(t.Context(), "ann", query.AgendaQuery{From: s.now, To: s.now.AddDate(0, 0, 7)})
			return err
		},
	} {
		require.NoError(t, ask())
	}

	require.Empty(t, s.law.Broken())
	require.Equal(t, []string{"EVENT", "NOTE", "REMINDER", "TASK", "USER_META"}, s.law.Written())
}

// TestAWrongEntityBreaksTheLawOnEachRule spoils a good row in one way at a time.
func TestAWrongEntityBreaksTheLawOnEachRule(t *testing.T) {
	t.Parallel()
	typ := entity.Task()
	good := typ.First("ann", "task_1", mustMerge(t, typ, map[string]any{"title": "x", "dueUtc": "2025-06-02T00:00:00"}), time.Unix(1750000000, 0), nil)
	require.Empty(t, tabletest.CheckRow(typ, good))
	for rule, spoil := range map[string]func(entity.Item){
		"USER#":               func(it entity.Item) { it["PK"] = entity.String("ann") },
		"upper case":          func(it entity.Item) { it["entityType"] = entity.String("task") },
		"want \"TASK#":        func(it entity.Item) { it["SK"] = entity.String("TASKS#task_1") },
		"want the prefix":     func(it entity.Item) { it["taskId"], it["SK"] = entity.String("note_1"), entity.String("TASK#note_1") },
		"is not camelCase":    func(it entity.Item) { it["Due_Utc"] = entity.String("x") },
		"empty and yet there": func(it entity.Item) { it["tags"] = entity.StringSet{} },
		"is not UPPERCASE":    func(it entity.Item) { it["status"] = entity.String("Backlog") },
		"version is":          func(it entity.Item) { it["version"] = entity.String("1") },
		"updatedAt is":        func(it entity.Item) { delete(it, "updatedAt") },
		"GSI1 keys":           func(it entity.Item) { it["GSI1PK"] = entity.String("USER#ann#2025-06") },
		"an instant of that":  func(it entity.Item) { it["GSI1SK"] = entity.String("2024-06-02T00:00:00Z") },
		"GSI3 keys":           func(it entity.Item) { it["GSI3PK"] = entity.String("USER#ann#STATUS#BACKLOG") },
		"TYPE#STATE":          func(it entity.Item) { it["GSI3SK"] = entity.String("P3#2025") },
		"must come together":  func(it entity.Item) { delete(it, "GSI1SK") },
		"GSI4 keys belong":    func(it entity.Item) { it["GSI4PK"] = entity.String("LINKED#TASK#task_2") },
		"/title is required":  func(it entity.Item) { delete(it, "title") },
	} {
		row := good.Clone()
		spoil(row)
		require.Contains(t, strings.Join(tabletest.CheckRow(typ, row), "\n"), rule)
	}
}

// TestAWrongCallBreaksTheLawOnEachRule makes the calls that no code of ours may make.
func TestAWrongCallBreaksTheLawOnEachRule(t *testing.T) {
	t.Parallel()
	typ := entity.Task()
	good := typ.First("ann", "task_1", mustMerge(t, typ, map[string]any{"title": "x"}), time.Unix(1750000000, 0), nil)
	next := typ.Next("ann", good, good, time.Unix(1750000001, 0), nil)
	jump := next.Clone()
	jump["version"] = entity.Int(9)
	meta := entity.NewUserMeta("ann", time.Unix(1750000000, 0))
	for rule, call := range map[string]func(table.Store) error{
		"another condition":   func(s table.Store) error { return s.Put(t.Context(), table.Put{Item: good}) },
		"deleted without":     func(s table.Store) error { return s.Delete(t.Context(), table.Delete{Key: good.Key()}) },
		"version = :expected": func(s table.Store) error { return s.Transact(t.Context(), table.Change(good, next, table.Exists())) },
		"adds 8 to version": func(s table.Store) error {
			_, err := s.Update(t.Context(), table.Change(good, jump, table.AtVersion(1)))
			return err
		},
		"title changes and": func(s table.Store) error {
			return update(t, s, good, entity.Item{"title": entity.String("y")}, table.AtVersion(1))
		},
		"condition on statsVersion": func(s table.Store) error {
			return update(t, s, meta, entity.Item{"statsVersion": entity.Int(1)}, table.Exists())
		},
		"change version or updatedAt": func(s table.Store) error {
			return update(t, s, meta, entity.Item{"statsVersion": entity.Int(1), "version": entity.Int(1)}, table.Exists(table.Missing("statsVersion")))
		},
		"without a condition": func(s table.Store) error { return s.Load(t.Context(), []entity.Item{good}) },
		"a scan":              func(s table.Store) error { _, err := s.Query(t.Context(), table.Query{}); return err },
		"known row": func(s table.Store) error {
			return s.Put(t.Context(), table.Put{Item: entity.Key{PK: entity.UserPK("ann"), SK: "HABIT#1"}.Item()})
		},
	} {
		store := memory.New(time.Now, memory.Options{})
		require.NoError(t, store.Load(t.Context(), []entity.Item{good, meta}))
		law := tabletest.NewLaw(store, entity.Product())
		_ = call(law) // some are refused by the store as well
		require.Contains(t, strings.Join(law.Broken(), "\n"), rule)
	}
}

func update(t *testing.T, s table.Store, row, set entity.Item, condition table.Condition) error {
	_, err := s.Update(t.Context(), table.Update{Key: row.Key(), Set: set, If: condition})
	return err
}

func mustMerge(t *testing.T, typ *entity.Type, doc map[string]any) entity.Item {
	patch, errs := typ.Parse(doc)
	require.Empty(t, errs)
	merged, errs := typ.Merge(nil, patch)
	require.Empty(t, errs)
	return merged
}
