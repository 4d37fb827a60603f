package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"nexus/internal/simulate/hooklaws"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	"nexus/pkg/system"
	"nexus/pkg/table"
	"nexus/pkg/webhook"
)

// hooks are the webhooks of users with their receivers, and the calls of the worker that are on their way.
type hooks struct {
	h         *history
	typ       *entity.Type
	most      map[string]int // of endpoints, by user
	room      int            // how many messages may wait for an endpoint
	receivers map[string]*receiver
	services  *webhook.Endpoints
	invoked   [][]byte       // calls without a schedule, which may get lost
	due       []hookReminder // those that deliver has to handle, once or again
	handled   []hookReminder // those that may come again
	made      int            // addresses
}

// hookReminder is the event of a reminder that is due.
type hookReminder struct {
	user, delivery string
	at             time.Time
	detail         []byte
}

const (
	// hookedOneIn histories have webhooks.
	hookedOneIn = 4
	// hookedSalt is chosen so that none of the histories that are kept for ever has webhooks: they are older.
	hookedSalt = 0x686f6f6b731029
	// mostHooks is the number of endpoints that a user has at most.
	mostHooks = 3
	// In crowdedOneIn histories with webhooks, at most mostPending messages may wait for an endpoint.
	crowdedOneIn, mostPending = 3, 12
)

// isHooked reports whether the history of a seed has webhooks. The release before knows none, and the judge of limits
// counts no schedules of theirs.
func (h *history) isHooked() bool {
	return newFormer == nil && h.limits == nil && h.luck.crowd == 0 &&
		rand.NewPCG(h.spec.Seed, hookedSalt).Uint64()%hookedOneIn == 0
}

// openHooks gives ports what webhooks need, where they are played.
func (h *history) openHooks(p system.Ports) system.Ports {
	if !h.isHooked() {
		return p
	}
	master, err := webhook.NewMaster(h.luck.bits())
	if err != nil {
		panic("simulate: " + err.Error()) // the source never ends
	}
	k := &hooks{
		h: h, typ: h.registry.ByName(outbox.TypeWebhook), most: map[string]int{}, receivers: map[string]*receiver{},
	}
	luck := rand.New(rand.NewPCG(h.spec.Seed, hookedSalt+1))
	for _, user := range h.users {
		k.most[user] = luck.IntN(mostHooks + 1)
	}
	if k.room = webhook.MaxPending; luck.IntN(crowdedOneIn) == 0 {
		k.room = 1 + luck.IntN(mostPending)
	}
	h.hooks, h.watch = k, newHookWatch(h, master, k.room)
	p.Webhooks = &system.Webhooks{
		Client: k, Master: master, CheckURL: func(string) error { return nil }, Draw: h.luck.Float64, Invoke: k.invoke,
		Most: k.room,
	}
	return p
}

// useHooks lets users use their webhooks, receivers change their minds, and the worker be called.
func (h *history) useHooks() {
	k := h.hooks
	if k == nil || h.violation != nil {
		return
	}
	if k.services == nil {
		k.services = &webhook.Endpoints{Outbox: h.system.Hooks.Outbox, NewID: h.newID}
	}
	switch n := h.luck.IntN(20); {
	case n < 4:
		k.order(h.users[h.luck.IntN(len(h.users))])
	case n < 7:
		for _, address := range slices.Sorted(maps.Keys(k.receivers)) {
			if h.luck.one(2) {
				k.receivers[address].turn(h.luck)
			}
		}
	case n == 7:
		if user, hook := k.someActive(); hook != "" {
			k.sendAgain(user, hook)
		}
	case n == 8:
		k.try()
	case n < 13 && len(k.invoked) > 0:
		k.stall()
	case n == 9 && len(k.handled) > 0:
		if e := k.handled[h.luck.IntN(len(k.handled))]; h.now.Sub(e.at) < 48*time.Hour {
			h.happened["reminder comes to webhooks again"]++
			h.begin(k.bring(e))
		}
	}
	for len(k.invoked) > 0 && !h.luck.one(4) {
		h.begin(k.next())
	}
	for len(k.due) > 0 && !h.luck.one(4) {
		h.begin(k.nextReminder())
	}
}

