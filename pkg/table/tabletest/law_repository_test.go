package tabletest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/table/tabletest"
)

func TestLaw_keepsTheHistoryOfRepositories(t *testing.T) {
	t.Parallel()
	at := repository.Address{User: "u", Date: "2026-01-23"}
	noon := time.Date(2026, 1, 23, 12, 0, 0, 0, time.UTC)
	revID := repository.NewRevisionID(noon, "0f8fad5b-d9cb-469f-a165-70867728950e")
	set := item.Item{"headRevId": item.String(revID)}
	row := func(key item.Key, name string) item.Item {
		it := key.Item()
		it[name] = item.String("x")
		return it
	}
	for name, c := range map[string]struct {
		action table.Action
		legal  bool
	}{
		"the first head": {
			table.Update{Key: repository.Address{User: "u"}.HeadKey(), Set: set, If: table.NotExists()}, true},
		"a plan without its day": {table.Update{Key: at.HeadKey(), Set: set, If: table.NotExists()}, false},
		"a day":                  {table.Put{Item: at.DayKey().Item()}, true},
		"a day that is changed":  {table.Update{Key: at.DayKey(), Set: item.Item{"notes": item.String("x")}}, false},
		"a day that is removed":  {table.Delete{Key: at.DayKey()}, false},
		"a head under another": {
			table.Update{Key: at.HeadKey(), Set: set, If: table.OrNoRow(table.Equal("headRevId", item.String(revID)))}, true},
		"a head under none":        {table.Update{Key: at.HeadKey(), Set: set}, false},
		"a head that is put":       {table.Put{Item: row(at.HeadKey(), "headRevId"), If: table.NotExists()}, false},
		"a head that is removed":   {table.Delete{Key: at.HeadKey()}, false},
		"an entry of the log":      {table.Put{Item: row(at.LogKey(revID), "revId"), If: table.NotExists()}, true},
		"an entry over another":    {table.Put{Item: row(at.LogKey(revID), "revId")}, false},
		"an entry that is removed": {table.Delete{Key: at.LogKey(revID)}, false},
		"a row of a snapshot":      {table.Put{Item: row(at.TodoKey(revID, 1, "act_1"), "actionId")}, true},
		"a row that is changed": {
			table.Update{Key: at.TodoKey(revID, 1, "act_1"), Set: item.Item{"notes": item.String("x")}}, false},
		"an index key": {table.Put{Item: row(at.TodoKey(revID, 1, "act_1"), item.AttrGSI1PK)}, false},
		"a draft":      {table.Put{Item: row(at.DraftKey(revID), "status"), If: table.NotExists()}, true},
	} {
		law := tabletest.NewLaw(memory.New(func() time.Time { return noon }, memory.Options{}), product.Registry())
		_ = law.Transact(t.Context(), c.action) // an index key without its partner is the store's to refuse
		require.Equal(t, c.legal, len(law.Broken()) == 0, "%s: %v", name, law.Broken())
	}
}

func TestLaw_wantsTheDayBesideTheFirstHeadOfAPlan(t *testing.T) {
	t.Parallel()
	at := repository.Address{User: "u", Date: "2026-01-23"}
	head := table.Update{Key: at.HeadKey(), Set: item.Item{"headRevId": item.String("x")}, If: table.NotExists()}
	for date, legal := range map[string]bool{at.Date: true, "2026-01-24": false} {
		law := tabletest.NewLaw(memory.New(time.Now, memory.Options{}), product.Registry())
		day := repository.Address{User: "u", Date: date}.DayKey().Item()
		require.NoError(t, law.Transact(t.Context(), head, table.Put{Item: day}))
		require.Equal(t, legal, len(law.Broken()) == 0, "%s: %v", date, law.Broken())
	}
}
