package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	blobmemory "nexus/pkg/blob/memory"
	"nexus/pkg/limit"
	"nexus/pkg/register"
	"nexus/pkg/table/memory"
	"nexus/pkg/transfer"
)

// jobFixture is a deployment with exports that users ask for. Each call of a port is a step, counted before and after.
type jobFixture struct {
	*fixture
	jobs     *transfer.Jobs
	objects  *blobmemory.Store
	seen     register.Walk // of the names of all objects
	ids      int
	steps    int
	dieAt    int            // the step at which the process dies; 0 for never
	watching func(step int) // called at each step
	gone     error          // what the fence answers
	asked    int            // calls of the fence
}

func newJobFixture(t *testing.T) *jobFixture {
	t.Helper()
	f := &jobFixture{}
	f.fixture = newPlainFixture(t, memory.Options{Fault: func(memory.Call) error { return f.step() }})
	f.objects = blobmemory.New(func(op, name string, after bool) error {
		if after && (op == "put" || op == "write") {
			f.seen.Object(name)
		}
		return f.step()
	})
	f.Fence = func(context.Context, string) error {
		f.asked++
		return f.gone
	}
	f.Limits = limit.Default()
	f.jobs = transfer.NewJobs(transfer.JobsConfig{
		Store: f.rows, Now: f.clock, NewID: f.newID, Limits: f.Limits, Objects: f.objects,
	})
	return f
}

func (f *jobFixture) newID() string {
	f.ids++
	return fmt.Sprint("id ", f.ids)
}

func (f *jobFixture) step() error {
	f.steps++
	if f.dieAt > 0 && f.steps >= f.dieAt {
		return errCrash
	}
	if f.watching != nil {
		watch := f.watching
		f.watching = nil // what it does is no step of what is watched
		watch(f.steps)
		f.watching = watch
	}
	return nil
}

func (f *jobFixture) newWorker() *transfer.Worker {
	return transfer.NewWorker(transfer.WorkerConfig{
		Service: f.Service, Objects: f.objects, NewID: f.newID,
		Abandoned: transfer.Abandoned,
	})
}

func (f *jobFixture) request(user string) string {
	f.Helper()
	job, err := f.jobs.Request(f.Context(), user)
	require.NoError(f, err)
	require.Equal(f, transfer.Waiting, job.State)
	return job.ID
}

func (f *jobFixture) remove(user, id string) {
	f.Helper()
	replayed, err := f.jobs.Delete(f.Context(), user, id, "")
	require.NoError(f, err)
	require.False(f, replayed)
}

func (f *jobFixture) job(user, id string) transfer.Job {
	f.Helper()
	job, err := f.jobs.Get(f.Context(), user, id)
	require.NoError(f, err)
	return job
}

// file returns the file of a job.
func (f *jobFixture) file(user, id string) []byte {
	f.Helper()
	in, err := f.objects.Open(f.Context(), "exports/"+user+"/"+id+"/account.zip")
	require.NoError(f, err)
	file, err := io.ReadAll(in)
	require.NoError(f, errors.Join(err, in.Close()))
	return file
}

func (f *jobFixture) objectsOf(user string) []string {
	f.Helper()
	names, err := f.objects.List(f.Context(), "exports/"+user+"/", 1000, "")
	require.NoError(f, err)
	return names
}

// later lets the calls of workers come that find everything abandoned.
func (f *jobFixture) later() {
	f.Helper()
	require.NoError(f, f.newWorker().Run(f.Context()))
	for range 2 {
		f.now = f.now.Add(transfer.Abandoned)
		require.NoError(f, f.newWorker().Run(f.Context()))
	}
}
