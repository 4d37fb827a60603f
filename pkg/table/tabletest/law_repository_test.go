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

// TestLaw_letsAnEntryGoBesideItsDraftAlone: each transaction lacks one of the parts that make the first one legal.
func TestLaw_letsAnEntryGoBesideItsDraftAlone(t *testing.T) {
	t.Parallel()
	at, next := repository.Address{User: "u", Date: "2026-01-23"}, repository.Address{User: "u", Date: "2026-01-24"}
	noon := time.Date(2026, 1, 23, 12, 0, 0, 0, time.UTC)
	old := repository.NewRevisionID(noon, "0f8fad5b-d9cb-469f-a165-70867728950e")
	present := repository.NewRevisionID(noon.Add(time.Hour), "1f8fad5b-d9cb-469f-a165-70867728950e")
	draft := func(status string) table.Action {
		row := at.DraftKey(old).Item()
		row["status"] = item.String(status)
		return table.Put{Item: row, If: table.NotExists()}
	}
	head := func(revID string) table.Action {
		return table.Update{
			Key: at.HeadKey(), Set: item.Item{"oldestRevId": item.String(present)},
			If: table.Exists(table.Equal("headRevId", item.String(revID))),
		}
	}
	follower := func(c table.Condition) table.Action { return table.Check{Key: next.HeadKey(), If: c} }
	named := table.Exists(table.Equal("rolledFromRevId", item.String(old)))
	gone := table.Delete{Key: at.LogKey(old), If: table.Exists()}
	noHead := table.Delete{Key: at.HeadKey(), If: table.Exists(table.Equal("headRevId", item.String(old)))}
	noDay := table.Delete{Key: at.DayKey()}
	unnamed := follower(table.NotExists())
	for name, c := range map[string]struct {
		actions []table.Action
		legal   bool
	}{
		"pruned":                   {[]table.Action{gone, draft("PRUNED"), head(present), unnamed}, true},
		"a draft without patience": {[]table.Action{gone, draft("SEALED"), head(present), unnamed}, false},
		"no draft":                 {[]table.Action{gone, head(present), unnamed}, false},
		"the head's entry":         {[]table.Action{gone, draft("PRUNED"), head(old), unnamed}, false},
		"no head":                  {[]table.Action{gone, draft("PRUNED"), unnamed}, false},
		"no check of the name":     {[]table.Action{gone, draft("PRUNED"), head(present)}, false},
		"a name that is there":     {[]table.Action{gone, draft("PRUNED"), head(present), follower(table.Exists())}, false},
		"named":                    {[]table.Action{gone, draft("PRUNED"), head(present), follower(named)}, false},
		"the whole plan":           {[]table.Action{gone, draft("PRUNED"), noHead, noDay, unnamed}, true},
		"a plan without its day":   {[]table.Action{gone, draft("PRUNED"), noHead, unnamed}, false},
	} {
		law := tabletest.NewLaw(memory.New(func() time.Time { return noon }, memory.Options{}), product.Registry())
		_ = law.Transact(t.Context(), c.actions...) // there are no such rows
		require.Equal(t, c.legal, len(law.Broken()) == 0, "%s: %v", name, law.Broken())
	}
}

func TestLaw_wantsTheLogEntryOfWhatAHeadNames(t *testing.T) {
	t.Parallel()
	at, before := repository.Address{User: "u", Date: "2026-01-24"}, repository.Address{User: "u", Date: "2026-01-23"}
	noon := time.Date(2026, 1, 23, 12, 0, 0, 0, time.UTC)
	revID := repository.NewRevisionID(noon, "0f8fad5b-d9cb-469f-a165-70867728950e")
	rolled := table.Update{
		Key: at.HeadKey(), Set: item.Item{"headRevId": item.String("x"), "rolledFromRevId": item.String(revID)},
		If: table.Exists(table.Equal("headRevId", item.String("w"))),
	}
	for name, c := range map[string]struct {
		actions []table.Action
		legal   bool
	}{
		"checked":        {[]table.Action{rolled, table.Check{Key: before.LogKey(revID), If: table.Exists()}}, true},
		"unchecked":      {[]table.Action{rolled}, false},
		"of another day": {[]table.Action{rolled, table.Check{Key: at.LogKey(revID), If: table.Exists()}}, false},
	} {
		law := tabletest.NewLaw(memory.New(func() time.Time { return noon }, memory.Options{}), product.Registry())
		_ = law.Transact(t.Context(), c.actions...)
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
