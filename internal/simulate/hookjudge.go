package simulate

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Do implements [webhook.Client]: it is the receiver of all endpoints.
func (k *hooks) Do(request *http.Request) (*http.Response, error) {
	h := k.h
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	begun := h.now
	f := h.call("receiver", "request")
	sent := h.watch.request(request, body, begun)
	e, m := k.checkRequest(request, string(body))
	if h.violation != nil {
		return nil, errNoAnswer
	}
	status := k.receivers[request.URL.String()].answer
	if h.settling && status != http.StatusGone {
		status = http.StatusNoContent
	}
	if f != failBefore && (status/100 == 2 || status == 0) {
		m.isAccepted = true // perhaps, where there is no answer
	}
	h.happened[fmt.Sprintf("webhook answered %d", status)]++
	h.after(f)
	if f == failBefore || f == failAfter {
		status = 0
	}
	switch {
	case status/100 == 2:
		e.successes++
		e.failing = time.Time{}
	case e.failed.IsZero():
		e.failed = h.now // by a worker that knew an earlier address, too
	}
	k.answers[h.current] = append(k.answers[h.current], answered{
		from: e, at: h.now, position: k.count, status: status, successes: e.successes, isLast: m.tries >= attemptsOfMessage,
		address: request.URL.String(),
	})
	header := http.Header{}
	if status == http.StatusTooManyRequests && h.luck.one(2) {
		header.Set("Retry-After", strconv.Itoa(1+h.luck.IntN(7200)))
	}
	h.watch.answer(sent, status, header.Get("Retry-After"))
	if status == 0 {
		return nil, errNoAnswer
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(bytes.NewReader(nil))}, nil
}

// checkRequest checks a request when it reaches a receiver: it is a message of the receiver's user that was put before
// (W1), with the id and body of the attempts before (W2), in its turn (W3), to an endpoint that is active (W5).
func (k *hooks) checkRequest(request *http.Request, body string) (*endpoint, *told) {
	h, id := k.h, request.Header.Get("Webhook-Id")
	k.position()
	m := k.messages[id]
	if m == nil || m.isLeft {
		h.violate("W1", "", id, "is sent before its row is put: %s", body)
		return nil, nil
	}
	e := k.endpoints[m.hook]
	m.tries++
	switch address := request.URL.String(); {
	case !h.current.users[m.user] || e == nil || e.user != m.user:
		h.violate("I9", m.user, id, "is sent by %s", h.current.name)
	case k.receivers[address] == nil || !k.had(e, address):
		h.violate("I9", m.user, id, "is sent to %s, which is no address of its endpoint", address)
	case m.body != body:
		h.violate("W2", m.user, id, "is sent as %s, and is %s", body, m.body)
	case !e.isActive() && e.idle <= h.current.hooksSeen:
		h.violate("W5", m.user, id, "is sent to an endpoint that is %s", e.row.Str(entity.AttrStatus))
	case h.isGone(m.user) && h.now.Sub(h.leaver.begun) > settled && !h.leaver.isBack:
		h.violate("E1", m.user, id, "is sent, and the account is %s", h.leaver.state)
	}
	k.checkOrder(e, m, id)
	return e, m
}

// had reports whether an endpoint has an address, or had it.
func (k *hookLog) had(e *endpoint, address string) bool {
	return slices.ContainsFunc(k.h.stream.log, func(r *record) bool {
		return r.Key == entity.ItemKey(e.user, entity.Ref{Type: outbox.TypeWebhook, ID: e.id}) &&
			r.New.Str(outbox.AttrURL) == address
	})
}

// noteRead notes that a worker reads the outbox.
func (k *hooks) noteRead(q table.Query) {
	if k != nil && k.h.current != nil && strings.HasPrefix(q.Range.Prefix, outbox.Outs()) {
		k.h.current.outsSeen = k.position()
	}
}

// checkOrder checks W3: nothing of an item is attempted before its earlier versions, as far as the worker could read
// them in the outbox, are done or dead.
func (k *hooks) checkOrder(e *endpoint, m *told, id string) {
	event := k.events[m.event]
	if event == nil || event.version == 0 || e.row.Str(outbox.AttrOrdering) != outbox.OrderingFifo {
		return
	}
	for _, o := range k.outs {
		if o.hook == e.id && o.item == event.item && o.version > 0 && o.version < event.version &&
			o.since <= k.h.current.outsSeen {
			k.h.violate("W3", m.user, id, "tells of version %d before version %d is done or dead", event.version, o.version)
		}
	}
}

// countAnswers counts the answers that a worker got, which has ended well and has not lost its lane, for W5.
func (k *hookLog) countAnswers(w *worker) {
	all := k.answers[w]
	delete(k.answers, w)
	if k.h.now.Sub(w.begun) >= leaseOfLane {
		return
	}
	for _, a := range all {
		e := a.from
		isPast := a.address != e.row.Str(outbox.AttrURL) || a.position < e.active || a.successes != e.successes
		if isPast || a.status/100 == 2 {
			continue
		}
		if e.failing.IsZero() {
			e.failing = a.at
		}
		switch {
		case a.isLast:
		case a.status == http.StatusGone:
			e.end, e.why = a.position, "answered 410"
		case a.at.Sub(e.failing) > failingFor+2*maxAhead:
			e.end, e.why = a.position, "has failed since "+item.FormatInstant(e.failing)
		}
	}
}

// checkTold checks, when all is quiet, that each event of which an endpoint has to be told is done or dead, that
// nothing waits (W1), and that endpoints that had to be disabled are (W5).
func (k *hooks) checkTold() {
	if k == nil {
		return
	}
	h := k.h
	h.absorb(nil)
	for key, o := range k.outs {
		if !h.isGone(o.user) {
			h.violate("W1", o.user, key.SK, "waits, and nothing calls for it")
		}
	}
	ended := map[string]bool{}
	for id, m := range k.messages {
		if m.state == "pending" && !m.isLeft && !h.isGone(m.user) {
			h.violate("W1", m.user, id, "is neither done nor dead")
		}
		ended[m.hook+" "+m.event] = true
	}
	for _, e := range k.events {
		for id := range e.owed {
			if !ended[id+" "+e.name()] && !h.isGone(e.user) {
				h.violate("W1", e.user, e.name(), "was not told to %s", id)
			}
		}
	}
	for id, user := range k.tests {
		if k.messages[id] == nil {
			h.violate("W1", user, id, "was answered to its user, and is no message")
		}
	}
	for _, e := range k.endpoints {
		if e.isActive() && e.end > e.active && !h.isGone(e.user) {
			h.violate("W5", e.user, e.id, "is active, and %s", e.why)
		}
	}
	for key, id := range k.lanes {
		if e := k.endpoints[id]; e == nil || e.row == nil && !h.isGone(e.user) {
			h.violate("W1", userOf(key), key.SK, "is the lane of no endpoint")
		}
	}
}
