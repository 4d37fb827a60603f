package command_test

import (
	"testing"

	guid "github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
)

func TestPutInstance_boundsRowsToFiveThousandDates(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id, _ := b.takes(command.Created, daily("a", ""))
	b.except(id, "20251202", `{"title":"x"}`)
	b.except(id, "20251202", `{}`)
	undone := b.instance(id, "20251202")
	var rows []item.Item
	for i := range 4999 {
		date := item.CompactDate(noon.AddDate(0, 0, i+2))
		row := undone.Clone()
		key := entity.ItemKey(ann, entity.Ref{Type: entity.TypeInstance, ID: entity.InstanceID(id, date)})
		row["PK"], row["SK"], row["eventId"] = item.String(key.PK), item.String(key.SK),
			item.String(entity.InstanceID(id, date))
		rows = append(rows, row)
	}
	require.NoError(t, b.store.Load(t.Context(), rows))
	_, err := b.do(command.CancelInstance{MasterID: id, Date: item.CompactDate(noon.AddDate(0, 0, 6000))}, at(1))
	requireState(t, err, "5000")
	imported := b.imports(daily("a", "", differing(day(6000), `{"title":"x"}`), differing(day(3), `{"title":"x"}`)))[0]
	require.ErrorIs(t, imported.Exceptions[0].Err, command.ErrManyDates)
	require.Equal(t, command.Updated, imported.Exceptions[1].Outcome, "its date has a row")
	b.must(command.CancelInstance{MasterID: id, Date: "20251203"}, at(3+1))
}

func TestSplitSeries_refusesASeriesThatIsAlreadyThere(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY"`)
	follower := "mst_" + guid.NewSHA1(guid.NameSpaceOID, []byte(id+" 1 20251215")).String()
	b.newSeries(`"rrule":"FREQ=DAILY","masterId":"` + follower + `"`)
	_, err := b.do(command.SplitSeries{ID: id, Date: "20251215"}, at(1))
	requireState(t, err, "exists already")
	require.Equal(t, int64(1), b.master(id).Int("version"))
}
