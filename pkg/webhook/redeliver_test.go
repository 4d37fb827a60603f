package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"nexus/pkg/item"
	"nexus/pkg/table"
	"nexus/pkg/webhook"
)

func TestEndpoints_sendAgainWhatADryRunFinds(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.hook(hook1)
	f.answer = func(r received) (*http.Response, error) {
		if strings.Contains(r.body, "task_bad") {
			return reply(410), nil
		}
		return reply(200), nil
	}
	for n := range int64(1203) {
		f.apply(f.task(fmt.Sprintf("task_%04d", n), 1))
	}
	f.work()
	f.Empty(f.rows("OUT"))
	first := len(f.got)
	f.Equal(1203, first)
	run := func(filter webhook.Filter, isDry bool) (total, calls int) {
		place := ""
		for {
			n, rest, err := f.endpoints.Redeliver(t.Context(), user, hook1, filter, place, isDry)
			f.NoError(err)
			total, calls, place = total+n, calls+1, rest
			if rest == "" {
				return total, calls
			}
			f.True(webhook.CheckPlace(rest))
		}
	}
	dry, calls := run(webhook.Filter{State: "done"}, true)
	f.Equal(1203, dry)
	f.Equal(2, calls)
	f.Empty(f.rows("OUT"), "a dry run sends nothing")
	wet, _ := run(webhook.Filter{State: "done"}, false)
	f.Equal(dry, wet)
	f.False(f.rows("MSG")[0].Has("ttl"))
	f.work()
	f.Len(f.got, 2*first)
	ids := map[string]int{}
	for _, one := range f.got {
		ids[one.id+one.body]++
	}
	f.Len(ids, first, "id and body are those of before")
	none, _ := run(webhook.Filter{State: "dead"}, true)
	f.Zero(none)
	for kind, want := range map[string]int{
		"*": first, "task.*": first, "task.created": first, "note.*": 0, "task.deleted": 0,
	} {
		n, _ := run(webhook.Filter{Type: kind}, true)
		f.Equal(want, n, kind)
	}
	one, _ := run(webhook.Filter{IDs: []string{f.got[7].id}}, false)
	f.Equal(1, one)
	none, _ = run(webhook.Filter{To: f.now.Add(-time.Second)}, true)
	f.Zero(none)
}

func TestEndpoints_keepTheAttemptsOfBeforeWhenTheySendAgain(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.hook(hook1)
	f.answers(500)
	f.apply(f.task("task_a", 1))
	f.work()
	f.set(hook1, "status", "DISABLED")
	f.True(f.next())
	f.Equal("dead", f.rows("MSG")[0].Str("state"))
	f.set(hook1, "status", "ACTIVE")
	f.answers(200)
	n, _, err := f.endpoints.Redeliver(t.Context(), user, hook1, webhook.Filter{}, "", false)
	f.NoError(err)
	f.Equal(1, n)
	list, _, err := f.endpoints.List(t.Context(), user, hook1, webhook.Filter{}, "", 10)
	f.NoError(err)
	f.Equal("pending", list[0].State)
	f.EqualValues(500, list[0].Attempts[0].Status)
	before := len(list[0].Attempts)
	f.work()
	list, _, err = f.endpoints.List(t.Context(), user, hook1, webhook.Filter{}, "", 10)
	f.NoError(err)
	f.Equal("done", list[0].State)
	f.Len(list[0].Attempts, before+1)
	f.EqualValues(200, list[0].Attempts[before].Status)
}

// A deployment's API sets no schedule. It dies between the rows and the call of the worker, and they are sent.
func TestEndpoints_haveAWorkerCalledBeforeTheyPutWhatItSends(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(*fixture) error{
		"test": func(f *fixture) error {
			_, err := f.endpoints.Test(t.Context(), user, hook1)
			return err
		},
		"redeliver": func(f *fixture) error {
			_, _, err := f.endpoints.Redeliver(t.Context(), user, hook1, webhook.Filter{}, "", false)
			return err
		},
	} {
		f := setup(t)
		f.hook(hook1)
		f.apply(f.task("task_a", 1))
		f.work()
		sent := len(f.got)
		f.invoked = nil
		dead := errors.New("the process is gone")
		f.endpoints.Scheduler = nil
		f.endpoints.Invoke = func(_ context.Context, payload []byte) error {
			if f.invoked = append(f.invoked, payload); len(f.invoked) > 1 {
				return dead
			}
			return nil
		}
		f.ErrorIs(ask(f), dead, name)
		f.Len(f.rows("OUT"), 1, name)
		f.NoError(f.worker.Work(t.Context(), f.invoked[0]))
		f.Len(f.got, sent, name+": the messages may come later than this call")
		f.now = f.now.Add(4 * time.Minute)
		due, ok := f.schedules.Take(f.now)
		f.True(ok, name)
		f.NoError(f.worker.Work(t.Context(), due.Payload))
		f.Len(f.got, sent+1, name)
		f.Empty(f.rows("OUT"), name)
	}
}

func TestEndpoints_sendAgainWhatALateWorkerWasAnsweredBefore(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.hook(hook1)
	f.apply(f.task("task_a", 1))
	f.answer = func(received) (*http.Response, error) {
		if len(f.got) == 1 { // another worker ends the message while this one waits, and its user asks for it again
			message := f.message()
			f.NoError(f.store.Delete(t.Context(), table.Delete{Key: f.rows("OUT")[0].Key()}))
			message["state"] = item.String(webhook.StateDone)
			f.put(message)
			n, _, err := f.endpoints.Redeliver(t.Context(), user, hook1, webhook.Filter{}, "", false)
			f.NoError(err)
			f.Equal(1, n)
		}
		return reply(200), nil
	}
	f.work()
	f.Len(f.got, 2)
	f.Equal(webhook.StateDone, f.message().Str("state"))
	f.Empty(f.rows("OUT"))
}
