package simulate

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	"nexus/pkg/webhook"
)

// What docs/webhooks.md says.
const (
	attemptsOfMessage = 10
	failingFor        = 5 * 24 * time.Hour
	tooLate           = 29 * 24 * time.Hour
	// leaseOfLane is less than the lease of a worker on a lane: one that took no longer has not lost it.
	leaseOfLane = 50 * time.Second
)

// hookLog has what the log of all writes says of webhooks, and what their receivers saw. By it the laws of
// docs/webhooks.md are judged.
type hookLog struct {
	h         *history
	count     int                  // of the records so far: the position of the last one
	endpoints map[string]*endpoint // by id
	receivers map[string]*receiver // by address
	events    map[string]*hookEvent
	open      map[*hookEvent]bool // those that no consumer has finished
	messages  map[string]*told    // by their ids
	outs      map[item.Key]*out
	room      int                    // how many may wait for an endpoint
	lanes     map[item.Key]string    // the endpoint of each
	tests     map[string]string      // the user of each message by which one is tried
	answers   map[*worker][]answered // that a worker got
}

func newHookLog(h *history) hookLog {
	return hookLog{
		h: h, endpoints: map[string]*endpoint{}, receivers: map[string]*receiver{}, events: map[string]*hookEvent{},
		open: map[*hookEvent]bool{}, messages: map[string]*told{}, outs: map[item.Key]*out{},
		lanes: map[item.Key]string{}, tests: map[string]string{}, answers: map[*worker][]answered{},
	}
}

// endpoint is a webhook of a user.
type endpoint struct {
	user, id  string
	row       item.Item // nil once it is deleted
	patterns  []string  // all that it ever asked for
	made      time.Time // according to itself
	idle      int       // the position at which it was last disabled or deleted
	active    int       // the position at which it became active, or got another address
	crowded   int       // the position at which too many waited for it last
	failing   time.Time // when it first failed since its last success; zero for never
	failed    time.Time // when it first failed since it is active
	since     string    // since when that is
	successes int       // answers

	end int    // the position of an answer for which it has to be disabled
	why string // for it
}

func (e *endpoint) isActive() bool { return e.row.Str(entity.AttrStatus) == outbox.StatusActive }

// asks reports whether the patterns have a type of events.
func asks(patterns []string, typ string) bool {
	of, _, _ := strings.Cut(typ, ".")
	return slices.ContainsFunc(patterns, func(p string) bool { return p == "*" || p == typ || p == of+".*" })
}

// receiver answers the requests to an address of a webhook.
type receiver struct {
	answer int // 0 for none
}

// answersOfReceivers are those that a receiver may give.
var answersOfReceivers = []int{200, 200, 204, 204, 202, 500, 503, 429, 404, 301, 410, 0}

// turn has a receiver give another answer. One that is gone stays so.
func (r *receiver) turn(luck *seededRand) {
	if r.answer != http.StatusGone {
		r.answer = pick(luck, answersOfReceivers...)
	}
}

// answered is an answer that a worker got.
type answered struct {
	from     *endpoint
	at       time.Time
	position int
	status   int
	address  string
	isLast   bool // attempt of its message

	successes int // of the endpoint until then
}

// hookEvent is something of which webhooks are told.
type hookEvent struct {
	user, typ, item, delivery string
	version                   int64
	at                        time.Time
	title                     string
	detail                    []byte         // of a reminder
	offered                   map[string]int // the endpoints that take it, each with the position since which
	owed                      map[string]bool
}

// name identifies an event among those of a user.
func (e *hookEvent) name() string {
	return fmt.Sprintf("%s %s %s %d %s", e.user, e.typ, e.item, e.version, e.delivery)
}

// told is a message.
type told struct {
	hook, event, body, state string
	user                     string
	since                    int // the position at which it became pending last
	tries                    int // since then
	isAccepted               bool
	isLeft                   bool // its row is gone
}

