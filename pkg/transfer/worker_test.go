package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/account"
	blobmemory "nexus/pkg/blob/memory"
	"nexus/pkg/command"
	"nexus/pkg/limit"
	"nexus/pkg/product"
	"nexus/pkg/register"
	"nexus/pkg/table"
	"nexus/pkg/transfer"
)

func TestWorker_makesTheFileOfAJob(t *testing.T) {
	t.Parallel()
	f := newJobFixture(t)
	f.live("ann")
	f.live("bob")
	want := f.export("ann")
	id := f.request("ann")
	require.Equal(t, "000001", id)
	f.now = f.now.Add(time.Minute)
	require.NoError(t, f.newWorker().Run(t.Context()))
	job := f.job("ann", id)
	require.Equal(t, transfer.Done, job.State)
	require.Equal(t, content(t, want), content(t, f.file("ann", id)))
	require.Equal(t, f.now, job.EndedAt)
	require.Equal(t, int64(len(f.file("ann", id))), job.Bytes)
	require.Equal(t, 3, job.Counts["TASK"]+job.Counts["archived"])
	require.NotZero(t, job.Lines)
	require.Equal(t, []string{"exports/ann/000001/account.zip"}, f.objectsOf("ann"), "the parts are removed")
	require.Empty(t, f.objectsOf("bob"))
	for _, row := range f.dump() {
		key, _, _ := strings.Cut(row, " ")
		pk, sk, _ := strings.Cut(key, "/")
		f.seen.Row(pk, sk)
	}
	require.Empty(t, f.seen.Strange())
	require.Empty(t, f.seen.Missing(register.Transfers))
	f.later()
	require.Len(t, f.objectsOf("ann"), 1)

	there := newFixture(t)
	_, err := there.take("zoe", f.file("ann", id))
	require.NoError(t, err)
	require.Equal(t, content(t, want), content(t, there.export("zoe")))
}

// listed returns the keys of the jobs that stand in the state view.
func (f *jobFixture) listed() (keys []string) {
	f.Helper()
	page, err := f.rows.Query(f.Context(), table.Query{Index: table.StateView, Partition: "EXPORT"})
	require.NoError(f, err)
	for _, it := range page.Items {
		keys = append(keys, it.Key().String())
	}
	return keys
}

func TestWorker_endsTheSameWhereverItsProcessDies(t *testing.T) {
	t.Parallel()
	f := newJobFixture(t)
	f.live("ann")
	f.Limits[limit.DailyExports] = 1000
	want := content(t, f.export("ann"))
	first := f.request("ann")
	f.steps = 0
	require.NoError(t, f.newWorker().Work(t.Context(), "ann", first))
	calls := f.steps
	t.Logf("a job has %d steps", calls)
	require.Greater(t, calls, 50)
	for step := 1; step <= calls; step++ {
		f.now = noon
		id := f.request("ann")
		f.steps, f.dieAt = 0, step
		err := f.newWorker().Work(t.Context(), "ann", id)
		f.dieAt = 0
		require.Error(t, err, "step %d", step)
		f.later()
		require.Equal(t, transfer.Done, f.job("ann", id).State, "step %d", step)
		require.Equal(t, want, content(t, f.file("ann", id)), "step %d", step)
		f.remove("ann", id)
		f.later()
		require.Empty(t, f.listed(), "step %d", step)
		require.LessOrEqual(t, len(f.objectsOf("ann")), 1, "step %d: %v", step, f.objectsOf("ann"))
	}
}

// A worker stands still at each of its steps, another takes the job over and ends it, and the first goes on.
func TestWorker_ofTwoOneMakesTheFile(t *testing.T) {
	t.Parallel()
	f := newJobFixture(t)
	f.live("ann")
	f.Limits[limit.DailyExports] = 1000
	want := content(t, f.export("ann"))
	for step, others := 1, 1; others > 0; step++ {
		others, f.now, f.steps = 0, noon, 0
		id := f.request("ann")
		f.steps = 0
		f.watching = func(now int) {
			if now == step {
				others++
				f.now = f.now.Add(transfer.Abandoned)
				require.NoError(t, f.newWorker().Work(t.Context(), "ann", id))
			}
		}
		_ = f.newWorker().Work(t.Context(), "ann", id) // it may find its parts removed
		f.watching = nil
		f.later()
		require.Equal(t, transfer.Done, f.job("ann", id).State, "step %d", step)
		require.Equal(t, want, content(t, f.file("ann", id)), "step %d", step)
		f.remove("ann", id)
		f.later()
		require.Empty(t, f.objectsOf("ann"), "step %d", step)
	}
}