// order has a user make an endpoint, change one or remove one.
func (k *hooks) order(user string) {
	h := k.h
	living := k.living(user)
	r := &request{Request: command.Request{User: user}}
	if h.asked++; !h.luck.one(3) {
		r.IdempotencyKey = fmt.Sprintf("key-%d-%d", h.step, h.asked)
	}
	switch {
	case len(living) < k.most[user] && (len(living) == 0 || h.luck.one(2)):
		text := fmt.Sprintf(`{"url":%q,"types":%s,"ordering":%q,"content":%q}`, k.address(), k.filter(),
			pick(h.luck, outbox.OrderingParallel, outbox.OrderingFifo), pick(h.luck, outbox.ContentThin, outbox.ContentFull))
		r.Command = command.Create{Type: k.typ, ID: k.typ.IDPrefix + "_" + h.luck.uuid(), Fields: document(text)}
		r.name = "hook " + text
	case len(living) == 0:
		return
	default:
		hook := living[h.luck.IntN(len(living))]
		version := hook.Int(entity.AttrVersion)
		r.ExpectedVersion = &version
		r.Command, r.name = k.change(hook)
		r.name += " " + idOfHook(hook)
	}
	h.begin(h.send(r))
}

// change returns a user's next command on an endpoint.
func (k *hooks) change(hook item.Item) (command.Command, string) {
	id, text := idOfHook(hook), ""
	switch n := k.h.luck.IntN(12); {
	case n == 0:
		return command.Delete{Type: k.typ, ID: id}, "unhook"
	case n < 3:
		return command.CustomCommand{
			Name: "rotateWebhook", Type: k.typ, ID: id,
			Apply: func(before item.Item, now time.Time) (item.Item, error) {
				after := before.Clone()
				after[outbox.AttrGeneration] = item.Int(before.Int(outbox.AttrGeneration) + 1)
				after.SetTime(outbox.AttrRotatedAt, now)
				return after, nil
			},
		}, "rotate"
	case n < 9 && !isActiveHook(hook):
		text = fmt.Sprintf(`{"status":"ACTIVE","url":%q}`, k.address())
	case n < 4:
		text = `{"status":"DISABLED"}`
	case n < 6:
		text = fmt.Sprintf(`{"types":%s}`, k.filter())
	case n < 9:
		text = fmt.Sprintf(`{"url":%q}`, k.address())
	default:
		text = `{"status":"ACTIVE"}`
	}
	return command.Update{Type: k.typ, ID: id, Patch: document(text)}, "rehook " + text
}

// filter returns the types of events that an endpoint is to get.
func (k *hooks) filter() string {
	return pick(k.h.luck, `["*"]`, `["*"]`, `["task.*","reminder.due"]`, `["task.completed","event.*","note.created"]`,
		`["reminder.*","master.updated","instance.*"]`)
}

// living returns the endpoints that a user has, by their ids.
func (k *hooks) living(user string) []item.Item {
	return k.rows(user, entity.ItemPrefix(outbox.TypeWebhook))
}

// rows returns rows of a user as they are in the table.
func (k *hooks) rows(user, prefix string) []item.Item {
	q := table.Query{Partition: entity.UserPK(user), Range: table.Range{Prefix: prefix}}
	rows, err := table.All(noContext, k.h.store, q, 0)
	if err != nil {
		panic("simulate: " + err.Error()) // the store itself has no faults
	}
	return rows
}

func idOfHook(hook item.Item) string { return hook.Str("webhookId") }

func isActiveHook(hook item.Item) bool { return hook.Str(entity.AttrStatus) == outbox.StatusActive }

// someActive draws a user and the id of an endpoint to which messages may be sent; empty if there is none.
func (k *hooks) someActive() (user, id string) {
	h := k.h
	user = h.users[h.luck.IntN(len(h.users))]
	living := k.living(user)
	if len(living) == 0 {
		return "", ""
	}
	if hook := living[h.luck.IntN(len(living))]; isActiveHook(hook) && !h.isAway(user) {
		return user, idOfHook(hook)
	}
	return "", ""
}

