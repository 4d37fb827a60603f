package e2e_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/changes/changelog"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/entity"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// The query function keeps an index in its bucket, goes on from it in another process, and answers without a bucket.
func TestQuery_searches(t *testing.T) {
	t.Parallel()
	w := setup(t)
	commands := w.start(env.Command)
	require.Equal(t, http.StatusCreated, commands.request(w.payload("command-create-task")).StatusCode)
	row := changelog.NewRow(1, []changelog.Entry{
		{Ref: entity.Ref{Type: product.TypeTask, ID: createdID}, Version: 1},
	}, 7, true, time.Now())
	require.NoError(t, w.store.Put(t.Context(), table.Put{Item: row.Item(user)}))
	find := func(f *function) {
		a := f.request(changed(t, w.exportCall("query-agenda", "GET", "/v1/search"), map[string]any{
			"rawQueryString": "q=topf&is=open",
		}))
		require.Equal(t, http.StatusOK, a.StatusCode, "%s", a.Body)
		hits := object(t, a.Body)["items"].([]any)
		require.Len(t, hits, 1)
		require.Equal(t, createdID, hits[0].(map[string]any)["id"])
	}
	f := w.start(env.Query)
	find(f)
	name := snapshots + "/snap/" + user + "/search/999999999999-0000000000000007"
	require.Contains(t, w.services.stored(), name)
	find(f)
	find(w.start(env.Query))
	w.services.breakDown("objects", true)
	f = w.start(env.Query)
	find(f)
	require.Positive(t, sum(f.counted(), string(env.Query))[metric.SnapshotsFailed], fmt.Sprint(f.counted()))
}