// A job is deleted while a worker stands still at each of its steps.
// Of two requests at the same time one puts its job.
func TestWorker_asksTheFenceBeforeEachPart(t *testing.T) {
	t.Parallel()
	f := newJobFixture(t)
	f.live("ann")
	f.request("ann")
	f.asked = 0
	require.NoError(t, f.newWorker().Run(t.Context()))
	asked := f.asked
	require.Greater(t, asked, 7+7, "of each stage a part is made and joined")
	f.Limits[limit.DailyExports] = 1000
	for n := range asked {
		id := f.request("ann")
		f.asked = 0
		f.Fence = func(context.Context, string) error {
			if f.asked++; f.asked > n {
				return account.ErrErased
			}
			return nil
		}
		var before []string
		f.watching = func(int) {
			if f.asked > n && before == nil {
				before = append(f.dump(), f.objectsOf("ann")...)
			}
		}
		require.NoError(t, f.newWorker().Work(t.Context(), "ann", id), "the erasure ends the job")
		f.watching = nil
		if before != nil {
			require.Equal(t, before, append(f.dump(), f.objectsOf("ann")...), "ask %d", n)
		}
		require.True(t, f.job("ann", id).State.IsOpen(), "ask %d", n)
		f.Fence = nil
		f.remove("ann", id)
	}
}

// Calls are short, and each store is slow: the job goes on with the next call.
func TestWorker_goesOnInItsNextCall(t *testing.T) {
	t.Parallel()
	f := newJobFixture(t)
	f.now = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC) // beyond the deadlines of this machine's clock
	f.live("ann")
	want := content(t, f.export("ann"))
	id := f.request("ann")
	f.watching = func(int) { f.now = f.now.Add(4 * time.Second) }
	calls := 0
	for ; f.job("ann", id).State != transfer.Done; calls++ {
		require.Less(t, calls, 20)
		ctx, cancel := context.WithDeadline(t.Context(), f.now.Add(11*time.Minute))
		require.NoError(t, f.newWorker().Run(ctx))
		cancel()
	}
	require.Greater(t, calls, 1)
	require.Equal(t, want, content(t, f.file("ann", id)))
}

// A local system's clock runs ahead of the one by which a context ends.
func TestWorker_countsTheTimeOfACallByTheClockOfItsContext(t *testing.T) {
	t.Parallel()
	f := newJobFixture(t)
	f.now = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	f.live("ann")
	id := f.request("ann")
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	worker := transfer.NewWorker(transfer.WorkerConfig{
		Service: f.Service, Objects: f.objects, NewID: f.newID, Clock: time.Now, Abandoned: transfer.Abandoned,
	})
	require.NoError(t, worker.Run(ctx))
	require.Equal(t, transfer.Done, f.job("ann", id).State)
}

func TestWorker_givesUpAJobThatDoesNotComeFurther(t *testing.T) {
	t.Parallel()
	f := newJobFixture(t)
	f.live("ann")
	id := f.request("ann")
	broken := errors.New("broken")
	f.Archive.Copies = blobmemory.New(func(string, string, bool) error {
		return errors.Join(broken, table.ErrUnavailable)
	})
	for range 6 {
		require.ErrorIs(t, f.newWorker().Run(t.Context()), broken)
		require.Equal(t, transfer.Running, f.job("ann", id).State)
		require.NoError(t, f.newWorker().Run(t.Context()), "it is left to the worker that has it")
		f.now = f.now.Add(transfer.Abandoned)
	}
	require.NoError(t, f.newWorker().Run(t.Context()))
	job := f.job("ann", id)
	require.Equal(t, transfer.Failed, job.State)
	require.NotEmpty(t, job.Reason)
	require.Empty(t, f.objectsOf("ann"))
	f.later()
	require.Empty(t, f.listed())
	f.request("ann")
}

func TestWorker_failsAJobThatTookLongerThanADay(t *testing.T) {
	t.Parallel()
	f := newJobFixture(t)
	f.live("ann")
	id := f.request("ann")
	f.steps, f.dieAt = 0, 12
	require.Error(t, f.newWorker().Run(t.Context()))
	f.dieAt = 0
	f.now = f.now.Add(25 * time.Hour)
	require.NoError(t, f.newWorker().Run(t.Context()))
	require.Equal(t, transfer.Failed, f.job("ann", id).State)
}

// A worker that was only slow puts a shorter part than the one that has taken its job over, which stops then. Nothing
// of the account is missing in the file that a third one makes.
func TestWorker_thatIsSlowCannotChangeWhatTheCursorNames(t *testing.T) {
	t.Parallel()
	f := newJobFixture(t)
	for n := range 150 { // more than a page, at whose end a part may end
		f.do("ann", -1, command.Create{Type: product.Note(), Fields: fields{"title": fmt.Sprint("Note ", n)}})
	}
	f.Limits[limit.DailyExports] = 1000
	want := content(t, f.export("ann"))
	fence, stopped := f.Fence, 0
	for step, others := 1, 1; others > 0; step++ {
		others, f.now = 0, noon
		id := f.request("ann")
		f.steps = 0
		f.watching = func(now int) {
			if now != step {
				return
			}
			others++
			f.now = f.now.Add(transfer.Abandoned)
			asked := 0
			f.Fence = func(context.Context, string) error {
				if asked++; asked > 2 { // the job, and one part
					return errCrash
				}
				return nil
			}
			if err := f.newWorker().Work(t.Context(), "ann", id); err != nil {
				require.ErrorIs(t, err, errCrash)
				stopped++
			}
			f.Fence = fence
		}
		_ = f.newWorker().Work(t.Context(), "ann", id) // it was overtaken
		f.watching = nil
		f.later()
		require.Equal(t, want, content(t, f.file("ann", id)), "step %d", step)
		f.remove("ann", id)
		f.later()
	}
	require.Greater(t, stopped, 20)
}