func (k *hookLog) living(user string) (out []*endpoint) {
	for _, id := range slices.Sorted(maps.Keys(k.endpoints)) {
		if e := k.endpoints[id]; e.user == user && e.row != nil {
			out = append(out, e)
		}
	}
	return out
}

// position returns how many records there are by now.
func (k *hookLog) position() int {
	k.h.absorb(k.h.current)
	return k.count
}

// take takes in a record.
func (k *hookLog) take(s *userState, r *record, sk entity.SortKey) {
	k.count++
	switch {
	case sk.Prefix == outbox.RowMessage:
		k.takeMessage(s, r, sk)
	case sk.Prefix == outbox.RowOut:
		k.takeOut(s, r, sk)
	case sk.Prefix == outbox.RowLane:
		if delete(k.lanes, r.Key); r.New != nil {
			k.lanes[r.Key] = sk.Components[0]
		}
	case sk.Prefix == outbox.TypeWebhook:
		k.takeEndpoint(s, r, sk.Ref().ID)
	case !sk.IsRow() && sk.Prefix != entity.TypeUserMeta:
		k.takeItem(s, r, sk.Ref())
	}
}

// takeItem takes in a change of an item, by the table of types in docs/webhooks.md.
func (k *hookLog) takeItem(s *userState, r *record, ref entity.Ref) {
	e := &hookEvent{
		user: s.user, item: ref.ID, version: r.New.Int(entity.AttrVersion), at: r.Created.Truncate(time.Second),
		title: r.New.Str(entity.AttrTitle),
	}
	isRestored := r.New.Has(entity.AttrRestoredAt) &&
		!item.Equal(r.New[entity.AttrRestoredAt], r.Old[entity.AttrRestoredAt])
	status := r.New.Str(entity.AttrStatus)
	what := "updated"
	switch {
	case r.New == nil:
		e.version = r.Old.Int(entity.AttrVersion) + 1
		if what = "deleted"; r.Expired {
			what = "expired"
		}
	case isRestored:
		what = "restored"
	case r.Old == nil:
		what = "created"
	case r.Old.Int(entity.AttrVersion) == e.version:
		return
	case status != "" && status != r.Old.Str(entity.AttrStatus):
		what = strings.ToLower(status)
	}
	e.typ = strings.ToLower(ref.Type) + "." + what
	k.begin(r.Sequence, e)
}

// begin takes in an event, and offers it to the endpoints that are active.
func (k *hookLog) begin(id string, e *hookEvent) {
	e.offered, e.owed = map[string]int{}, map[string]bool{}
	k.events[id], k.events[e.name()], k.open[e] = e, e, true
	for _, hook := range k.living(e.user) {
		k.offer(e, hook)
	}
}

// offer notes that an endpoint takes an event (W1): from the second of its creation on.
func (k *hookLog) offer(e *hookEvent, hook *endpoint) {
	if hook.isActive() && asks(hook.row.Strings(outbox.AttrEventTypes), e.typ) &&
		!e.at.Before(hook.made.Truncate(time.Second)) {
		e.offered[hook.id] = k.count
	}
}

// takeReminder takes in that a reminder is due. It returns nil for one that is known to be handled.
func (k *hookLog) takeReminder(detail []byte) *hookEvent {
	var d struct {
		DeliveryID, UserID, ItemID string
		OccurredAt                 time.Time
	}
	if err := json.Unmarshal(detail, &d); err != nil {
		k.h.violate("I5", "", string(detail), "%v", err)
		return nil
	}
	e := &hookEvent{
		user: d.UserID, typ: "reminder.due", item: d.ItemID, delivery: d.DeliveryID, at: d.OccurredAt, detail: detail,
	}
	if known := k.events[e.name()]; known != nil {
		return known
	}
	k.begin("due "+d.DeliveryID, e)
	return e
}

// begun returns the position at which a call of a consumer begins.
func (k *hooks) begun(consumer string) (position, moment int) {
	if k == nil || consumer != webhook.Name {
		return 0, 0
	}
	return k.position(), k.h.watch.moment()
}

