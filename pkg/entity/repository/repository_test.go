package repository_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
)

var noon = time.Date(2025, 12, 1, 12, 0, 0, 0, time.UTC)

const someUUID = "0f8fad5b-d9cb-469f-a165-70867728950e"

func TestAddress_hasTheDocumentedKeys(t *testing.T) {
	t.Parallel()
	values, plan := repository.Address{User: "ann"}, repository.Address{User: "ann", Date: "2026-01-23"}
	revID := repository.NewRevisionID(noon, someUUID)
	require.Equal(t, "rev_20251201T120000Z_0f8fad5bd9cb469fa16570867728950e", revID)
	require.NoError(t, entity.CheckID(repository.RevisionPrefix, revID))
	for want, key := range map[string]item.Key{
		"U#ann/HEAD#VALUES": values.HeadKey(),
		"U#ann/REV#VALUES#2025-12-01T12:00:00Z#" + revID:                       values.LogKey(revID),
		"U#ann/DRAFT#VALUES#" + revID:                                          values.DraftKey(revID),
		"U#ann#VALUES#" + revID + "/NODE#act_1":                                values.NodeKey(revID, "act_1"),
		"U#ann#VALUES#" + revID + "/EDGE#drv_1#0010#act_1":                     values.EdgeKey(revID, "drv_1", 10, "act_1"),
		"U#ann#PLAN#2026-01-23/HEAD":                                           plan.HeadKey(),
		"U#ann#PLAN#2026-01-23/REV#2025-12-01T12:00:00Z#" + revID:              plan.LogKey(revID),
		"U#ann/DRAFT#PLAN#2026-01-23#" + revID:                                 plan.DraftKey(revID),
		"U#ann/PLAN#2026-01-23":                                                plan.DayKey(),
		"U#ann#PLAN#2026-01-23#" + revID + "/TODO#0002#A#act_1":                plan.TodoKey(revID, 2, "act_1"),
		"U#ann#PLAN#2026-01-23#" + revID + "/BLOCK#2025-12-01T12:00:00Z#blk_1": plan.BlockKey(revID, noon, "blk_1"),
	} {
		require.Equal(t, want, key.String())
	}
	from, to := values.LogUntil(noon)
	require.LessOrEqual(t, from, values.LogKey(revID).SK)
	require.Less(t, values.LogKey(revID).SK, to)
	require.Greater(t, values.LogKey(repository.NewRevisionID(noon.Add(time.Second), someUUID)).SK, to)
}

