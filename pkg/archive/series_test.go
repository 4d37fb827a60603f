package archive_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

func (w *fixture) do(c command.Command, expected item.Item) item.Item {
	req := command.Request{User: ann, Command: c}
	if expected != nil {
		version := expected.Int(entity.AttrVersion)
		req.ExpectedVersion = &version
	}
	result, err := w.commands.Do(w.ctx, req)
	require.NoError(w.t, err)
	return result.Item
}

// touchSeries makes a series, or cancels, changes or deletes one, or cancels, changes or takes back one of its
// occurrences.
func (w *fixture) touchSeries() {
	var masters []item.Item
	require.NoError(w.t, w.store.Walk(w.ctx, 0, 1, func(row item.Item) error {
		if row.Str(entity.AttrType) == entity.TypeMaster {
			masters = append(masters, row)
		}
		return nil
	}))
	if len(masters) == 0 {
		w.do(command.CreateSeries{
			Fields: map[string]any{"title": "s", "startUtc": "2025-06-10T00:00:00", "rrule": "FREQ=DAILY;COUNT=30"}}, nil)
		return
	}
	m := masters[w.random.IntN(len(masters))]
	id, date := m.Str(product.AttrMasterID), fmt.Sprintf("202506%02d", 10+w.random.IntN(3))
	exception := w.get(entity.ItemKey(ann, entity.Ref{Type: entity.TypeInstance, ID: entity.InstanceID(id, date)}))
	if !exception.Has(product.AttrModifiedFields) {
		sum := exception.Int(entity.AttrVersion) + m.Int(entity.AttrVersion)
		exception = item.Item{entity.AttrVersion: item.Int(sum)}
	}
	switch w.random.IntN(7) {
	case 0:
		w.do(command.DeleteSeries{ID: id}, m)
	case 1, 2:
		status := []string{"CONFIRMED", "CANCELLED", "CANCELLED"}[w.random.IntN(3)]
		w.do(command.UpdateSeries{ID: id, Patch: map[string]any{"status": status}}, m)
	case 3:
		w.do(command.PutInstance{MasterID: id, Date: date, Fields: map[string]any{}}, exception)
	case 4:
		w.do(command.PutInstance{MasterID: id, Date: date, Fields: map[string]any{"title": fmt.Sprint(w.random.IntN(100))}},
			exception)
	default:
		w.do(command.CancelInstance{MasterID: id, Date: date}, exception)
	}
}

// checkSeriesStay: no series and no exception was ever given an end or a copy, whatever state it was in.
func (w *fixture) checkSeriesStay() {
	w.drain()
	for _, c := range w.records {
		if c.Type != nil && c.Type.OwnCommands {
			require.False(w.t, c.New.Has(entity.AttrTTL), "%v", c.New)
			require.NotEqual(w.t, change.Expired, c.Kind, "%v", c.Old)
		}
	}
	names, err := w.copies.List(w.ctx, "archive/", 1000, "")
	require.NoError(w.t, err)
	for _, name := range names {
		require.False(w.t, strings.Contains(name, "/mst_") || strings.Contains(name, "/inst_"), name)
	}
}

func TestConsumer_keepsACancelledSeriesAndOccurrenceForGood(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	m := w.do(command.CreateSeries{
		Fields: map[string]any{"title": "s", "startUtc": "2025-06-10T00:00:00", "rrule": "FREQ=DAILY"}}, nil)
	id := m.Str(product.AttrMasterID)
	w.do(command.CancelInstance{MasterID: id, Date: "20250611"}, m)
	m = w.do(command.UpdateSeries{ID: id, Patch: map[string]any{"status": "CANCELLED"}}, m)
	w.deliverAll()
	before := len(w.records)
	for range 3 {
		w.advance(366 * 24 * time.Hour)
		w.open = append(w.open, w.records...) // and everything again
		w.deliverAll()
	}
	require.Len(t, w.records, before, "they are not written")
	require.NotNil(t, w.get(m.Key()))
	require.NotNil(t, w.get(entity.ItemKey(ann, entity.Ref{
		Type: entity.TypeInstance, ID: entity.InstanceID(id, "20250611"),
	})))
	w.checkSeriesStay()
}
