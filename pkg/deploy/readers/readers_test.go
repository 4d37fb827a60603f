package readers_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/entity"
	"nexus/pkg/entity/device"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// readersOf returns the readers whose mappings pass the record.
func readersOf(r change.Record) (names []string) {
	for _, line := range readers.Table(product.Registry()) {
		if line.Filter.Match(r) {
			names = append(names, line.Name)
		}
	}
	return names
}

func TestTable_givesHeadsToProjectionsAlone(t *testing.T) {
	t.Parallel()
	revision := repository.NewRevisionID(time.Unix(0, 0), "0b0f5a52-7b0e-4c6e-9d3e-2f2f0c1f3a11")
	for _, at := range []repository.Address{{User: "ann"}, {User: "ann", Date: "2026-03-01"}} {
		for _, name := range []change.EventName{change.Insert, change.Modify} {
			head := change.Record{Name: name, Key: at.HeadKey(), New: at.HeadKey().Item()}
			require.Equal(t, []string{"projections"}, readersOf(head), "a consumer of effects takes a row for a timer")
			log := change.Record{Name: name, Key: at.LogKey(revision), New: at.LogKey(revision).Item()}
			require.Empty(t, readersOf(log))
		}
	}
}

func TestTable_givesSettingsToBothAndTheirStatisticsToNeither(t *testing.T) {
	t.Parallel()
	key := entity.MetaKey("ann")
	settings := change.Record{Name: change.Modify, Key: key, New: key.Item()}
	require.Equal(t, []string{"projections", "effects"}, readersOf(settings))
	counted := settings.New.Clone()
	counted[product.AttrStatsWritten] = item.Bool(true)
	require.Empty(t, readersOf(change.Record{Name: change.Modify, Key: key, New: counted}))
	removed := change.Record{Name: change.Remove, Key: key, Old: counted}
	require.Equal(t, []string{"projections", "effects"}, readersOf(removed))
}

func TestTable_givesNobodyTheRowsForDevices(t *testing.T) {
	t.Parallel()
	for _, key := range []item.Key{
		device.ChangeKey("ann", 1), device.WatchKey("ann"), outbox.LaneKey("ann", "whk_1"),
		outbox.MessageKey("ann", outbox.ID{Hook: "whk_1", Message: "msg_1"}),
		outbox.OutKey("ann", outbox.ID{Hook: "whk_1", Message: "msg_1"}),
	} {
		for _, expired := range []bool{false, true} {
			r := change.Record{Name: change.Remove, Key: key, Old: key.Item(), Expired: expired}
			require.Empty(t, readersOf(r))
		}
	}
}

func TestTable_hasMappingsThatLambdaAccepts(t *testing.T) {
	t.Parallel()
	consumers := []string{}
	for _, line := range readers.Table(product.Registry(), "own") {
		require.NoError(t, line.Validate())
		require.LessOrEqual(t, len(line.Filter), 5, "the quota of an account")
		consumers = append(consumers, line.Consumers...)
	}
	require.Equal(t, []string{
		"stats", "links", "changes", "insights", "own", "reminders", "archive", "webhooks",
	}, consumers)
	slices.Sort(consumers)
	require.Len(t, slices.Compact(consumers), 8)
}

func TestTable_passesTheTimersThatAReplicaRemoves(t *testing.T) {
	t.Parallel()
	key := entity.TimerKey("ann", "task_1", 1)
	removal := change.Record{Name: change.Remove, Key: key, Old: key.Item()}
	for _, line := range readers.Table(product.Registry()) {
		require.Equal(t, line.Name == "effects", line.Filter.Match(removal), line.Name)
		for _, pattern := range line.Filter.JSON() {
			require.NotContains(t, pattern, "userIdentity", "removals by a replica have none")
		}
	}
}
