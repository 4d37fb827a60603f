package verify_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/calendar"
	"nexus/pkg/change"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/entity/device"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/insights"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/reminders"
	"nexus/pkg/verify"
)

// releases holds the rows that each release wrote, in a folder of its own.
const releases = "../../testdata/rows"

var writeRows = flag.String("write-rows", "", "write the rows of this release into a new folder of testdata/rows")

// kinds are the rows of users that a release writes, by the prefixes of their sort keys.
var kinds = []string{
	entity.TypeUserMeta, product.TypeEvent, entity.TypeMaster, entity.TypeInstance, product.TypeTask, product.TypeReminder,
	product.TypeNote,
	entity.RowLink, entity.RowLedger, entity.RowTimer, entity.RowFired, entity.RowCold, entity.RowGone, entity.RowReceipt,
	entity.RowSum, entity.RowZone, entity.RowSeries, entity.RowFeed, entity.RowKept,
	device.RowChange,
}

// live has a user do and the consumers make everything of which there are rows.
func (w *fixture) live(user string) {
	w.t.Helper()
	of := w.populate(user)
	doomed := w.create(user, product.TypeEvent, map[string]any{
		"title": "x", "startUtc": "2026-03-09T09:00:00Z", "startTzid": "UTC",
	})
	version := int64(1)
	_, err := w.commands.Do(w.t.Context(), command.Request{
		User: user, IdempotencyKey: "once", ExpectedVersion: &version,
		Command: command.Delete{Type: product.Event(), ID: doomed.Str("eventId")},
	})
	require.NoError(w.t, err)
	w.do(user, command.UpdateSeries{ID: of["master"].Str("masterId"),
		Patch: map[string]any{"startUtc": "2026-03-02T11:00:00Z"}}, of["master"].Int("version"))
	require.True(w.t, w.drain())
	meta := int64(0)
	_, err = w.commands.Do(w.t.Context(), command.Request{
		User: user, ExpectedVersion: &meta, Command: command.UpdateMe{Patch: map[string]any{"defaultTzid": "Europe/Berlin"}},
	})
	require.NoError(w.t, err)
	ics := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:u1\r\nDTSTAMP:20260301T000000Z\r\n" +
		"DTSTART:20260310T100000Z\r\n" +
		"SUMMARY:i\r\nCONTACT:c\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
	_, _, err = calendar.NewImporter(w.commands, registry).Import(w.t.Context(), user, []byte(ics), "")
	require.NoError(w.t, err)
	addresses := calendar.New(calendar.Config{
		Store: w.store, Registry: registry, Now: func() time.Time { return w.now }, Random: bytes.NewReader(make([]byte, 64)),
	})
	_, _, err = addresses.MakeFeed(w.t.Context(), user, "")
	require.NoError(w.t, err)
	_, err = w.commit(user, "", 3)
	require.NoError(w.t, err)
	require.True(w.t, w.drain())
	w.now = time.Date(2026, time.March, 3, 8, 51, 0, 0, time.UTC)
	due, err := w.schedules.Find(w.t.Context(), reminders.ScheduleName(user, of["event"].Str("eventId"), 10))
	require.NoError(w.t, err)
	require.NoError(w.t, w.verifier.Notifier.Handle(w.t.Context(), due.Payload))
	require.True(w.t, w.drain())
}

// release holds the content of a folder of testdata/rows.
type release struct {
	At   time.Time         `json:"at"`
	Rows []json.RawMessage `json:"rows"`
}

// TestVerify_hasRowsOfEveryKindFromThisRelease writes them, if it is asked to.
func TestVerify_hasRowsOfEveryKindFromThisRelease(t *testing.T) {
	t.Parallel()
	w := newWorld(t, readings())
	w.live(ann)
	out, has := release{At: w.now}, map[string]bool{}
	require.NoError(t, w.store.Walk(t.Context(), 0, 1, func(row item.Item) error {
		if key, err := entity.ParseSortKey(row.Key().SK); err == nil {
			has[key.Prefix] = true
		}
		out.Rows = append(out.Rows, change.AppendItem(nil, row))
		return nil
	}))
	for _, kind := range kinds {
		require.True(t, has[kind], "no %s", kind)
	}
	if *writeRows == "" {
		return
	}
	slices.SortFunc(out.Rows, func(a, b json.RawMessage) int { return bytes.Compare(a, b) })
	var lines bytes.Buffer
	fmt.Fprintf(&lines, "{\"at\":%q}\n", item.FormatInstant(out.At))
	for _, row := range out.Rows {
		lines.Write(append(row, '\n'))
	}
	folder := filepath.Join(releases, *writeRows)
	require.NoError(t, os.Mkdir(folder, 0o755), "a release's rows are never changed")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "rows.ndjson"), lines.Bytes(), 0o600))
}

