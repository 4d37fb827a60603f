package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	raceWriters  = 5
	raceDates    = 40 // written to, by the writers in turns
	raceSplits   = 5
	raceFollowed = 20 * time.Second // how long a writer looks for the series that has its date
)

// lineage is a series and those that it was split into, as they were acknowledged to its splitter.
type lineage struct {
	start time.Time

	mu    sync.Mutex
	parts []linePart
	wrong []string
}

// linePart is one of the series: it has the dates from its first to the next one's first.
type linePart struct{ master, from string }

func (l *lineage) date(n int) string { return l.start.AddDate(0, 0, n).Format("20060102") }

// seriesWith returns the series that has the date, as far as any client knows.
func (l *lineage) seriesWith(date string) (master string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.parts {
		if p.from <= date {
			master = p.master
		}
	}
	return master
}

func (l *lineage) complain(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.wrong = append(l.wrong, err.Error())
	}
}

func occurrencePath(master, date string) string { return "/v1/series/" + master + "/instances/" + date }

func occurrenceID(master, date string) string {
	return "inst_" + date + "_" + strings.TrimPrefix(master, "mst_")
}

func TestDev_losesNoExceptionBesideSplitsWhenTheProcessIsKilled(t *testing.T) {
	t.Parallel()
	s := onDirectory(t)
	l := newLoad(t, s)
	ctx := bounded(t)
	worker := func(n int) *worker {
		return &worker{load: l, client: s.client("racer"), number: n, rand: rand.New(rand.NewPCG(l.seed, uint64(n)))}
	}
	line := &lineage{start: l.base.UTC().Truncate(24*time.Hour).AddDate(0, 0, 3).Add(9 * time.Hour)}
	first := s.client("racer").create("series", map[string]any{
		"title": "raced", "startUtc": line.start.Format(time.RFC3339), "startTzid": "UTC", "rrule": "FREQ=DAILY",
	})
	line.parts = []linePart{{first["masterId"].(string), line.date(0)}}

	var work sync.WaitGroup
	var written atomic.Int64
	for n := range raceWriters {
		work.Go(func() {
			w := worker(n)
			for d := n; d < raceDates; d += raceWriters {
				line.complain(w.exceptionSomewhere(ctx, line, line.date(d)))
				written.Add(1)
			}
		})
	}
	work.Go(func() {
		w := worker(raceWriters)
		for n := range raceSplits { // each in the midst of the writers' work
			await(ctx, roundBound, time.Millisecond, func() bool { return written.Load() >= int64(n*raceDates/raceSplits) })
			line.complain(w.splitLast(ctx, line, line.date((n+1)*raceDates/(raceSplits+1))))
		}
	})
	for kill := range 2 {
		require.True(t, await(ctx, roundBound, time.Millisecond, func() bool {
			return written.Load() >= int64((kill+1)*raceDates/3)
		}))
		s.kill()
		s.start()
	}
	work.Wait()
	require.Empty(t, line.wrong)
	s.waitUntilIdle()
	rows, differences := s.recount()
	require.Empty(t, differences)
	found := map[string]string{}
	for _, r := range rows {
		if r.kind() == "INSTANCE" && r["modifiedFields"] != nil {
			require.Empty(t, found[r.date()], "two exceptions of one date")
			found[r.date()] = r.text("title")
			require.Equal(t, line.seriesWith(r.date()), strings.Split(r.text("SK"), "#")[1], "the series of %s", r)
		}
	}
	for d := range raceDates {
		require.Equal(t, "own "+line.date(d), found[line.date(d)])
	}
	t.Logf("%d exceptions in %d series", len(found), len(line.parts))
}

// exceptionSomewhere changes the occurrence of a date in whichever series has it.
func (w *worker) exceptionSomewhere(ctx context.Context, l *lineage, date string) (err error) {
	ok := await(ctx, raceFollowed, time.Millisecond, func() bool {
		master := l.seriesWith(date)
		var now answer
		if now, _, err = w.insist(ctx, request{
			method: http.MethodGet, path: "/v1/events/" + occurrenceID(master, date),
		}); err != nil {
			return true
		}
		version, wrong := wholeNumber(now.object(), "version")
		if now.status == http.StatusNotFound {
			return false // split off since
		}
		if wrong != nil {
			err = fmt.Errorf("read occurrence %s: %s", date, now)
			return true
		}
		put := request{
			method: http.MethodPut, path: occurrencePath(master, date), body: map[string]any{"title": "own " + date},
		}
		got, _, failed := w.insistAt(ctx, put, version)
		switch {
		case failed != nil:
			err = failed
		case got.status == http.StatusNotFound:
			return false
		case got.status == http.StatusNoContent: // written, its answer lost, and taken along by a split since
		case got.status != http.StatusOK:
			err = fmt.Errorf("occurrence %s: %s", date, got)
		}
		return true
	})
	if !ok {
		return fmt.Errorf("no series has %s within %s", date, raceFollowed)
	}
	return err
}

// splitLast splits the series that goes on.
func (w *worker) splitLast(ctx context.Context, l *lineage, date string) error {
	master := l.seriesWith(date)
	now, _, err := w.insist(ctx, request{method: http.MethodGet, path: "/v1/events/" + master})
	if err != nil {
		return err
	}
	version, err := wholeNumber(now.object(), "version")
	if err != nil {
		return fmt.Errorf("read %s: %s", master, now)
	}
	got, _, err := w.insistAt(ctx, request{
		method: http.MethodPost, path: "/v1/series/" + master + "/split",
		body: map[string]any{"date": date, "changes": map[string]any{"location": "from " + date}},
	}, version)
	following, _ := got.object()["following"].(map[string]any)
	if err != nil || following == nil {
		return fmt.Errorf("split %s at %s: %s: %w", master, date, got, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parts = append(l.parts, linePart{following["masterId"].(string), date})
	return nil
}
