package simulate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"nexus/pkg/bus"
	"nexus/pkg/deliver"
	"nexus/pkg/system"
)

// phones are the devices of users on which reminders are told, with their push services. They are played where a user
// leaves. What a push service saw is the log by which the laws of docs/push.md are judged.
type phones struct {
	h        *history
	of       map[string]map[string]*phone // by user and id, those that should be registered
	services map[string]*pushService      // by endpoint
	events   map[string]*ringing          // by deliveryId
	due      []*ringing                   // that deliver has to handle, once or again
	handled  []*ringing                   // that may come again
	renewals int
}

// phone is a registered device.
type phone struct {
	endpoint string
	// at is when it was registered last, and left how many devices of its id had left before.
	at   time.Time
	left int
}

// pushService takes messages at an endpoint.
type pushService struct {
	user, id string
	answer   int // 0 for none
	gave     map[int]bool
	accepted map[string]bool // deliveries
}

// ringing is an event of the bus.
type ringing struct {
	id, user string
	detail   []byte
	until    time.Time
	acts     map[string]string // by device: the path of the action
	owed     map[string]bool   // devices that were registered all through a handling without an error
	without  map[string]bool   // devices that left while it was known
}

// answersOfPhones are those that a push service may give.
var answersOfPhones = []int{201, 201, 201, 201, 404, 410, 429, 500, 503, 400, 413, 403, 301, 0}

// phoneIDs name a user's devices.
var phoneIDs = []string{"00000000-0000-4000-8000-00000000a001", "00000000-0000-4000-8000-00000000a002"}

// openPhones gives ports what telling devices needs, where devices are played.
func (h *history) openPhones(p system.Ports) system.Ports {
	if h.leaver == nil {
		return p
	}
	h.phones = &phones{
		h: h, of: map[string]map[string]*phone{}, services: map[string]*pushService{}, events: map[string]*ringing{},
	}
	for _, user := range h.users {
		h.phones.of[user] = map[string]*phone{}
	}
	p.Pushes = &system.Pushes{Sender: h.phones, Key: "key", CheckEndpoint: func(string) error { return nil }}
	return p
}

// usePhones lets users use their devices, and deliver work on events, some of which come again.
func (h *history) usePhones() {
	p := h.phones
	if p == nil || h.violation != nil {
		return
	}
	switch n := h.luck.IntN(12); {
	case n < 2:
		p.register(h.users[h.luck.IntN(len(h.users))], phoneIDs[h.luck.IntN(len(phoneIDs))])
	case n == 2:
		p.remove(h.users[h.luck.IntN(len(h.users))], phoneIDs[h.luck.IntN(len(phoneIDs))])
	case n < 5:
		for _, endpoint := range slices.Sorted(maps.Keys(p.services)) {
			if s := p.services[endpoint]; p.isPresent(endpoint) && h.luck.one(2) {
				s.answer = pick(h.luck, answersOfPhones...)
			}
		}
	case n == 5 && len(p.handled) > 0:
		e := p.handled[h.luck.IntN(len(p.handled))]
		if h.now.Before(e.until.Add(48 * time.Hour)) {
			h.happened["reminder comes to deliver again"]++
			h.begin(p.bring(e))
		}
	}
	for len(p.due) > 0 && !h.luck.one(4) {
		h.begin(p.next())
	}
	p.checkPhones()
}

// bringAll has deliver handle all events that are due, once. It reports whether there were any.
func (p *phones) bringAll() (moved bool) {
	if p == nil {
		return false
	}
	for n := len(p.due); n > 0 && p.h.violation == nil; n-- {
		p.h.run(p.next(), -1)
		moved = true
	}
	return moved
}

// register registers a device, or renews it under another endpoint.
func (p *phones) register(user, id string) {
	h := p.h
	if h.isAway(user) {
		return
	}
	p.renewals++
	endpoint := fmt.Sprintf("https://push.example.com/%d", p.renewals)
	p.services[endpoint] = &pushService{
		user: user, id: id, answer: pick(h.luck, answersOfPhones...), gave: map[int]bool{}, accepted: map[string]bool{},
	}
	_, err := deliver.NewDevices(h.store, h.clock).Put(noContext, user, deliver.Device{ID: id, Endpoint: endpoint}, 0)
	if err != nil {
		h.violate("port", user, id, "%v", err)
	}
	h.absorb(nil)
	one := p.of[user][id]
	if one == nil {
		one = &phone{left: p.renewals}
		p.of[user][id] = one
	}
	one.endpoint, one.at = endpoint, h.now
	h.happened["device registered"]++
	h.note("%s registers device %s at %s", user, id, endpoint)
}

