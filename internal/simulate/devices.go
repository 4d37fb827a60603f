package simulate

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"nexus/pkg/api"
	"nexus/pkg/changes/changelog"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
	"nexus/pkg/system"
	"nexus/pkg/table"
)

// device is an app on a device: it works on its own copy of its user's data, is brought up to date by the feed, and
// sends what its user changed offline in batches of commands. It does what docs/sync.md asks of a client.
type device struct {
	name  string
	store *deviceStore            // of the user who is signed in
	every map[string]*deviceStore // of every user who ever was

	process          int // a new one begins after each death
	pulling, pushing *worker
	busyUntil        time.Time // the feed's Retry-After
}

// deviceStore holds a device's data of one user. Each change of it is one transaction, so that it survives a death.
type deviceStore struct {
	user  string
	types []string // that it follows; nil for all
	token string   // empty until the first snapshot is complete
	// brought counts what the feed has brought into the store, and the snapshots that were begun.
	brought int
	copied  map[entity.Ref]copied
	// gone are the versions of removals, by what was removed.
	gone map[entity.Ref]int64
	// fresh and cursor are a snapshot in the making; nil for none. The cursor is empty before its first page. isReset
	// asks for one.
	fresh   map[entity.Ref]copied
	cursor  string
	begun   time.Time // when its first page came
	since   time.Time // begun of the snapshot that is the copy
	heard   time.Time // when the token was stored
	isReset bool
	outbox  []*edit
	frozen  []*edit // the batch that was sent and is not answered
}

// copied is a thing in a copy.
type copied struct {
	version int64
	revID   string
	item    item.Item // nil for a head, and for what is owed
	// isOwed says that the feed omitted an exception that its own GET does not show.
	isOwed  bool
	expires time.Time // zero for what stays
	// shown is the entity of the answer to a write, nil for one of the feed.
	shown map[string]any
}

func newDeviceStore(user string, types []string) *deviceStore {
	return &deviceStore{
		user: user, types: types, copied: map[entity.Ref]copied{}, gone: map[entity.Ref]int64{},
	}
}

// fleet are the devices of a history with what they share.
type fleet struct {
	devices []*device
	feed    *query.Service
	form    uint16
	edits   map[string]*edit // by the value that each brings
	byKey   map[string]*edit // by the digest of each key that it was sent under
	all     []*edit
	logs    map[string]*changeLog // by user
	// swallowed are the users of whose records the release before has left no entry.
	swallowed map[string]bool
	lacking   map[string]time.Time // by user, since when a log lacks the entry of a record that never comes
}

// someTypes are the types that a device may follow.
var someTypes = [][]string{
	{product.TypeTask}, {product.TypeNote, product.TypeReminder, changelog.TypePlan},
	{product.TypeEvent, entity.TypeMaster, entity.TypeInstance, changelog.TypeValues},
}

// newFleet gives each user one to three devices, or none of the users any.
func newFleet(h *history) *fleet {
	f := &fleet{
		edits: map[string]*edit{}, byKey: map[string]*edit{}, logs: map[string]*changeLog{},
		lacking: map[string]time.Time{}, swallowed: map[string]bool{},
	}
	for _, user := range h.users {
		f.logs[user] = newChangeLog()
		for n := range h.luck.devices[user] {
			var types []string
			if h.luck.picky > 0 && (n+len(f.devices))%h.luck.picky == 1 {
				types = someTypes[len(f.devices)%len(someTypes)]
			}
			store := newDeviceStore(user, types)
			f.devices = append(f.devices, &device{
				name:  fmt.Sprintf("device %d of %s", n+1, user),
				store: store, every: map[string]*deviceStore{user: store},
			})
		}
	}
	return f
}

// restartFeed begins another process of the query function, as a cold start or a deployment does. It has counted no
// requests.
func (h *history) restartFeed() {
	h.fleet.feed = query.New(query.Config{
		Store: storePort{h, rightsOf(h.registry, system.PartAPI)}, Registry: h.registry, Now: h.clock,
		Fold: func(text string) string { return text }, Form: h.fleet.form,
	})
}

