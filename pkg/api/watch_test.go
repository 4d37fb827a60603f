package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/entity/device"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

var watchRequest = request{method: http.MethodPut, path: "/v1/me/watch"}

func TestAPI_saysUntilWhenAndWhereHintsArrive(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.JSONEq(`{"until":"2026-03-02T12:40:00Z","subscribe":`+
		`{"url":"wss://r.example/event/realtime","host":"h.example","channel":"/user/ann"}}`,
		b.want(200, watchRequest).Body.String())
	row, err := b.store.Get(t.Context(), device.WatchKey("ann"))
	require.NoError(t, err)
	b.Equal(b.clock().Unix()+40*60, row.Int(entity.AttrTTL))
	b.Equal([]string{"PK", "SK", "ttl"}, names(row))

	// Again, and under a key: each lasts 40 minutes.
	b.want(200, watchRequest.with("Idempotency-Key", "k"))
	b.want(200, watchRequest.with("Idempotency-Key", "k"))
	b.want(400, watchRequest.with("Idempotency-Key", strings.Repeat("k", 256)))
	b.want(401, watchRequest.by("-"))
}

func names(row item.Item) []string {
	var out []string
	for _, name := range []string{"PK", "SK", "ttl", "version", "createdAt", "updatedAt"} {
		if row.Has(name) {
			out = append(out, name)
		}
	}
	return out
}

func TestAPI_saysThatAUserHasNoHints(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.JSONEq(`{"until":"2026-03-02T12:40:00Z"}`, b.want(200, watchRequest.by("ann_b")).Body.String())
	_, err := b.store.Get(t.Context(), device.WatchKey("ann_b"))
	require.ErrorIs(t, err, table.ErrNotFound)
}
