package simulate

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"nexus/pkg/webhook"
)

// invoke takes a call of the worker that nothing waits for.
func (k *hooks) invoke(_ context.Context, payload []byte) error {
	f := k.h.call("invocation", "invoke")
	if f == failBefore {
		return errNoAnswer
	}
	k.invoked = append(k.invoked, payload)
	k.h.after(f)
	if f == failAfter {
		return errNoAnswer
	}
	return nil
}

// next begins the call that waits longest, or one of those behind it if that one gets lost. A lost call is made up for
// by a schedule.
func (k *hooks) next() *worker {
	payload := k.invoked[0]
	k.invoked = k.invoked[1:]
	if k.h.luck.misfortune(k.h) && k.h.luck.one(5) {
		k.h.happened["call of webhooks lost"]++
		payload = []byte(`{}`)
	}
	return k.work(payload, func() {})
}

// stall has a call of the worker stand still between a request and its outcome until its lease is over. Another call
// works, and sometimes the user has all sent again, before the first one goes on.
func (k *hooks) stall() {
	h, payload := k.h, k.invoked[0]
	late := k.next()
	for _, op := range []string{"request", pick(h.luck, "Transact", "Update")} {
		late.until = op
		if h.run(late, -1); late.ended {
			return
		}
	}
	h.happened["worker of webhooks stands still"]++
	for range 2 {
		h.pass(40 * time.Second)
	}
	h.run(k.work(payload, func() {}), -1)
	if user := userOfPayload(payload); h.luck.one(2) && !h.isAway(user) {
		k.sendAgain(user, hookOfPayload(payload))
	}
	if !late.ended && h.luck.one(2) {
		h.run(late, -1)
	}
}

// work begins a call of the worker; again is what repeats it, if it fails.
func (k *hooks) work(payload []byte, again func()) *worker {
	h := k.h
	var err error
	w := &worker{kind: telling, name: describe("webhook %s", payload), lost: again}
	w.finished = func() {
		if malformed := (*webhook.CallError)(nil); err != nil && !errors.As(err, &malformed) {
			h.note("%s: %v", w.name, err)
			again()
		}
	}
	return h.start(w, func(ctx context.Context) { err = h.system.Hooks.Work(ctx, payload) }, userOfPayload(payload))
}

// hookOfPayload returns the endpoint that the payload of a schedule names; empty if it is not that of webhooks.
func hookOfPayload(payload []byte) string {
	var call struct{ WebhookID string }
	if json.Unmarshal(payload, &call) != nil {
		return ""
	}
	return call.WebhookID
}
