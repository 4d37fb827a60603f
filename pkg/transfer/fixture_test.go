package transfer_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"nexus/pkg/archive"
	"nexus/pkg/blob"
	blobmemory "nexus/pkg/blob/memory"
	"nexus/pkg/calendar"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/transfer"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// fixture is a deployment without consumers.
type fixture struct {
	*testing.T
	now      time.Time
	rows     *memory.Store
	store    table.Store // over rows
	copies   blob.Store
	registry *entity.Registry
	commands *command.Service
	archive  *archive.Archive
	values   *values.Service
	plans    *plan.Service
	*transfer.Service
}

// newFixture returns one whose store notices who changes what was only read.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := newPlainFixture(t, memory.Options{Witnessed: true})
	t.Cleanup(func() { require.Empty(t, f.rows.Tampered()) })
	return f
}

func newPlainFixture(t *testing.T, o memory.Options) *fixture {
	t.Helper()
	f := &fixture{T: t, now: noon, registry: product.Registry(), copies: blobmemory.New(nil)}
	f.rows = memory.New(f.clock, o)
	f.on(f.rows)
	return f
}

func (f *fixture) clock() time.Time { return f.now }

func noPause(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// on puts the services on a store.
func (f *fixture) on(store table.Store) {
	f.store = store
	f.commands = command.New(command.Config{
		Store: store, Registry: f.registry, Now: f.clock, NewID: uuid.NewString, Pause: noPause,
	})
	f.archive = archive.New(archive.Config{Store: store, Registry: f.registry, Copies: f.copies, Now: f.clock})
	publisher := revision.NewPublisher(revision.Config{Store: store, Now: f.clock, NewID: uuid.NewString})
	f.values = values.New(publisher, uuid.NewString)
	f.plans = plan.New(publisher, f.values, f.clock, uuid.NewString)
	f.Service = transfer.New(transfer.Config{
		Store: store, Registry: f.registry, Now: f.clock, Archive: f.archive, Values: f.values, Plans: f.plans,
		Calendar: calendar.New(calendar.Config{
			Store: store, Registry: f.registry, Now: f.clock, Random: rand.NewChaCha8([32]byte{}),
		}),
		Pause: noPause,
	})
}

func (f *fixture) do(user string, version int64, cmd command.Command) command.Result {
	f.Helper()
	r := command.Request{User: user, Command: cmd}
	if version >= 0 {
		r.ExpectedVersion = &version
	}
	res, err := f.commands.Do(f.Context(), r)
	require.NoError(f, err)
	return res
}

type fields = map[string]any

const calendarText = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//EN\r\nBEGIN:VEVENT\r\nUID:a@b.example\r\n" +
	"DTSTAMP:20260101T000000Z\r\nDTSTART:20260310T100000Z\r\nSUMMARY:Abroad\r\nX-MOOD:good\r\nEND:VEVENT\r\n" +
	"END:VCALENDAR\r\n"

// live gives a user something of everything.
func (f *fixture) live(user string) {
	f.Helper()
	f.do(user, 0, command.UpdateMe{Patch: fields{"defaultTzid": "Europe/Paris"}})
	task := f.do(user, -1, command.Create{Type: product.Task(), Fields: fields{
		"title": "Write <it> \"down\"", "tags": []any{"b", "a"},
	}})
	done := f.do(user, -1, command.Create{Type: product.Task(), Fields: fields{"title": "Done"}})
	f.do(user, 1, command.Update{Type: product.Task(), ID: done.Ref.ID, Patch: fields{"status": "COMPLETED"}})
	f.do(user, -1, command.Create{Type: product.Event(), Fields: fields{
		"title": "Meet", "startUtc": "2026-03-05T10:00:00", "reminderMinutes": []any{json.Number("30"), json.Number("5")},
	}})
	series := f.do(user, -1, command.CreateSeries{Fields: fields{
		"title": "Daily", "startUtc": "2026-03-01T08:00:00Z", "startTzid": "Europe/Paris", "rrule": "FREQ=DAILY;COUNT=20",
	}})
	f.do(user, 1, command.PutInstance{MasterID: series.Ref.ID, Date: "20260304", Fields: fields{"title": "Another"}})
	f.do(user, 1, command.CancelInstance{MasterID: series.Ref.ID, Date: "20260305"})
	f.do(user, 1, command.PutInstance{MasterID: series.Ref.ID, Date: "20260306", Fields: fields{"title": "No"}})
	f.do(user, 2, command.PutInstance{MasterID: series.Ref.ID, Date: "20260306", Fields: fields{}}) // undone
	f.do(user, -1, command.Create{Type: product.Reminder(), Fields: fields{
		"title": "Ring", "triggerUtc": "2026-03-03T07:00:00", "rrule": "FREQ=WEEKLY",
	}})
	f.do(user, -1, command.Create{Type: product.Note(), Fields: fields{
		"title": "Note", "body": "one\ntwo", "links": []any{fields{"targetType": "TASK", "targetId": task.Ref.ID}},
	}})
	gone := f.do(user, -1, command.Create{Type: product.Note(), Fields: fields{"title": "Gone"}})
	f.do(user, 1, command.Delete{Type: product.Note(), ID: gone.Ref.ID})
	f.importCalendar(user)
	f.archived(user, "task_0f8fad5b-d9cb-469f-a165-70867728950e")
	f.plan(user, f.grow(user))
}

func (f *fixture) importCalendar(user string) {
	f.Helper()
	report, _, err := calendar.NewImporter(f.commands, f.registry).Import(f.Context(), user, []byte(calendarText), "")
	require.NoError(f, err)
	require.Contains(f, string(report), `"created":1`)
}

// archived gives the user a task of which only the cold copy is left.
func (f *fixture) archived(user, id string) {
	f.Helper()
	before := product.Task().NewItem(user, id, item.Item{
		"title": item.String("Old"), "status": item.String("BACKLOG"), "priority": item.Int(2), "isAllDay": item.Bool(false),
	}, f.now.AddDate(0, -2, 0), nil)
	after := before.Clone()
	after["status"] = item.String("ARCHIVED")
	it := product.Task().NextVersion(entity.ByUser, user, before, after, f.now.AddDate(0, -1, 0), nil)
	cold, err := f.archive.Adopt(f.Context(), user, product.Task(), it)
	require.NoError(f, err)
	require.NoError(f, f.rows.Put(f.Context(), table.Put{Item: cold}))
}

func text(s string) *string { return &s }

// grow gives the user a tree with a history, and returns an action of it.
func (f *fixture) grow(user string) string {
	f.Helper()
	driver, action := "drv_"+uuid.NewString(), "act_"+uuid.NewString()
	ops := [][]values.Operation{
		{
			{Kind: values.OpCreate, NodeID: driver, NodeType: values.Driver, Title: text("Health")},
			{
				Kind: values.OpCreate, NodeID: action, NodeType: values.Action, Title: text("Run"), Notes: text("a\nb"),
				ParentID: driver,
			},
		},
		{{Kind: values.OpComplete, NodeID: action}},
		{{Kind: values.OpCreate, NodeType: values.Action, Title: text("Swim"), ParentID: driver}},
	}
	head, first := "", ""
	for _, o := range ops {
		made, err := f.values.Commit(f.Context(), user, values.Commit{
			ParentRevID: head, Message: "m", Source: values.SourceDailyUpdate, Operations: o,
		})
		require.NoError(f, err)
		if head = made.RevID; first == "" {
			first = head
		}
	}
	_, err := f.values.Rollback(f.Context(), user, head, first, "back", "")
	require.NoError(f, err)
	return action
}

func (f *fixture) plan(user, action string) {
	f.Helper()
	made, err := f.plans.Commit(f.Context(), user, "2026-03-02", plan.Commit{
		Reason: plan.ReasonMorningPlan, Plan: plan.Plan{
			Todos: []plan.Todo{{ActionID: action, Classification: plan.Urgent, EstimatedPomodoros: 2, Notes: "n"}},
			Blocks: []plan.Block{{
				BlockType: plan.Meeting, StartTimeIso: noon, EndTimeIso: noon.Add(time.Hour), Title: "Talk",
			}},
		},
	})
	require.NoError(f, err)
	_, err = f.plans.Rollover(f.Context(), user, "2026-03-02", "", 0)
	require.NoError(f, err)
	_, err = f.plans.Commit(f.Context(), user, "2026-03-02", plan.Commit{
		ParentRevID: made.RevID, Reason: plan.ReasonMiddayReplan,
	})
	require.NoError(f, err)
}

func (f *fixture) export(user string) []byte {
	f.Helper()
	var out bytes.Buffer
	_, err := f.Export(f.Context(), user, &out, blobmemory.New(nil), "p/", nil)
	require.NoError(f, err)
	return out.Bytes()
}

func (f *fixture) take(user string, file []byte) (transfer.Report, error) {
	return f.Import(f.Context(), user, bytes.NewReader(file), int64(len(file)), nil)
}

// unzip returns the content of each file.
func unzip(t *testing.T, file []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	out := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		require.NoError(t, err)
		content, err := io.ReadAll(r)
		require.NoError(t, err)
		out[f.Name] = string(content)
	}
	return out
}

