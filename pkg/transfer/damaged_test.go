package transfer_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	blobmemory "nexus/pkg/blob/memory"
	"nexus/pkg/item"
	"nexus/pkg/table"
	"nexus/pkg/transfer"
)

// damage puts rows that no write makes, and changes one that there is of the first item with the prefix.
func (f *fixture) damage(user string) (ids []string) {
	f.Helper()
	const id = "1f8fad5b-d9cb-469f-a165-70867728950e"
	text := func(s string) item.Value { return item.String(s) }
	for _, row := range []item.Item{
		{"SK": text("TASK#task_" + id), "entityType": text("TASK"), "version": text("abc"), "title": text("poison")},
		{"SK": text("NOTE#note_" + id), "entityType": text("NOTE"), "noteId": text("note_x"), "version": item.Int(1)},
		{"SK": text("EVENT#evt_" + id), "entityType": text("EVENT"), "eventId": text("evt_" + id), "version": text("1")},
		{"SK": text("MASTER#mst_" + id), "entityType": text("MASTER"), "masterId": item.Int(7), "version": item.Int(1)},
		{
			"SK": text("INSTANCE#mst_" + id + "#20260304"), "entityType": text("INSTANCE"), "version": item.Int(1),
			"instanceId": text("inst_20260304_" + id), "masterId": text("mst_" + id),
		},
	} {
		row["PK"] = text("USER#" + user)
		require.NoError(f, f.store.Put(f.Context(), table.Put{Item: row}))
	}
	return []string{"evt_" + id, "inst_20260304_" + id, "mst_" + id, "note_" + id, "task_" + id}
}

// missing returns what the manifest of a file names as missing, by its id.
func missing(t *testing.T, file []byte) map[string]string {
	t.Helper()
	var m transfer.Manifest
	require.NoError(t, json.Unmarshal([]byte(unzip(t, file)["manifest.json"]), &m))
	out := map[string]string{}
	for _, one := range m.Missing {
		out[one.ID] = one.Why
	}
	return out
}

func TestService_namesDamagedRowsAndTakesTheRestAlong(t *testing.T) {
	t.Parallel()
	here, there := newFixture(t), newFixture(t)
	here.live("ann")
	want := unzip(t, here.export("ann"))
	ids := here.damage("ann")
	file := here.export("ann")
	named := missing(t, file)
	require.Len(t, named, len(ids))
	for _, id := range ids {
		require.Contains(t, named[id], "damaged", id)
	}
	got := unzip(t, file)
	for _, name := range []string{"manifest.json", "readable/calendar.ics"} { // a calendar shows what has a title
		delete(want, name)
		delete(got, name)
	}
	require.Equal(t, want, got)
	_, err := there.take("zoe", file)
	require.NoError(t, err)
}

// A note whose text is none has its line, and no file for readers.
func TestService_writesNoTextOfADamagedNote(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const id = "note_1f8fad5b-d9cb-469f-a165-70867728950e"
	require.NoError(t, f.store.Put(t.Context(), table.Put{Item: item.Item{
		"PK": item.String("USER#ann"), "SK": item.String("NOTE#" + id), "entityType": item.String("NOTE"),
		"noteId": item.String(id), "version": item.Int(1), "title": item.Int(5),
	}}))
	files := unzip(t, f.export("ann"))
	require.Contains(t, files["items/0001.ndjson"], `"title":5`)
	for name := range files {
		require.False(t, strings.HasPrefix(name, "readable/notes/"), name)
	}
}

func TestWorker_makesTheFileOfAnAccountWithDamagedRows(t *testing.T) {
	t.Parallel()
	f := newJobFixture(t)
	f.live("ann")
	ids := f.damage("ann")
	id := f.request("ann")
	require.NoError(t, f.newWorker().Run(t.Context()))
	require.Equal(t, transfer.Done, f.job("ann", id).State)
	require.Len(t, missing(t, f.file("ann", id)), len(ids))
}

// A fault that never ends fails a job a day after it was begun, however few workers have taken it up by then.
func TestWorker_failsAJobUnderAFaultThatNeverEnds(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]func(*jobFixture){
		"a part": func(f *jobFixture) {
			f.Archive.Copies = blobmemory.New(func(string, string, bool) error { return errBroken })
		},
		"joining": func(f *jobFixture) {
			f.objects = blobmemory.New(func(op, _ string, _ bool) error {
				if op == "write" {
					return errBroken
				}
				return nil
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newJobFixture(t)
			f.live("ann")
			broken(f)
			id := f.request("ann")
			for range 2 {
				require.ErrorIs(t, f.newWorker().Run(t.Context()), errBroken)
				require.Equal(t, transfer.Running, f.job("ann", id).State)
				f.now = f.now.Add(13 * time.Hour)
			}
			require.NoError(t, f.newWorker().Run(t.Context()))
			job := f.job("ann", id)
			require.Equal(t, transfer.Failed, job.State)
			require.Contains(t, job.Reason, "longer than a day")
			require.Empty(t, f.objectsOf("ann"))
			require.NotEmpty(t, f.request("ann"), "the user may ask again")
		})
	}
}

var errBroken = errors.Join(errors.New("broken"), table.ErrUnavailable)