func TestParseRow_isTheInverseOfBuildingAKey(t *testing.T) {
	t.Parallel()
	revID := repository.NewRevisionID(noon, someUUID)
	for _, at := range []repository.Address{{User: "ann"}, {User: "ann", Date: "2026-01-23"}} {
		for key, want := range map[item.Key]repository.Row{
			at.HeadKey():                      {Repository: at, Kind: repository.HeadRow},
			at.LogKey(revID):                  {Repository: at, Kind: repository.LogRow, RevisionID: revID},
			at.DraftKey(revID):                {Repository: at, Kind: repository.DraftRow, RevisionID: revID},
			at.NodeKey(revID, "act_1"):        {Repository: at, Kind: repository.SnapshotRow, RevisionID: revID},
			at.BlockKey(revID, noon, "blk_1"): {Repository: at, Kind: repository.SnapshotRow, RevisionID: revID},
		} {
			got, err := repository.ParseRow(key)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
	}
	plan := repository.Address{User: "ann", Date: "2026-01-23"}
	got, err := repository.ParseRow(plan.DayKey())
	require.NoError(t, err)
	require.Equal(t, repository.Row{Repository: plan, Kind: repository.DayRow}, got)
	for _, want := range []repository.SnapshotKey{
		repository.NodeRow{NodeID: "act_1"}, repository.EdgeRow{ParentID: "drv_1", Order: 9999, ChildID: "act_1"},
		repository.TodoRow{Order: 1, ActionID: "act_1"}, repository.BlockRow{Start: noon, BlockID: "blk_1"},
	} {
		got, err := repository.ParseSnapshotKey(snapshotSK(want, revID))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func snapshotSK(key repository.SnapshotKey, revID string) string {
	at := repository.Address{User: "ann"}
	switch key := key.(type) {
	case repository.NodeRow:
		return at.NodeKey(revID, key.NodeID).SK
	case repository.EdgeRow:
		return at.EdgeKey(revID, key.ParentID, key.Order, key.ChildID).SK
	case repository.TodoRow:
		return at.TodoKey(revID, key.Order, key.ActionID).SK
	case repository.BlockRow:
		return at.BlockKey(revID, key.Start, key.BlockID).SK
	}
	return ""
}

func TestParseRow_refusesWhatIsNoKey(t *testing.T) {
	t.Parallel()
	revID := repository.NewRevisionID(noon, someUUID)
	for _, key := range []item.Key{
		{PK: "USER#ann", SK: "HEAD#VALUES"}, {PK: "U#", SK: "HEAD#VALUES"}, {PK: "U#ann", SK: "HEAD"},
		{PK: "U#ann", SK: "REV#VALUES#" + revID},
		{PK: "U#ann", SK: "REV#VALUES#2025-12-01T12:00:01Z#" + revID}, {PK: "U#ann#PLAN#2026-02-30", SK: "HEAD"},
		{PK: "U#ann#PLAN#", SK: "HEAD"}, {PK: "U#ann", SK: "PLAN"}, {PK: "U#ann", SK: "PLAN#"},
		{PK: "U#ann", SK: "PLAN#2026-02-30"}, {PK: "U#ann", SK: "PLAN#2026-01-23#x"},
		{PK: "U#ann#VALUES#", SK: "NODE#act_1"}, {PK: "U#ann#VALUES#rev_1", SK: "NODE#act_1"},
		{PK: "U#ann", SK: "DRAFT#VALUES#"}, {PK: "U#ann", SK: "DRAFT#PLAN#" + revID},
		{PK: "U#ann#VALUES#" + revID + "#x", SK: "NODE#act_1"}, {},
	} {
		_, err := repository.ParseRow(key)
		require.Error(t, err, key)
	}
	for _, sk := range []string{
		"", "NODE", "NODE#", "NODE#a#b", "EDGE#a#1#b", "EDGE#a#0000#b", "EDGE#a#00a1#b", "TODO#0001#B#a",
		"BLOCK#noon#b", "LINK#a",
	} {
		_, err := repository.ParseSnapshotKey(sk)
		require.Error(t, err, sk)
	}
	for _, id := range []string{
		"", "rev_1", "rev_20251301T120000Z_0f8fad5bd9cb469fa16570867728950e",
		"rev_20251201T120000Z_0F8FAD5BD9CB469FA16570867728950E", "rev_20251201T120000Z_0f8f",
	} {
		require.ErrorIs(t, repository.CheckRevisionID(id), entity.ErrID, id)
	}
}

func TestFormatOrder_sortsAsItCounts(t *testing.T) {
	t.Parallel()
	at, revID := repository.Address{User: "ann"}, repository.NewRevisionID(noon, someUUID)
	require.Less(t, at.EdgeKey(revID, "drv_1", 2, "act_9").SK, at.EdgeKey(revID, "drv_1", 10, "act_1").SK)
	require.Panics(t, func() { at.EdgeKey(revID, "drv_1", 0, "act_1") })
	require.Panics(t, func() { at.EdgeKey(revID, "drv_1", repository.MaxOrder+1, "act_1") })
}

func FuzzARepositorysKeyIsReadOrRefused(f *testing.F) {
	revID := repository.NewRevisionID(noon, someUUID)
	for _, at := range []repository.Address{{User: "ann"}, {User: "ann", Date: "2026-01-23"}} {
		for _, key := range []item.Key{at.HeadKey(), at.LogKey(revID), at.DraftKey(revID), at.NodeKey(revID, "act_1")} {
			f.Add(key.PK, key.SK)
		}
	}
	f.Add("U#ann", "PLAN#2026-01-23")
	f.Fuzz(func(t *testing.T, pk, sk string) {
		_, _ = repository.ParseSnapshotKey(sk)
		key := item.Key{PK: pk, SK: sk}
		row, err := repository.ParseRow(key)
		if err != nil {
			return
		}
		switch row.Kind {
		case repository.HeadRow:
			require.Equal(t, key, row.Repository.HeadKey())
		case repository.LogRow:
			require.Equal(t, key, row.Repository.LogKey(row.RevisionID))
		case repository.DraftRow:
			require.Equal(t, key, row.Repository.DraftKey(row.RevisionID))
		case repository.SnapshotRow:
			require.Equal(t, pk, row.Repository.SnapshotPK(row.RevisionID))
		case repository.DayRow:
			require.Equal(t, key, row.Repository.DayKey())
		}
	})
}
