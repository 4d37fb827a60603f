package command_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
	"nexus/pkg/series"
	"nexus/pkg/table"
	"nexus/pkg/text/fold"
)

func setupSeries(t *testing.T) *fixture { return setup(t, product.Master(), product.Instance()) }

// standup is a series on Mondays at nine in New York for half an hour, from 1 December 2025.
const standup = `"title":"standup","startUtc":"2025-12-01T14:00:00Z","endUtc":"2025-12-01T14:30:00Z",` +
	`"startTzid":"America/New_York"`

// newSeries makes a standup with more fields and returns its id.
func (b *fixture) newSeries(more string, options ...option) string {
	b.t.Helper()
	id := b.must(command.CreateSeries{Fields: doc(`{` + standup + `,` + more + `}`)}, options...).Ref.ID
	b.trips()
	return id
}

func (b *fixture) master(id string) item.Item {
	b.t.Helper()
	return b.row(entity.ItemKey(ann, entity.Ref{Type: entity.TypeMaster, ID: id}))
}

func (b *fixture) instance(masterID, date string) item.Item {
	b.t.Helper()
	return b.row(entity.ItemKey(ann, entity.Ref{Type: entity.TypeInstance, ID: entity.InstanceID(masterID, date)}))
}

// version is the one that a command about the occurrence needs.
func (b *fixture) version(masterID, date string) option {
	b.t.Helper()
	master, row := b.master(masterID), b.instance(masterID, date)
	if row.Has("modifiedFields") {
		return at(row.Int("version"))
	}
	return at(master.Int("version") + row.Int("version"))
}

// except makes an exception.
func (b *fixture) except(masterID, date, text string) item.Item {
	b.t.Helper()
	res := b.must(command.PutInstance{MasterID: masterID, Date: date, Fields: doc(text)}, b.version(masterID, date))
	b.trips()
	return res.Item
}

func (b *fixture) cancel(masterID, date string) item.Item {
	b.t.Helper()
	return b.must(command.CancelInstance{MasterID: masterID, Date: date}, b.version(masterID, date)).Item
}

// rowsOf are the rows of a series' instances.
func (b *fixture) rowsOf(masterID string) []item.Item {
	b.t.Helper()
	rows, err := allRows(b.store, table.Query{
		Partition: entity.UserPK(ann), Range: table.Range{Prefix: entity.InstancePrefix(masterID)},
	})
	require.NoError(b.t, err)
	b.trips()
	return rows
}

func allRows(store table.Reader, q table.Query) ([]item.Item, error) {
	var rows []item.Item
	for {
		page, err := store.Query(context.Background(), q)
		if err != nil {
			return nil, err
		}
		rows = append(rows, page.Items...)
		if q.Start = page.Next; len(q.Start) == 0 {
			return rows, nil
		}
	}
}

// shown is all that the user has of series: what reading each says, and the occurrences of more than a year.
func (b *fixture) shown() []string {
	b.t.Helper()
	fault := b.fault
	b.fault = nil
	defer func() { b.fault = fault }()
	masters, err := allRows(b.store, table.Query{
		Partition: entity.UserPK(ann), Range: table.Range{Prefix: entity.ItemPrefix(entity.TypeMaster)},
	})
	require.NoError(b.t, err)
	queries := query.New(query.Config{
		Store: b.store, Registry: product.Registry(), Now: func() time.Time { return b.now }, Fold: fold.String,
	})
	var out []string
	masterType, instanceType := product.Master(), product.Instance()
	for _, m := range masters {
		id := m.Str("masterId")
		for cursor := ""; ; {
			got, err := queries.Series(context.Background(), ann, id, cursor)
			require.NoError(b.t, err)
			for _, it := range got.Instances {
				out = append(out, fmt.Sprintf("exception %s: %s", it.Str("eventId"), visible(instanceType, it)))
			}
			if cursor = got.Next; cursor == "" {
				out = append(out, fmt.Sprintf("series %s: %s", id, visible(masterType, got.Master)))
				break
			}
		}
		s, err := series.New(m, time.UTC, b.rowsOf(id)...)
		require.NoError(b.t, err)
		for _, o := range s.Overlapping(noon.AddDate(0, -1, 0), noon.AddDate(0, 14, 0)) {
			out = append(out, fmt.Sprintf("%s %s to %s: %s", o.Date, item.FormatInstant(o.Start), item.FormatInstant(o.End),
				visible(instanceType, s.Item(o))))
		}
	}
	return out
}

// visible is an item as its user sees it, without what a mere repetition may change: when, and how often it was
// written.
func visible(t *entity.Type, it item.Item) string {
	seen := it.Clone()
	for _, name := range []string{"version", "createdAt", "updatedAt", "sequence", "hasExceptions"} {
		delete(seen, name)
	}
	return string(t.AppendJSON(nil, seen))
}

// idle returns the rows that have fields of their own and have no effect.
func (b *fixture) idle() []string {
	b.t.Helper()
	rows, err := allRows(b.store, table.Query{
		Partition: entity.UserPK(ann), Range: table.Range{Prefix: entity.ItemPrefix(entity.TypeInstance)},
	})
	require.NoError(b.t, err)
	var out []string
	masters := map[string]item.Item{}
	for _, row := range rows {
		id := row.Str("masterId")
		master, known := masters[id]
		if !known {
			master = b.master(id)
			masters[id] = master
		}
		if master == nil {
			out = append(out, "orphan "+row.Str("eventId"))
			continue
		}
		s, err := series.New(master, time.UTC, row)
		require.NoError(b.t, err)
		for _, it := range s.Idle() {
			out = append(out, "idle "+it.Str("eventId"))
		}
		if !row.Has("modifiedFields") {
			for _, name := range []string{
				"GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK", "GSI3PK", "GSI3SK", "links", "title", "status",
			} {
				require.False(b.t, row.Has(name), "an undone exception has %s", name)
			}
		}
	}
	b.trips()
	return out
}

// cutText takes a line of shown apart.
func cutText(line string) (head, text string, ok bool) { return strings.Cut(line, ": ") }
