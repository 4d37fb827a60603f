package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/account"
	"nexus/pkg/api"
	"nexus/pkg/item"
	"nexus/pkg/limit"
	"nexus/pkg/table"
)

// links makes addresses that say what they are of.
type links struct{ b *fixture }

func (l links) Link(_ context.Context, name, file string, d time.Duration) (string, time.Time, error) {
	return "/files/" + name + "?as=" + file, l.b.now.Add(d), nil
}

type exportView struct {
	ExportID, State, URL, URLUntil, FileEndsAt string
	Lines, Bytes                               int
	Counts                                     map[string]int
}

func viewOf(t *testing.T, res response) (out exportView) {
	t.Helper()
	require.NoError(t, json.Unmarshal(res.Body.Bytes(), &out))
	return out
}

const exports = "/v1/me/exports"

func askExport() request            { return request{method: http.MethodPost, path: exports} }
func endExport(path string) request { return request{method: http.MethodDelete, path: path} }

// finish makes an export of ann a finished one, as a worker does.
func (b *fixture) finish(id string) {
	b.t.Helper()
	_, err := b.store.Update(b.t.Context(), table.Update{
		Key: item.Key{PK: "USER#ann", SK: "EXPORT#" + id}, If: table.Exists(),
		Set: item.Item{
			"state": item.String("DONE"), "endedAt": item.String(item.FormatInstant(b.now)),
			"counts": item.String(`{"TASK":3}`), "bytes": item.Int(12), "lines": item.Int(5),
		},
	})
	b.NoError(err)
	b.NoError(b.copies.Put(b.t.Context(), "exports/ann/"+id+"/account.zip", []byte("everything")))
}

func TestAPI_exportsAnAccount(t *testing.T) {
	t.Parallel()
	b := setup(t)
	res := b.want(202, askExport().by("ann"))
	made := viewOf(t, res)
	b.Equal(exports+"/000001", res.Header().Get("Location"))
	b.Equal("WAITING", made.State)
	path := exports + "/" + made.ExportID
	b.Empty(viewOf(t, b.want(200, get(path).by("ann"))).URL)
	b.full(b.do(askExport().by("ann")), "quota-reached", limit.OpenExports, 1, 1)

	b.finish(made.ExportID)
	done := viewOf(t, b.want(200, get(path).by("ann")))
	b.Equal("/files/exports/ann/000001/account.zip?as=nexus-account.zip", done.URL)
	b.Equal(item.FormatInstant(b.now.Add(5*time.Minute)), done.URLUntil)
	b.Equal(3, done.Counts["TASK"])
	b.Equal(item.FormatInstant(b.now.AddDate(0, 0, 7)), done.FileEndsAt)
	b.NotContains(b.want(200, get(exports).by("ann")).Body.String(), `"url"`)
	for _, stranger := range []request{get(path), endExport(path)} {
		b.want(404, stranger.by("bob"))
	}
	b.JSONEq(`{"items":[]}`, b.want(200, get(exports).by("bob")).Body.String())
	b.now = b.now.AddDate(0, 0, 7)
	b.Empty(viewOf(t, b.want(200, get(path).by("ann"))).URL, "the file has ended")

	b.want(204, endExport(path).by("ann"))
	b.want(404, get(path).by("ann"))
	b.want(404, endExport(path).by("ann"))
	names, err := b.copies.List(t.Context(), "exports/", 10, "")
	b.NoError(err)
	b.Empty(names)
	for _, unknown := range []string{"000009", "1", "x", "0000010"} {
		b.want(404, get(exports+"/"+unknown).by("ann"))
	}
}

func TestAPI_exportsOnceUnderAKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ask := askExport().by("ann").with("Idempotency-Key", "k")
	first := viewOf(t, b.want(202, ask))
	again := b.want(202, ask)
	b.Equal(first.ExportID, viewOf(t, again).ExportID)
	b.Equal(exports+"/"+first.ExportID, again.Header().Get("Location"))
	remove := endExport(exports+"/"+first.ExportID).by("ann").with("Idempotency-Key", "d")
	b.want(204, remove)
	b.want(204, remove)
	b.want(404, ask)
	for n := 2; n <= 3; n++ {
		b.want(202, askExport().by("ann"))
		b.want(204, endExport(exports+"/00000"+string(rune('0'+n))).by("ann"))
	}
	b.full(b.do(askExport().by("ann")), "quota-reached", limit.DailyExports, 3, 3)
}

func TestAPI_exportsAnAccountThatLeaves(t *testing.T) {
	t.Parallel()
	fence := states{"ann": account.Leaving}
	b := setup(t, func(c *api.Config) { c.Fence = fence })
	made := viewOf(t, b.want(202, askExport().by("ann")))
	path := exports + "/" + made.ExportID
	b.want(200, get(path).by("ann"))
	b.want(204, endExport(path).by("ann"))
	for _, gone := range []account.State{account.Erasing, account.Erased} {
		fence["ann"] = gone
		for _, r := range []request{askExport(), get(exports), get(path), endExport(path)} {
			b.want(403, r.by("ann"))
		}
	}
}

func TestAPI_exportsNothingWithoutAWorker(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.Exports = nil })
	for _, r := range []request{askExport(), get(exports), get(exports + "/000001"), endExport(exports + "/000001")} {
		b.want(404, r.by("ann"))
	}
}