// try has a user send a message to an endpoint by which to try it.
func (k *hooks) try() {
	h := k.h
	user, hook := k.someActive()
	if hook == "" {
		return
	}
	var id string
	var err error
	w := &worker{kind: commanding, name: user + " tries " + hook}
	w.finished = func() {
		h.note("%s: %s, %v", w.name, id, err)
		if err == nil {
			h.happened["webhook tried"]++
			h.watch.see(hooklaws.Tried{User: user, Hook: hook, ID: id})
		}
	}
	h.begin(h.start(w, func(ctx context.Context) { id, err = k.services.Test(ctx, user, hook) }, user))
}

// sendAgain has a user ask for messages to an endpoint again.
func (k *hooks) sendAgain(user, hook string) {
	h := k.h
	f := webhook.Filter{State: pick(h.luck, "", webhook.StateDead, webhook.StateDone)}
	w := &worker{kind: commanding, name: "redeliver " + hook}
	h.happened["messages asked for again"]++
	h.begin(h.start(w, func(ctx context.Context) {
		n, _, err := k.services.Redeliver(ctx, user, hook, f, "", false)
		h.note("%s: %d, %v", w.name, n, err)
	}, user))
}

// published takes in that a reminder is due.
func (k *hooks) published(detail []byte) {
	if k == nil {
		return
	}
	var d struct {
		DeliveryID, UserID string
		OccurredAt         time.Time
	}
	if err := json.Unmarshal(detail, &d); err != nil {
		k.h.violate("I5", "", string(detail), "%v", err)
		return
	}
	k.due = append(k.due, hookReminder{d.UserID, d.DeliveryID, d.OccurredAt, detail})
}

// nextReminder begins the handling of the reminder that waits longest.
func (k *hooks) nextReminder() *worker {
	e := k.due[0]
	k.due = k.due[1:]
	return k.bring(e)
}

// bring begins the handling of a reminder. One that fails is repeated.
func (k *hooks) bring(e hookReminder) *worker {
	h := k.h
	var err error
	w := &worker{kind: telling, name: "webhooks of reminder " + e.delivery}
	again := func() { k.due = append(k.due, e) }
	w.lost = again
	began := h.watch.moment()
	w.finished = func() {
		if err != nil {
			h.note("%s: %v", w.name, err)
			again()
			return
		}
		h.watch.handled("", e.delivery, began)
		if !slices.ContainsFunc(k.handled, func(o hookReminder) bool { return o.delivery == e.delivery }) {
			k.handled = append(k.handled, e)
		}
	}
	return h.start(w, func(ctx context.Context) { err = h.system.Hooks.HandleReminder(ctx, e.detail) }, e.user)
}

// bringAll makes all calls that are on their way, once. It reports whether there were any.
func (k *hooks) bringAll() (moved bool) {
	if k == nil {
		return false
	}
	for n := len(k.invoked); n > 0 && k.h.violation == nil; n-- {
		k.h.run(k.next(), -1)
		moved = true
	}
	for n := len(k.due); n > 0 && k.h.violation == nil; n-- {
		k.h.run(k.nextReminder(), -1)
		moved = true
	}
	return moved
}

// waiting counts the messages that wait for an attempt.
func (k *hooks) waiting() (n int) {
	if k == nil {
		return 0
	}
	for _, user := range k.h.users {
		n += len(k.rows(user, outbox.Outs()))
	}
	return n
}

// wake waits for the next call of a worker for whom something waits, also the lane of an endpoint that is gone. It
// reports whether there is one.
func (k *hooks) wake() bool {
	if k == nil || k.h.violation != nil {
		return false
	}
	h := k.h
	users := map[string]bool{}
	for _, user := range h.users {
		lanes := k.rows(user, outbox.Lanes())
		for _, hook := range k.living(user) {
			lanes = slices.DeleteFunc(lanes, func(row item.Item) bool {
				return row.Key() == outbox.LaneKey(user, idOfHook(hook))
			})
		}
		users[user] = !h.isGone(user) && (len(lanes) > 0 || len(k.rows(user, outbox.Outs())) > 0)
	}
	var at time.Time
	for _, one := range h.schedules.Entries() {
		isNext := !one.Called && strings.HasPrefix(one.Name, webhook.SchedulePrefix) && users[userOfPayload(one.Payload)]
		if isNext && (at.IsZero() || one.At.Before(at)) {
			at = one.At
		}
	}
	if at.IsZero() {
		return false // the judge names what waits
	}
	h.now = maxTime(h.now, at)
	return true
}
