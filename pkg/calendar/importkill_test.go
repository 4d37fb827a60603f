package calendar_test

import (
	"encoding/json"
	"testing"
	"time"

	"nexus/pkg/command"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// A program dies after any of an import's calls. Its client repeats the request at once: the repetition goes on,
// nothing is there twice, and its answer is remembered.
func TestImporter_goesOnWithTheRepetitionAfterACrash(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("kills an import at each of its calls")
	}
	whole := setupFaulty(t)
	whole.imports(ann, crowd())
	for n := 0; ; n++ {
		b := setupFaulty(t)
		calls := 0
		b.fault = func(c memory.Call) error {
			if c.Stage == memory.After {
				if calls++; calls > n {
					return table.ErrUnavailable // for good, also for what would give the key free
				}
			}
			return nil
		}
		_, _, err := b.importer.Import(t.Context(), ann, crowd(), "k")
		b.fault = nil
		if err == nil {
			b.Greater(n, 5)
			return
		}
		began := b.clock()
		first, replayed, err := b.importer.Import(t.Context(), ann, crowd(), "k")
		b.NoError(err, "dead after call %d", n)
		b.LessOrEqual(b.clock().Sub(began), 6*time.Second)
		var r report
		if !replayed {
			b.NoError(json.Unmarshal(first, &r))
			b.Empty(r.Refused)
			b.Equal(101, r.Created+r.Unchanged+r.Updated)
		}
		b.Len(b.rows(), len(whole.rows())+1, "the receipt beside them")
		again, replayed, err := b.importer.Import(t.Context(), ann, crowd(), "k")
		b.NoError(err)
		b.True(replayed)
		b.Equal(string(first), string(again))
	}
}

// The import that was taken for dead was only slow. Both end, and everything is there once.
func TestImporter_endsOnceBesideASlowImportTakenForDead(t *testing.T) {
	t.Parallel()
	whole := setupFaulty(t)
	whole.imports(ann, crowd())
	b := setupFaulty(t)
	once := false
	b.fault = func(c memory.Call) error {
		if c.Op == "Transact" && c.Stage == memory.Before && !once {
			once = true
			b.advance(time.Minute)
			_, replayed, err := b.importer.Import(t.Context(), ann, crowd(), "k")
			b.NoError(err)
			b.False(replayed)
		}
		return nil
	}
	_, _, err := b.importer.Import(t.Context(), ann, crowd(), "k")
	b.ErrorIs(err, command.ErrInProgress, "another has taken over")
	b.True(once)
	b.Len(b.rows(), len(whole.rows())+1)
	_, replayed, err := b.importer.Import(t.Context(), ann, crowd(), "k")
	b.NoError(err)
	b.True(replayed)
}