// remove has a user end a registration.
func (p *phones) remove(user, id string) {
	h := p.h
	if h.isAway(user) || p.of[user][id] == nil {
		return
	}
	if err := deliver.NewDevices(h.store, h.clock).Delete(noContext, user, id); err != nil {
		h.violate("port", user, id, "%v", err)
	}
	h.absorb(nil)
	p.leave(user, id)
	h.happened["device removed by its user"]++
	h.note("%s removes device %s", user, id)
}

// leave notes that a device has left.
func (p *phones) leave(user, id string) {
	delete(p.of[user], id)
	for _, e := range p.events {
		if e.user == user {
			e.without[id] = true
		}
	}
}

// isPresent reports whether an endpoint is the present one of a device.
func (p *phones) isPresent(endpoint string) bool {
	s := p.services[endpoint]
	one := p.of[s.user][s.id]
	return one != nil && one.endpoint == endpoint
}

// published takes in an event of the bus.
func (p *phones) published(e bus.Event) {
	if p == nil {
		return
	}
	var detail struct {
		DeliveryID, UserID        string
		OccurredAt, OccurrenceUtc time.Time
		Notify                    struct{ Browser bool }
	}
	if err := json.Unmarshal(e.Detail, &detail); err != nil {
		p.h.violate("I5", "", string(e.Detail), "%v", err)
		return
	}
	one := p.events[detail.DeliveryID]
	if one == nil {
		one = &ringing{
			id: detail.DeliveryID, user: detail.UserID, detail: e.Detail, acts: map[string]string{}, owed: map[string]bool{},
			without: map[string]bool{}, until: endOf(detail.OccurredAt, detail.OccurrenceUtc),
		}
		p.events[detail.DeliveryID] = one
	}
	p.due = append(p.due, one)
}

// endOf returns the end of a delivery: an hour behind its occurrence, at least an hour and at most a day behind the
// instant at which it was decided.
func endOf(fired, occurrence time.Time) time.Time {
	end := occurrence.Add(time.Hour)
	if least := fired.Add(time.Hour); end.Before(least) {
		return least
	}
	if most := fired.Add(24 * time.Hour); end.After(most) {
		return most
	}
	return end
}

// next begins the handling of the event that waits longest.
func (p *phones) next() *worker {
	e := p.due[0]
	p.due = p.due[1:]
	return p.bring(e)
}

// bring begins the handling of an event. One that fails is repeated, and an operator redrives what failed each time.
func (p *phones) bring(e *ringing) *worker {
	var err error
	p.checkPhones()
	registered := maps.Clone(p.of[e.user])
	lefts := map[string]int{}
	for id, one := range registered {
		lefts[id] = one.left
	}
	w := &worker{kind: telling, name: "deliver " + e.id}
	again := func() { p.due = append(p.due, e) }
	w.lost = again
	w.finished = func() {
		if err != nil {
			p.h.note("%s: %v", w.name, err)
			again()
			return
		}
		p.checkPhones()
		for id, left := range lefts {
			if one := p.of[e.user][id]; one != nil && one.left == left {
				e.owed[id] = true
			}
		}
		if !slices.Contains(p.handled, e) {
			p.handled = append(p.handled, e)
		}
	}
	return p.h.start(w, func(ctx context.Context) { err = p.h.system.Deliverer.Handle(ctx, e.detail) }, e.user)
}

// isPush reports whether the payload of a schedule is deliver's.
func isPush(payload []byte) bool {
	var call struct{ DeviceID string }
	return json.Unmarshal(payload, &call) == nil && call.DeviceID != ""
}

// errNoAnswer says that a push service did not answer.
var errNoAnswer = errors.New("no answer in time")

// Send implements [deliver.Sender].
func (p *phones) Send(_ context.Context, in deliver.Push) (deliver.Answer, error) {
	began := p.h.clock() // the message may wait for a while until it reaches the push service
	f := p.h.call("push service", "send")
	if f == failBefore {
		return deliver.Answer{}, errNoAnswer
	}
	s := p.services[in.Endpoint]
	if s == nil {
		p.h.violate("D3", "", in.Endpoint, "is called, and no device has it")
		return deliver.Answer{}, errNoAnswer
	}
	status := s.answer
	if p.h.settling && status != http.StatusNotFound && status != http.StatusGone {
		status = http.StatusCreated
	}
	delivery := p.checkMessage(s, in, began)
	s.gave[status] = true
	if status == http.StatusCreated || status == 0 {
		s.accepted[delivery] = true // perhaps, where there is no answer
	}
	p.h.happened[fmt.Sprintf("push answered %d", status)]++
	p.h.after(f)
	if f == failAfter || status == 0 {
		return deliver.Answer{}, errNoAnswer
	}
	answer := deliver.Answer{Status: status}
	if status == http.StatusTooManyRequests && p.h.luck.one(2) {
		answer.RetryAfter = time.Duration(1+p.h.luck.IntN(600)) * time.Second
	}
	return answer, nil
}