// load makes a world of the rows of a release.
func load(t *testing.T, file string) *fixture {
	body, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := bytes.Split(bytes.TrimSpace(body), []byte("\n"))
	var head release
	require.NoError(t, json.Unmarshal(lines[0], &head))
	w := newWorld(t, readings())
	w.now, w.ids = head.At, 1000 // ids after those of the rows
	var rows []item.Item
	for _, line := range lines[1:] {
		row, err := change.ParseItem(line)
		require.NoError(t, err)
		rows = append(rows, row)
	}
	require.NoError(t, w.store.Load(t.Context(), rows))
	w.lose() // their records were processed by that release
	return w
}

func TestVerifier_readsRowsOfEveryRelease(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(releases, "*", "rows.ndjson"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			t.Parallel()
			w := load(t, file)
			// Schedules and copies are no rows, and earlier releases kept no change log and counted no completions: what of
			// them is missing here is put there first, and nothing else.
			found, _ := w.verify(verify.Options{Repair: true})
			for _, d := range found {
				if d.Kind == verify.Ledger && strings.Contains(d.Key, "/"+entity.LedgerPrefix(insights.Name)) {
					require.Equal(t, "no row", d.Is, "%+v", d)
					continue
				}
				require.Contains(t, []verify.Kind{verify.Schedule, verify.Archive, verify.Late, verify.Change}, d.Kind, "%+v", d)
				require.NotContains(t, d.Key, entity.RowCold+"#", "%+v", d)
			}
			w.writeOn(ann)
			found, _ = w.verify(verify.Options{})
			require.Empty(t, found)
			w.countsWhatIsThere(ann)
		})
	}
}

// countsWhatIsThere compares numbers and links with the items, without the package under test.
func (w *fixture) countsWhatIsThere(user string) {
	w.t.Helper()
	names := map[string]string{
		product.TypeEvent: product.StatTotalEvents, entity.TypeMaster: product.StatTotalEvents,
		product.TypeTask:     product.StatTotalTasks,
		product.TypeReminder: product.StatTotalReminders, product.TypeNote: product.StatTotalNotes,
	}
	counts, links := map[string]int64{}, 0
	for _, typ := range registry.Types() {
		if !typ.HasCollection() {
			continue
		}
		for _, it := range w.rows(user, entity.ItemPrefix(typ.Name)) {
			if name := names[typ.Name]; name != "" {
				counts[name]++
			}
			links += len(entity.LinksOf(it))
		}
	}
	stats := w.get(entity.MetaKey(user)).Map(product.AttrStats)
	for name, n := range counts {
		require.Equal(w.t, n, stats.Int(name), name)
	}
	require.Equal(w.t, counts[product.StatTotalNotes], w.get(entity.SumKey(user, "readings")).Map("sum").Int("notes"))
	require.Len(w.t, w.rows(user, entity.ItemPrefix(entity.RowLink)), links)
}

// writeOn changes and removes what is there.
func (w *fixture) writeOn(user string) {
	w.t.Helper()
	for _, typ := range registry.Types() {
		if !typ.HasCollection() || typ.OwnCommands {
			continue
		}
		for i, it := range w.rows(user, entity.ItemPrefix(typ.Name)) {
			if it.Has(entity.AttrTTL) {
				continue
			}
			ref := typ.Ref(it)
			w.do(user, command.Update{Type: typ, ID: ref.ID, Patch: map[string]any{"title": "another"}},
				it.Int(entity.AttrVersion))
			if i > 0 {
				w.do(user, command.Delete{Type: typ, ID: ref.ID}, it.Int(entity.AttrVersion)+1)
			}
		}
		w.create(user, typ.Name, fresh(typ))
	}
	for _, it := range w.rows(user, entity.ItemPrefix(entity.TypeMaster)) {
		w.do(user, command.UpdateSeries{ID: it.Str("masterId"), Patch: map[string]any{"title": "another"}},
			it.Int(entity.AttrVersion))
		w.do(user, command.PutInstance{MasterID: it.Str("masterId"), Date: "20260306", Fields: map[string]any{"title": "z"}},
			it.Int(entity.AttrVersion)+1)
	}
	require.True(w.t, w.drain())
}

func fresh(t *entity.Type) map[string]any {
	fields := map[string]any{"title": "fresh"}
	switch t.Name {
	case outbox.TypeWebhook:
		return map[string]any{"url": "https://hooks.example.com/", "types": []any{"*"}}
	case product.TypeEvent:
		fields["startUtc"], fields["startTzid"] = "2026-04-01T09:00:00Z", "UTC"
	case product.TypeReminder:
		fields["triggerUtc"] = "2026-04-01T09:00:00"
	case product.TypeNote:
		fields["body"] = "b"
	}
	return fields
}
