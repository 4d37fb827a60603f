package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	"nexus/pkg/outbound"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/webhook"
)

func TestWorker_triesTenTimesAndThenGivesUp(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.hook(hook1)
	f.apply(f.task("task_a", 1))
	f.answer = func(received) (*http.Response, error) { return nil, errors.New("connection reset by 10.0.0.1") }
	f.work()
	for f.next() {
	}
	f.Len(f.got, 10)
	waits := []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
		10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}
	for i, want := range waits {
		is := f.got[i+1].at.Sub(f.got[i].at)
		f.GreaterOrEqual(is, want)
		f.LessOrEqual(is, want+64*time.Minute, "the breaker lets one through in an hour at least")
		f.NotEqual(f.got[i].stamp, f.got[i+1].stamp, "each attempt has its own time")
		f.Equal(f.got[i].body, f.got[i+1].body)
		f.Equal(f.got[i].id, f.got[i+1].id)
	}
	f.Equal("dead", f.message().Str("state"))
	f.Equal("failed", f.message().Str("reason"))
	list, _, err := f.endpoints.List(t.Context(), user, hook1, webhook.Filter{}, "", 10)
	f.NoError(err)
	f.Len(list, 1)
	f.Len(list[0].Attempts, 10)
	f.Equal("there was no answer", list[0].Attempts[0].Text, "it tells no address")
}

func TestWorker_tellsWhyThereWasNoAnswer(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"there was no answer in time": &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded},
		"the connection was refused":  &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)},
		"there was no answer":         &net.OpError{Op: "read", Err: io.ErrUnexpectedEOF},
	} {
		f := setup(t)
		f.hook(hook1)
		f.answer = func(received) (*http.Response, error) { return nil, err }
		f.apply(f.task("task_a", 1))
		f.work()
		list, _, err := f.endpoints.List(t.Context(), user, hook1, webhook.Filter{}, "", 10)
		f.NoError(err)
		f.Equal(want, list[0].Attempts[0].Text)
	}
}

func TestWorker_disablesAnEndpointThatIsGoneOrFailsForFiveDays(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.hook(hook1)
	f.apply(f.task("task_a", 1), f.task("task_b", 1))
	f.answers(http.StatusGone)
	f.work()
	f.Len(f.got, 1)
	f.Equal("DISABLED", f.read(hook1).Str("status"))
	f.Equal("gone", f.read(hook1).Str("reason"))
	f.EqualValues(2, f.read(hook1).Int("version"))
	f.Empty(f.rows("OUT"))
	for _, row := range f.rows("MSG") {
		f.Equal("disabled", row.Str("reason"))
	}

	f.answers(http.StatusInternalServerError)
	f.set(hook1, "status", "ACTIVE")
	f.Empty(f.read(hook1).Str("reason"))
	began := f.now
	for n := int64(2); f.read(hook1).Str("status") == "ACTIVE"; n++ {
		f.apply(f.task("task_a", n))
		f.work()
		f.now = f.now.Add(time.Hour)
		f.Less(n, int64(200))
	}
	f.Equal("failing", f.read(hook1).Str("reason"))
	f.InDelta(5*24, f.now.Sub(began).Hours(), 3)
	f.Empty(f.rows("OUT"))
}

func TestWorker_leavesAnEndpointWithAnotherAddressActive(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.hook(hook1)
	f.apply(f.task("task_a", 1))
	f.answer = func(received) (*http.Response, error) {
		f.answers(http.StatusNoContent)
		f.set(hook1, "url", "https://hooks.example.com/new")
		return reply(http.StatusGone), nil
	}
	f.work()
	f.Equal("ACTIVE", f.read(hook1).Str("status"))
	for len(f.rows("OUT")) > 0 {
		f.True(f.next())
	}
	f.Equal("https://hooks.example.com/new", f.got[1].url)
	f.Equal("done", f.message().Str("state"))
}

func TestWorker_waitsAsLongAsItIsAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		after  string
		least  time.Duration
		most   time.Duration
	}{
		{429, "120", 2 * time.Minute, 4 * time.Minute}, {503, "1800", 30 * time.Minute, 33 * time.Minute},
		{503, "86400", time.Hour, 64 * time.Minute}, {500, "1800", 5 * time.Second, 3 * time.Minute},
	} {
		f := setup(t)
		f.hook(hook1)
		f.apply(f.task("task_a", 1))
		f.answers(c.status, "Retry-After", c.after)
		f.work()
		f.answers(http.StatusOK)
		for len(f.got) < 2 {
			f.True(f.next())
		}
		is := f.got[1].at.Sub(f.got[0].at)
		f.GreaterOrEqual(is, c.least, c.after)
		f.LessOrEqual(is, c.most, c.after)
	}
}

func TestWorker_opensItsBreakerAfterFiveFailuresOfTheEndpointAlone(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.hook(hook1)
	f.hook(hook2)
	f.answer = func(r received) (*http.Response, error) {
		if strings.HasSuffix(r.url, hook1) {
			return reply(http.StatusInternalServerError), nil
		}
		return reply(http.StatusOK), nil
	}
	for n := range int64(9) {
		f.apply(f.task(fmt.Sprintf("task_%d", n), 1))
		f.work()
	}
	count := func(hook string) (n int) {
		for _, one := range f.got {
			if strings.HasSuffix(one.url, hook) {
				n++
			}
		}
		return n
	}
	f.Equal(5, count(hook1))
	f.Equal(9, count(hook2), "one endpoint's failures are no other's")
	f.answers(http.StatusOK)
	for len(f.rows("OUT")) > 0 {
		f.True(f.next())
	}
	f.Less(f.now.Sub(f.got[0].at), 10*time.Minute)
}

func TestWorker_makesTheOldestOfTooManyDead(t *testing.T) {
	t.Parallel()
	f := setup(t, func(c *webhook.Config) { c.Most = 7 })
	f.hook(hook1)
	f.answers(http.StatusInternalServerError)
	for n := range int64(30) {
		f.apply(f.task(fmt.Sprintf("task_%02d", n), 1))
		f.work()
		f.now = f.now.Add(time.Minute)
	}
	f.now = f.now.Add(10 * time.Minute)
	f.apply(f.task("task_last", 1))
	f.work()
	f.Len(f.rows("OUT"), 7)
	dead := 0
	for i, row := range f.rows("MSG") {
		if row.Str("reason") == "full" {
			f.Equal(dead, i, "the oldest leave")
			dead++
		}
	}
	f.Equal(24, dead)
}

func TestWorker_sendsNothingForAnEndpointThatIsGone(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.hook(hook1)
	f.answers(http.StatusInternalServerError)
	f.apply(f.task("task_a", 1))
	f.work()
	before := f.read(hook1)
	f.NoError(f.store.Delete(t.Context(), table.Delete{Key: hookKey(hook1)}))
	f.apply(change.Change{Kind: change.Removed, Type: webhookType, User: user, Ref: webhookType.Ref(before),
		Key: before.Key(), Old: before, Version: 2, Created: f.now})
	f.work()
	f.Len(f.got, 1)
	f.Equal("deleted", f.message().Str("reason"))
	f.Empty(f.rows("OUT"))
	f.Empty(f.rows("LANE"))
}

func TestWorker_writesAnOutcomeUnderTheRowAsItWasRead(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 500, 410} {
		f := setup(t)
		f.hook(hook1)
		f.apply(f.task("task_a", 1))
		f.answer = func(received) (*http.Response, error) {
			for _, row := range append(append(f.rows("MSG"), f.rows("OUT")...), f.rows("LANE")...) {
				f.NoError(f.store.Delete(t.Context(), table.Delete{Key: row.Key()}))
			}
			f.NoError(f.store.Delete(t.Context(), table.Delete{Key: hookKey(hook1)}))
			return reply(status), nil
		}
		f.work()
		for _, prefix := range []string{"MSG", "OUT", "LANE", "WEBHOOK"} {
			f.Empty(f.rows(prefix), "%d has made a row", status)
		}
	}
}

