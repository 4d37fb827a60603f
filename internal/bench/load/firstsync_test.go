package load_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
	"nexus/pkg/local/engine/enginetest"
	"nexus/pkg/table"
	"nexus/pkg/table/dynamo"
)

// BenchmarkFirstSync measures the snapshot of a new device over HTTP, on the engine: a user with 10,000 items and 60
// series. Beside the time it reports the requests, the bytes that were sent and the read units of one device; then a
// pull without news.
func BenchmarkFirstSync(b *testing.B) { benchmarkFirstSync(b, 10_000, 60) }

func benchmarkFirstSync(b *testing.B, items, series int) {
	endpoint, name := enginetest.Table(b)
	client, release, err := local.NewClient(endpoint)
	require.NoError(b, err)
	defer release()
	var meter table.Meter
	store := dynamo.New(client, dynamo.WithTable(name), dynamo.WithObserver(meter.Observe))
	fill(b, store, items, series)

	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r)
	}))
	defer server.Close()
	d := syncingDevice{client: server.Client(), address: server.URL + "/v1/changes"}
	for _, d.encoding = range []string{"identity", "gzip"} {
		b.Run("snapshot/"+d.encoding, func(b *testing.B) {
			handler = surface(b, store)
			d.TB, d.requests, d.bytes = b, 0, 0
			meter.Drain()
			for b.Loop() {
				b.StopTimer()
				handler = surface(b, store) // in a process of its own: its brake has counted nothing
				b.StartTimer()
				require.GreaterOrEqual(b, d.snapshot(), items+series)
			}
			b.ReportMetric(float64(d.requests)/float64(b.N), "requests/op")
			b.ReportMetric(float64(d.bytes)/float64(b.N), "B-sent/op")
			b.ReportMetric(meter.Read().Sum().ReadUnits/float64(b.N), "read-units/op")
		})
	}
	b.Run("nothing-new", func(b *testing.B) {
		d.TB, handler = b, surface(b, store)
		d.snapshot()
		meter.Drain()
		for b.Loop() {
			require.Empty(b, d.get("?since="+d.next).Changes)
		}
		b.ReportMetric(meter.Read().Sum().ReadUnits/float64(b.N), "read-units/op")
	})
}

// syncingDevice asks for changes, and counts.
type syncingDevice struct {
	testing.TB
	client          *http.Client
	address         string
	encoding        string
	next            string
	requests, bytes int
}

type changesAnswer struct {
	Items, Changes []json.RawMessage
	Cursor, Next   string
}

// snapshot follows the cursors to the end, and returns the number of things.
func (d *syncingDevice) snapshot() int {
	things := 0
	for query := ""; ; {
		page := d.get(query)
		if things += len(page.Items); page.Next != "" {
			d.next = page.Next
			return things
		}
		query = "?cursor=" + url.QueryEscape(page.Cursor)
	}
}

func (d *syncingDevice) get(query string) (page changesAnswer) {
	r, err := http.NewRequestWithContext(d.Context(), http.MethodGet, d.address+query, nil)
	require.NoError(d, err)
	r.Header.Set("Authorization", "Bearer "+user)
	r.Header.Set("Accept-Encoding", d.encoding)
	answer, err := d.client.Do(r)
	require.NoError(d, err)
	body, err := io.ReadAll(answer.Body)
	require.NoError(d, err)
	require.NoError(d, answer.Body.Close())
	require.Equal(d, http.StatusOK, answer.StatusCode, "%s", body)
	d.requests, d.bytes = d.requests+1, d.bytes+len(body)
	if answer.Header.Get("Content-Encoding") == "gzip" {
		body = d.unzip(body)
	}
	require.NoError(d, json.Unmarshal(body, &page))
	return page
}

func (d *syncingDevice) unzip(body []byte) []byte {
	zipped, err := gzip.NewReader(bytes.NewReader(body))
	require.NoError(d, err)
	plain, err := io.ReadAll(zipped)
	require.NoError(d, err)
	return plain
}