// applied takes in that the consumer has finished a record. began is the position at which the call began.
func (k *hooks) applied(consumer, sequence string, began, moment int) {
	if k == nil || consumer != webhook.Name {
		return
	}
	k.h.watch.handled(sequence, "", moment)
	if e := k.events[sequence]; e != nil {
		k.finish(e, began)
	}
}

// finish ends an event: the endpoints that took it all through the call have to be told (W1).
func (k *hookLog) finish(e *hookEvent, began int) {
	k.position()
	if !k.open[e] {
		return
	}
	delete(k.open, e)
	for id, since := range e.offered {
		if since <= began {
			e.owed[id] = true
		}
	}
}

// takeEndpoint takes in a change of an endpoint.
func (k *hookLog) takeEndpoint(s *userState, r *record, id string) {
	e := k.endpoints[id]
	if e == nil {
		e = &endpoint{user: s.user, id: id}
		k.endpoints[id] = e
	}
	if e.user != s.user {
		k.h.violate("I9", s.user, id, "is an endpoint of %s", e.user)
	}
	before := e.row
	if e.row = r.New; r.Old == nil {
		e.made, _ = r.New.Time(entity.AttrCreatedAt)
	}
	types := r.New.Strings(outbox.AttrEventTypes)
	e.patterns = append(e.patterns, types...)
	wasActive := before.Str(entity.AttrStatus) == outbox.StatusActive
	if !e.isActive() {
		e.idle = k.count
		k.checkDisabled(e, r, wasActive)
	}
	if e.isActive() && (!wasActive || before.Str(outbox.AttrURL) != r.New.Str(outbox.AttrURL)) {
		e.active, e.failing, e.end = k.count, time.Time{}, 0
		if since := r.New.Str(outbox.AttrActiveSince); since != e.since { // two within a second count as one
			e.since, e.failed = since, time.Time{}
		}
	}
	for open := range k.open {
		if open.user != e.user {
			continue
		}
		if wasActive != e.isActive() || !slices.Equal(types, before.Strings(outbox.AttrEventTypes)) {
			delete(open.offered, id)
		}
		if r.Old == nil {
			k.offer(open, e)
		}
	}
}

// checkDisabled checks why the system disables an endpoint (W5).
func (k *hookLog) checkDisabled(e *endpoint, r *record, wasActive bool) {
	if r.New == nil || r.by == commanding || !wasActive {
		return
	}
	h, reason := k.h, r.New.Str(outbox.AttrReason)
	h.happened["webhook disabled: "+reason]++
	switch reason {
	case "gone":
		if one := k.receivers[r.New.Str(outbox.AttrURL)]; one == nil || one.answer != http.StatusGone {
			h.violate("W5", e.user, e.id, "is disabled as gone, and its receiver never said so")
		}
	case "failing":
		if e.failed.IsZero() || h.now.Sub(e.failed) < failingFor-2*maxAhead {
			h.violate("W5", e.user, e.id, "is disabled as failing, and first failed at %s", item.FormatInstant(e.failed))
		}
	default:
		h.violate("W5", e.user, e.id, "is disabled by %s for %q", h.writer.name, reason)
	}
}

// takeMessage takes in a change of a message.
func (k *hookLog) takeMessage(s *userState, r *record, sk entity.SortKey) {
	h, id := k.h, sk.Components[3]
	m := k.messages[id]
	switch {
	case r.Old == nil:
		if m != nil && !m.isLeft {
			h.violate("W2", s.user, id, "has two rows")
		}
		m = &told{user: s.user, hook: sk.Components[0], body: r.New.Str("body"), state: r.New.Str("state"), since: k.count}
		k.messages[id] = m
		k.checkMade(m, id, r, sk)
		return
	case m == nil || m.user != s.user:
		h.violate("I9", s.user, id, "is no message of its user")
		return
	case r.New == nil:
		m.isLeft = true
		if isErased := h.writer != nil && h.writer.kind == erasing; !isErased && (!r.Expired || m.state == "pending") {
			h.violate("W1", s.user, id, "leaves while it is %s", m.state)
		}
		return
	}
	if r.New.Str("body") != m.body {
		h.violate("W2", s.user, id, "has another body than before")
	}
	before, state := m.state, r.New.Str("state")
	if m.state = state; state == before {
		return
	}
	switch {
	case state == "pending":
		if h.writer == nil || !strings.HasPrefix(h.writer.name, sendingAgain) {
			h.violate("W1", s.user, id, "is %s, and pending again", before)
		}
		m.since, m.tries = k.count, 0
	case before != "pending":
		h.violate("W1", s.user, id, "goes from %s to %s", before, state)
	default:
		k.checkEnded(m, id, r, sk)
	}
}