func TestWorker_goesOnInAnotherCallBeforeItsTimeIsOver(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.hook(hook1, "ordering", "fifo")
	for n := range int64(9) {
		f.apply(f.task(fmt.Sprintf("task_%d", n), 1))
	}
	f.answer = func(received) (*http.Response, error) {
		f.now = f.now.Add(14 * time.Second)
		return reply(200), nil
	}
	payload := f.invoked[0]
	f.invoked = nil
	ctx, cancel := context.WithDeadline(t.Context(), f.now.Add(2*time.Minute))
	defer cancel()
	end := f.now.Add(2 * time.Minute)
	f.NoError(f.worker.Work(ctx, payload))
	f.True(f.now.Before(end))
	f.Len(f.got, 8)
	f.Len(f.invoked, 1, "another call goes on")
	f.work()
	f.Len(f.got, 9)
}

func TestWorker_sendsToNoAddressThatMayNotBeCalled(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.hook(hook1)
	f.apply(f.task("task_a", 1))
	f.answer = func(received) (*http.Response, error) {
		return nil, fmt.Errorf("%w: 169.254.169.254", outbound.ErrRefused)
	}
	f.work()
	list, _, err := f.endpoints.List(t.Context(), user, hook1, webhook.Filter{}, "", 10)
	f.NoError(err)
	f.Equal("the address may not be called", list[0].Attempts[0].Text)
	f.Equal("pending", list[0].State)
	f.False(list[0].NextAt.IsZero())
}

func TestMaster_givesEachEndpointOfEachUserAnotherSecret(t *testing.T) {
	t.Parallel()
	f := setup(t)
	hook := f.hook(hook1)
	other := hook.Clone()
	other["webhookId"] = item.String(hook2)
	rotated := hook.Clone()
	rotated["generation"] = item.Int(2)
	master := f.master
	seen := map[webhook.Keys]bool{
		master.KeysOf(user, hook): true, master.KeysOf("bob", hook): true, master.KeysOf(user, other): true,
		master.KeysOf(user, rotated): true,
	}
	f.Len(seen, 4)
	f.Equal(master.KeysOf(user, hook), master.KeysOf(user, hook))
	again, err := webhook.ParseMaster(master.Text())
	f.NoError(err)
	f.Equal(master, again)
	f.NotContains(fmt.Sprintf("%v %+v %s", master, master, master), master.Text())
	for _, bad := range []string{"", "abc", master.Text() + "A"} {
		_, err := webhook.ParseMaster(bad)
		f.ErrorIs(err, webhook.ErrMaster)
	}
}

// If each invocation gets lost, a schedule makes up for it within four minutes, however many records follow.
// Of a user without endpoints a batch costs one query of one unit, and of a user without events nothing.
// A message that comes while the lane is given back finds it taken. The one who gives it back looks once more.
func TestWorker_looksAgainAfterItHasGivenTheLaneBack(t *testing.T) {
	t.Parallel()
	f := setup(t)
	writes := 0
	store := memory.New(func() time.Time { return f.now }, memory.Options{Fault: func(c memory.Call) error {
		if c.Op != "Update" || c.Stage != memory.Before || !strings.HasPrefix(c.Keys[0].SK, outbox.RowLane) {
			return nil
		}
		if writes++; writes == 3 { // it was taken, and what it says of the endpoint was written
			f.apply(f.task("task_late", 1))
			f.work()
		}
		return nil
	}})
	f.store, f.box.Store, f.worker.Store = store, store, store
	f.hook(hook1)
	f.apply(f.task("task_a", 1))
	f.work()
	f.Len(f.got, 2)
	f.Empty(f.rows(outbox.RowOut))
}
