package calendar_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/ical"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/series"
	"nexus/pkg/wallclock"
)

func corpora(t testing.TB) string {
	root := os.Getenv("NEXUS_CORPORA")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "corpora")
	}
	return filepath.Join(root, "ics")
}

// files returns other projects' calendar files; it skips the test where they are absent.
func files(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(corpora(t), "*.ics"))
	require.NoError(t, err)
	if len(names) == 0 {
		t.Skip("no calendar files at " + corpora(t))
	}
	all := map[string][]byte{}
	for _, name := range names {
		all[filepath.Base(name)], err = os.ReadFile(name)
		require.NoError(t, err)
	}
	return all
}

// shown is one occurrence as a user sees it.
type shown struct {
	kind, title, status string
	start, end          time.Time
}

// expand returns what a user has between two instants, seen in a zone, without ids.
func (b *fixture) expand(user string, zone *time.Location, from, to time.Time) []shown {
	b.t.Helper()
	var out []shown
	add := func(it item.Item, start, end time.Time) {
		if start.Before(to) && (!start.Before(from) || end.After(from)) {
			status := it.Str(entity.AttrStatus)
			if status == product.StatusArchived && it.Has(product.AttrCompletedAt) {
				status = product.StatusCompleted // which it stays for others (docs/icalendar.md)
			}
			out = append(out, shown{it.Str(entity.AttrType), it.Str(entity.AttrTitle), status, start, end})
		}
	}
	var rows []item.Item
	b.NoError(b.store.Walk(b.t.Context(), 0, 1, func(it item.Item) error {
		if it.Str(item.AttrPK) == entity.UserPK(user) {
			rows = append(rows, it)
		}
		return nil
	}))
	for _, it := range rows {
		switch it.Str(entity.AttrType) {
		case entity.TypeMaster:
			s, err := series.New(it, zone, rows...)
			b.NoError(err)
			for _, o := range s.Overlapping(from, to) {
				add(s.Item(o), o.Start, o.End)
			}
		case product.TypeEvent, product.TypeTask, product.TypeReminder:
			t := product.Registry().ByName(it.Str(entity.AttrType))
			for _, span := range t.ShownIn(it) {
				if span.Floating {
					span.Start, span.End = item.Resolve(span.Start, zone), item.Resolve(span.End, zone)
				}
				add(it, span.Start, span.End)
			}
		}
	}
	return out
}

func TestImporter_bringsFilesOfOtherProgramsThroughImportAndExport(t *testing.T) {
	t.Parallel()
	for name, content := range files(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			first := b.imports(ann, content)
			before := b.rows()
			b.advance(time.Hour)

			isEmpty := !bytes.Contains(content, []byte("BEGIN:VEVENT")) && !bytes.Contains(content, []byte("BEGIN:VTODO"))
			b.Equal(isEmpty, first.Created+len(first.Refused) == 0)

			again := b.imports(ann, content)
			b.Zero(again.Created+again.Updated, "%+v", again)
			b.Equal(first.Refused, again.Refused)
			b.Equal(before, b.rows(), "a second import changes nothing")

			exported := b.export(ann)
			back := b.imports(ann, exported.Text)
			b.Empty(back.Refused)
			b.Zero(back.Created + back.Updated)
			b.Equal(before, b.rows(), "nor does what was exported")

			document, err := ical.Decode(exported.Text, ical.RequestLimits())
			b.NoError(err)
			for _, x := range ical.Map(product.Registry(), document).LeftOut {
				b.Contains(x.Reason, "is kept and does not remind here", "of what is written all else is taken")
			}
			b.imports(bob, exported.Text)
			zone, err := wallclock.LoadLocation("America/New_York")
			b.NoError(err)
			for _, year := range []int{1990, 2000, 2010, 2018, 2028} {
				from := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
				b.ElementsMatch(b.expand(ann, zone, from, from.AddDate(10, 0, 0)),
					b.expand(bob, zone, from, from.AddDate(10, 0, 0)))
			}
		})
	}
}