// checkMade checks a message when it is put: it is about an event of its user's that its endpoint asks for.
func (k *hookLog) checkMade(m *told, id string, r *record, sk entity.SortKey) {
	h := k.h
	var body struct {
		Type      string
		Timestamp time.Time
		Data      struct {
			ID, EntityType, DeliveryID, Title string
			Version                           int64
		}
	}
	if err := json.Unmarshal([]byte(m.body), &body); err != nil {
		h.violate("W2", m.user, id, "is no JSON: %v", err)
		return
	}
	e := k.endpoints[m.hook]
	if e == nil || e.user != m.user {
		h.violate("I9", m.user, id, "is for the endpoint %s, which is not its user's", m.hook)
		return
	}
	h.happened["message "+body.Type]++
	if body.Type == "webhook.test" {
		if body.Data.ID != m.hook {
			h.violate("I9", m.user, id, "tries another endpoint: %s", m.body)
		}
		return
	}
	want := &hookEvent{
		user: m.user, typ: body.Type, item: body.Data.ID, version: body.Data.Version, delivery: body.Data.DeliveryID,
	}
	event := k.events[want.name()]
	isFull := e.row.Str(outbox.AttrContent) == outbox.ContentFull
	switch m.event = want.name(); {
	case event == nil:
		h.violate("W1", m.user, id, "tells of what never happened: %s", m.body)
	case !asks(e.patterns, body.Type):
		h.violate("W1", m.user, id, "tells of what its endpoint does not ask for: %s", m.body)
	case !event.at.Equal(body.Timestamp) || event.at.Before(e.made.Truncate(time.Second)):
		h.violate("W1", m.user, id, "happened at %s: %s", item.FormatInstant(event.at), m.body)
	case event.title != "" && body.Data.Title != "" && (body.Data.Title != event.title || e.row != nil && !isFull):
		h.violate("I9", m.user, id, "says more than its endpoint asks for, or another title: %s", m.body)
	case m.state == "dead":
		k.checkEnded(m, id, r, sk)
	case m.state != "pending":
		h.violate("W1", m.user, id, "begins as %s", m.state)
	}
}

// checkEnded checks why a message is sent no more (W1).
func (k *hookLog) checkEnded(m *told, id string, r *record, sk entity.SortKey) {
	h, e, reason := k.h, k.endpoints[m.hook], r.New.Str("reason")
	if !r.New.Has(entity.AttrTTL) {
		h.violate("W1", m.user, id, "stays for ever")
	}
	isRight := false
	switch m.state + " " + reason {
	case "done ":
		isRight = m.isAccepted
	case "dead failed":
		isRight = m.tries >= attemptsOfMessage
	case "dead disabled", "dead deleted":
		isRight = e.idle > 0 && (!e.isActive() || e.idle > m.since)
	case "dead full":
		isRight = k.isFull(e, sk)
	case "dead late":
		event := k.events[m.event]
		isRight = event != nil && h.now.Sub(event.at) > tooLate-2*maxAhead
	}
	h.happened["message "+m.state+" "+reason]++
	if !isRight {
		h.violate("W1", m.user, id, "is %s %s after %d attempts, accepted %t", m.state, reason, m.tries, m.isAccepted)
	}
}