// rezip makes a file whose manifest lists the content, as that of a forger does.
func rezip(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var m map[string]any
	require.NoError(t, json.Unmarshal([]byte(files["manifest.json"]), &m))
	var listed []any
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	put := func(name, content string) {
		w, err := z.Create(name)
		require.NoError(t, err)
		_, err = io.WriteString(w, content)
		require.NoError(t, err)
	}
	for name, content := range files {
		if name == "manifest.json" {
			continue
		}
		sum := sha256.Sum256([]byte(content))
		listed = append(listed, map[string]any{
			"name": name, "bytes": len(content), "lines": strings.Count(content, "\n"), "sha256": hex.EncodeToString(sum[:]),
		})
		put(name, content)
	}
	m["files"] = listed
	manifest, err := json.Marshal(m)
	require.NoError(t, err)
	put("manifest.json", string(manifest))
	require.NoError(t, z.Close())
	return out.Bytes()
}

// content returns the files but the instants of the manifest.
func content(t *testing.T, file []byte) map[string]string {
	t.Helper()
	files := unzip(t, file)
	var m transfer.Manifest
	require.NoError(t, json.Unmarshal([]byte(files["manifest.json"]), &m))
	m.From, m.To = "", ""
	files["manifest.json"] = fmt.Sprintf("%+v", m)
	return files
}

// dump returns all rows, a line each.
func (f *fixture) dump() []string {
	f.Helper()
	var lines []string
	require.NoError(f, f.rows.Walk(f.Context(), 0, 1, func(row item.Item) error {
		lines = append(lines, fmt.Sprintf("%s %v", row.Key(), row))
		return nil
	}))
	slices.Sort(lines)
	return lines
}

// growWide gives the user's tree so many more nodes.
func (f *fixture) growWide(user string, n int) {
	f.Helper()
	base, err := f.values.Open(f.Context(), user)
	require.NoError(f, err)
	var ops []values.Operation
	for i := range n {
		ops = append(ops, values.Operation{
			Kind: values.OpCreate, NodeType: values.Driver, Title: text(fmt.Sprint("Driver ", i)),
		})
	}
	_, err = f.values.Commit(f.Context(), user, values.Commit{
		ParentRevID: base.Head.RevID, Message: "m", Source: values.SourceDailyUpdate, Operations: ops,
	})
	require.NoError(f, err)
}
