package transfer_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/idempotency"
	"nexus/pkg/item"
	"nexus/pkg/limit"
	"nexus/pkg/transfer"
)

func TestJobs_deleteEndsAJobWhereverItsWorkerIs(t *testing.T) {
	t.Parallel()
	f := newJobFixture(t)
	f.live("ann")
	f.Limits[limit.DailyExports] = 1000
	for step, deletions := 1, 1; deletions > 0; step++ {
		deletions, f.now = 0, noon
		id := f.request("ann")
		f.steps = 0
		f.watching = func(now int) {
			if now == step {
				deletions++
				f.remove("ann", id)
				require.NoError(t, f.newWorker().Run(t.Context())) // what the first one puts comes after this
			}
		}
		_ = f.newWorker().Work(t.Context(), "ann", id)
		f.watching = nil
		if deletions > 0 {
			_, err := f.jobs.Get(t.Context(), "ann", id)
			require.ErrorIs(t, err, transfer.ErrNoJob, "step %d", step)
			_, err = f.jobs.Delete(t.Context(), "ann", id, "")
			require.ErrorIs(t, err, transfer.ErrNoJob)
			f.later()
			require.Empty(t, f.objectsOf("ann"), "step %d", step)
			require.Empty(t, f.listed(), "step %d", step)
		}
	}
}

func TestJobs_allowsOneOpenJobAndThreeADay(t *testing.T) {
	t.Parallel()
	f := newJobFixture(t)
	f.live("ann")
	refused := func(quota string, number int) {
		t.Helper()
		_, err := f.jobs.Request(t.Context(), "ann")
		var full *limit.QuotaError
		require.ErrorAs(t, err, &full)
		require.Equal(t, limit.Quota{Name: quota, Limit: number, Used: number}, full.Quota)
	}
	for n := range 3 {
		id := f.request("ann")
		refused(limit.OpenExports, 1)
		f.request(fmt.Sprint("bob", n))
		if n == 1 { // a deleted job is no open one, and counts as one of its day
			f.remove("ann", id)
		} else {
			require.NoError(t, f.newWorker().Run(t.Context()))
		}
		f.now = f.now.Add(time.Hour)
	}
	refused(limit.DailyExports, 3)
	all, err := f.jobs.List(t.Context(), "ann")
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, "000003", all[0].ID)
	f.now = noon.Add(24 * time.Hour)
	f.request("ann")
}

func TestJobs_ofTwoRequestsOneIsRefused(t *testing.T) {
	t.Parallel()
	for step := 1; ; step++ {
		f := newJobFixture(t)
		var others []error
		f.steps = 0
		f.watching = func(now int) {
			if now == step {
				_, err := f.jobs.Request(t.Context(), "ann")
				others = append(others, err)
			}
		}
		_, err := f.jobs.Request(t.Context(), "ann")
		if len(others) == 0 {
			require.NoError(t, err)
			require.Greater(t, step, 3)
			return
		}
		made := 0
		for _, err := range append(others, err) {
			var full *limit.QuotaError
			if made++; err != nil {
				require.ErrorAs(t, err, &full)
				made--
			}
		}
		require.Equal(t, 1, made, "step %d", step)
		require.Len(t, f.listed(), 1)
	}
}

func TestJobs_endAfterEightDays(t *testing.T) {
	t.Parallel()
	f := newJobFixture(t)
	f.live("ann")
	id := f.request("ann")
	require.NoError(t, f.newWorker().Run(t.Context()))
	require.True(t, f.job("ann", id).HasFile(f.now))
	f.later()
	require.False(t, f.job("ann", id).HasFile(noon.Add(7*24*time.Hour)))
	f.now = noon.Add(8 * 24 * time.Hour)
	_, err := f.jobs.Get(t.Context(), "ann", id)
	require.ErrorIs(t, err, transfer.ErrNoJob)
	all, err := f.jobs.List(t.Context(), "ann")
	require.NoError(t, err)
	require.Empty(t, all)
	require.Equal(t, "000002", f.request("ann"))
	row, err := f.rows.Get(t.Context(), item.Key{PK: "USER#ann", SK: "EXPORT#" + id})
	require.NoError(t, err)
	require.Equal(t, f.now.Add(8*24*time.Hour).Unix(), row.Int("ttl"), "the next one's row has the number")
}

// The id of an export of March is no other one's in November.
func TestJobs_useNoIDTwice(t *testing.T) {
	t.Parallel()
	f := newJobFixture(t)
	f.live("ann")
	var ids []string
	for range 4 {
		id := f.request("ann")
		require.NoError(t, f.newWorker().Run(t.Context()))
		f.later()
		if len(ids) == 2 {
			f.remove("ann", id)
			f.later()
		}
		f.now = f.now.AddDate(0, 8, 0)
		f.rows.Sweep(f.now, 1000)
		ids = append(ids, id)
	}
	require.Equal(t, []string{"000001", "000002", "000003", "000004"}, ids)
}

// Of a deletion whose answer was lost the receipt is there: a repetition is answered, and ends nothing else.
func TestJobs_deleteOnceUnderAKey(t *testing.T) {
	t.Parallel()
	for step := 1; ; step++ {
		f := newJobFixture(t)
		f.live("ann")
		id := f.request("ann")
		require.NoError(t, f.newWorker().Run(t.Context()))
		f.steps, f.dieAt = 0, step
		_, err := f.jobs.Delete(t.Context(), "ann", id, "k")
		f.dieAt = 0
		if err == nil {
			require.Greater(t, step, 4)
			_, err = f.jobs.Delete(t.Context(), "ann", "000002", "k")
			require.ErrorIs(t, err, idempotency.ErrKeyReused)
			return
		}
		_, gone := f.jobs.Get(t.Context(), "ann", id)
		replayed, err := f.jobs.Delete(t.Context(), "ann", id, "k")
		require.NoError(t, err, "step %d", step)
		require.Equal(t, gone != nil, replayed, "step %d", step)
		require.Empty(t, f.objectsOf("ann"), "step %d", step)
	}
}