// useDevices lets a device do something.
func (h *history) useDevices() {
	f := h.fleet
	if len(f.devices) == 0 || h.violation != nil {
		return
	}
	d := f.devices[h.luck.IntN(len(f.devices))]
	if h.luck.attached { // they hear of everything at once
		h.catchUp()
		for _, d := range f.devices {
			h.pullAll(d)
		}
	}
	switch n := h.luck.IntN(100); {
	case n < 24:
		h.editOffline(d)
	case n < 42:
		if w := h.push(d); w != nil {
			h.begin(w)
		}
	case n < 62:
		if w := h.pull(d); w != nil {
			h.begin(w)
		}
	case n < 66:
		h.pullAll(d)
	case n < 69:
		h.loseProcess(d)
	case n < 71:
		h.signIn(d)
	case n < 74:
		h.borrow(d)
	case n < 76:
		h.restartFeed()
	case n < 80:
		h.useRepository(h.users[h.luck.IntN(len(h.users))])
	case n < 84:
		h.sweepLog(h.users[h.luck.IntN(len(h.users))])
	case n < 88 && h.luck.sleepy:
		h.sleep()
	case n < 89 && h.luck.sleepy:
		h.loseLog(h.users[h.luck.IntN(len(h.users))])
	case n >= 92:
		h.useRepository(h.users[h.luck.IntN(len(h.users))])
	}
}

// loseProcess ends a device's process: what it waited for never comes.
func (h *history) loseProcess(d *device) {
	if !h.luck.misfortune(h) {
		return
	}
	h.happened["device dies"]++
	if d.store.fresh != nil {
		h.happened["device dies between pages"]++
	}
	h.note("%s dies", d.name)
	d.process++
	d.pulling, d.pushing = nil, nil
	if h.luck.one(2) { // the half of a snapshot may be in its store or not
		d.store.fresh, d.store.cursor = nil, ""
	}
}

// signIn has another user use the device. Its stores have nothing in common.
func (h *history) signIn(d *device) {
	user := h.users[h.luck.IntN(len(h.users))]
	if user == d.store.user || len(h.users) < 2 {
		return
	}
	if d.every[user] == nil {
		d.every[user] = newDeviceStore(user, d.store.types)
	}
	d.process++
	d.pulling, d.pushing, d.store = nil, nil, d.every[user]
	h.happened["another user signs in"]++
	h.note("%s is used by %s", d.name, user)
}

// sleep lets weeks pass, in which devices keep their tokens.
func (h *history) sleep() {
	h.happened["weeks pass"]++
	h.pass(time.Duration(pick(h.luck, 20, 45, 60, 79, 81, 85, 89)) * 24 * time.Hour)
}

// openSurface makes the command function's surface.
func (h *history) openSurface() {
	if len(h.fleet.devices) == 0 {
		return
	}
	served := h.assemble(h.fenced(system.Ports{
		Store: func(part string) table.Store { return storePort{h, rightsOf(h.registry, part)} },
		Now:   h.clock, NewID: h.newID, NewRevisionID: h.newID, Pause: h.pause, Random: h.luck.bits(), Log: h.complaints,
		Copies: blobPort{h, h.copies},
	}))
	h.keeper = served
	h.surface, _ = served.API(api.Config{
		Side: api.SideCommands, Authenticate: api.BearerIsUser, Now: h.clock,
	}).(*api.API)
	h.restartFeed()
}

// complaints returns the log of the surface: what it logs as an error is in the trace.
func (h *history) complaints(string) *slog.Logger { return slog.New(complaints{h}) }

type complaints struct{ h *history }

func (complaints) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }

// Handle implements [slog.Handler]. Behind the first line of an error stands the stack of a panic, which differs from
// one play to another.
func (l complaints) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		line, _, _ := strings.Cut(a.String(), "\n")
		l.h.note("  log: %s %s", r.Message, line)
		return true
	})
	return nil
}

// WithAttrs implements [slog.Handler].
func (l complaints) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup implements [slog.Handler].
func (l complaints) WithGroup(string) slog.Handler { return l }

// emptyOutboxes has all devices send what waits, once the history is about to end. It reports whether any did.
func (h *history) emptyOutboxes() (moved bool) {
	if !h.ending {
		return false
	}
	for _, d := range h.fleet.devices {
		for _, user := range h.users {
			st := d.every[user]
			if st == nil || len(st.outbox) == 0 || h.violation != nil {
				continue
			}
			d.store, d.pushing = st, nil
			if w := h.push(d); w != nil {
				h.run(w, -1)
				moved = true
			}
		}
	}
	return moved
}

// checkDevices brings devices up to date and checks them: all of them at the end, before that some.
func (h *history) checkDevices() {
	for _, d := range h.fleet.devices {
		for _, user := range h.users {
			st := d.every[user]
			if st == nil || h.violation != nil || !h.ending && (st != d.store || h.luck.one(2)) {
				continue
			}
			present := d.store
			d.store = st
			h.pullAll(d)
			if h.violation == nil && h.fleet.whole(h, user) {
				h.checkCopy(d)
			}
			if !h.ending {
				d.store = present
			}
		}
	}
	h.checkEdits()
}

// whole reports whether the user's log says everything: it does not between the loss of its newest rows and a repair.
func (f *fleet) whole(h *history, user string) bool { return !h.damaged[user] }
