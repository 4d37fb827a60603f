package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// Per kind of entity: its collection and the attribute of its id.
var (
	collectionOf = map[string]string{
		"EVENT": "events", "TASK": "tasks", "REMINDER": "reminders", "NOTE": "notes", "MASTER": "series",
	}
	idAttribute = map[string]string{
		"EVENT": "eventId", "TASK": "taskId", "REMINDER": "reminderId", "NOTE": "noteId", "MASTER": "masterId",
	}
)

const (
	loadUsers   = 4
	loadClients = 8
	// loadSteps is how many steps each client takes; a third of them create, which makes some 200 entities.
	loadSteps = 75
)

// load is 8 clients that work for 4 users at once, each of whom has a device besides.
type load struct {
	system  *system
	told    *acknowledged
	seed    uint64
	base    time.Time // the system's time when the load began
	round   int
	devices []*device
}

// worker is one client of the load with its own source of chance.
type worker struct {
	*load
	client
	number int
	rand   *rand.Rand
	steps  int
}

// run lets all clients take their steps and returns when the last is done. Complaints of clients are kept with
// what was acknowledged to them.
func (l *load) run(ctx context.Context) {
	var over atomic.Bool
	var following sync.WaitGroup
	for _, d := range l.devices {
		following.Go(func() {
			if err := d.follow(ctx, &over); err != nil {
				l.told.complain("device of %s: %v", d.user, err)
			}
		})
	}
	defer following.Wait()
	defer over.Store(true)
	done := make(chan struct{})
	for n := range loadClients {
		w := &worker{
			load: l, client: l.system.client(fmt.Sprintf("load-%d", n%loadUsers)), number: n,
			rand: rand.New(rand.NewPCG(l.seed, uint64(l.round*loadClients+n))),
		}
		go func() {
			defer func() { done <- struct{}{} }()
			for range loadSteps {
				if err := w.step(ctx); err != nil {
					l.told.complain("client %d, step %d: %v", w.number, w.steps, err)
					return
				}
			}
		}()
	}
	for range loadClients {
		<-done
	}
}

func (w *worker) step(ctx context.Context) error {
	w.steps++
	switch n := w.rand.IntN(100); {
	case n < 28:
		return w.createOne(ctx)
	case n < 50:
		return w.change(ctx)
	case n < 60:
		return w.link(ctx)
	case n < 65:
		return w.unlink(ctx)
	case n < 69:
		return w.zone(ctx)
	case n < 72:
		return w.snooze(ctx)
	case n < 93:
		return w.series(ctx)
	default:
		return w.remove(ctx)
	}
}

// ask insists on an answer and counts what became of it.
func (w *worker) ask(ctx context.Context, r request) (answer, error) {
	got, tries, err := w.insist(ctx, r)
	w.told.unanswered.Add(int64(tries - 1))
	if got.header.Get("Idempotency-Replayed") == "true" {
		w.told.replayed.Add(1)
	}
	if got.status == http.StatusPreconditionFailed {
		w.told.stale.Add(1)
	}
	return got, err
}

// key is a new idempotency key.
func (w *worker) key() string { return w.uuid() }

func (w *worker) uuid() string {
	var random [16]byte
	for i := range random {
		random[i] = byte(w.rand.Uint32())
	}
	random[6], random[8] = random[6]&0x0f|0x40, random[8]&0x3f|0x80 // version 4, RFC 9562
	return uuid.UUID(random).String()
}

func (w *worker) createOne(ctx context.Context) error {
	kind := []string{"TASK", "TASK", "TASK", "TASK", "NOTE", "NOTE", "NOTE", "EVENT", "EVENT", "REMINDER"}[w.rand.IntN(10)]
	fields := w.fields(kind)
	for name, v := range fields {
		if v == nil {
			delete(fields, name)
		}
	}
	if w.rand.IntN(2) == 0 { // offline first: the client knows the id before the server
		prefix := map[string]string{"EVENT": "evt_", "TASK": "task_", "REMINDER": "rem_", "NOTE": "note_"}[kind]
		fields[idAttribute[kind]] = prefix + w.uuid()
	}
	links := []any{}
	for range w.rand.IntN(4) {
		if target := w.told.among(w.user, w.rand.Int(), func(k *known) bool { return !linked(links, k) }); target != nil {
			links = append(links, map[string]any{"targetType": target.kind, "targetId": target.id})
		}
	}
	for attempt := 0; attempt < 2; attempt++ {
		if len(links) > 0 {
			fields["links"] = links
		}
		got, err := w.ask(ctx, request{
			method: http.MethodPost, path: "/v1/" + collectionOf[kind], body: fields, key: w.key(),
		})
		switch {
		case err != nil:
			return err
		case got.status == http.StatusCreated:
			if got.object()["title"] != fields["title"] {
				return fmt.Errorf("create with title %v answered %s", fields["title"], got)
			}
			w.told.created(w.user, kind, w.number, got.object())
			return nil
		case got.status != http.StatusNotFound || len(links) == 0:
			return fmt.Errorf("create %s: %s", kind, got)
		}
		// A target was deleted between the choice and the write.
		links = nil
		delete(fields, "links")
	}
	return fmt.Errorf("create %s without links: not found", kind)
}

func linked(links []any, k *known) bool {
	for _, l := range links {
		if l.(map[string]any)["targetId"] == k.id {
			return true
		}
	}
	return false
}

// change patches an entity of any client of the user, again with the fresh version as long as others are quicker.
func (w *worker) change(ctx context.Context) error {
	k := w.told.among(w.user, w.rand.Int(), func(*known) bool { return true })
	if k == nil {
		return nil
	}
	patch := w.fields(k.kind)
	retimed := w.rand.IntN(3) == 0
	for name := range patch {
		if isTime(name) && !retimed || !isTime(name) && name != "title" && w.rand.IntN(3) > 0 {
			delete(patch, name)
		}
	}
	path := "/v1/" + collectionOf[k.kind] + "/" + k.id
	version, _, _ := w.told.present(k)
	for range 100 {
		got, err := w.ask(ctx, request{
			method: http.MethodPatch, path: path, body: patch, match: matching(version), key: w.key(),
		})
		switch {
		case err != nil:
			return err
		case got.status == http.StatusPreconditionFailed:
			if version, err = wholeNumber(got.object(), "currentVersion"); err != nil {
				return fmt.Errorf("patch %s: %s", k.id, got)
			}
		case got.status == http.StatusOK:
			replayed := got.header.Get("Idempotency-Replayed") == "true" // shows what others did since as well
			shown, err := wholeNumber(got.object(), "version")
			if err != nil || shown <= version || !replayed && (shown != version+1 || got.object()["title"] != patch["title"]) {
				return fmt.Errorf("patch %s at version %d with %s: %s", k.id, version, text(patch), got)
			}
			w.told.changed(k, got.object())
			return nil
		default:
			return w.unlessGone(k, got, http.StatusGone)
		}
	}
	return fmt.Errorf("patch %s: stale a hundred times", k.id)
}

// unlessGone is an error unless the entity is being deleted by its owner. The refusal has the status then: 410 of a
// request about the entity, 404 of one that refers to it.
func (w *worker) unlessGone(k *known, got answer, refusal int) error {
	_, _, gone := w.told.present(k)
	if gone && (got.status == refusal || got.status == http.StatusNoContent) {
		return nil
	}
	return fmt.Errorf("change %s: %s", k.id, got)
}

func (w *worker) own(k *known) bool { return k.owner == w.number }

// link adds a link to one of the worker's own entities, with a relation that was never used, so that it is a change.
func (w *worker) link(ctx context.Context) error {
	k := w.told.among(w.user, w.rand.Int(), w.own)
	if k == nil {
		return nil
	}
	_, links, _ := w.told.present(k)
	target := w.told.among(w.user, w.rand.Int(), func(t *known) bool { return t != k })
	if target == nil || len(links) > 40 {
		return nil
	}
	path := fmt.Sprintf("/v1/%s/%s/links/%s/%s", collectionOf[k.kind], k.id, target.kind, target.id)
	got, err := w.ask(ctx, request{
		method: http.MethodPut, path: path, body: map[string]any{"relation": w.key()}, key: w.key(),
	})
	switch {
	case err != nil:
		return err
	case got.status == http.StatusOK:
		w.told.changed(k, got.object())
		return nil
	}
	return w.unlessGone(target, got, http.StatusNotFound)
}

// unlink removes a link of one of the worker's own entities.
func (w *worker) unlink(ctx context.Context) error {
	k := w.told.among(w.user, w.rand.Int(), func(k *known) bool {
		links, _ := k.entity["links"].([]any)
		return w.own(k) && len(links) > 0
	})
	if k == nil {
		return nil
	}
	_, links, _ := w.told.present(k)
	link := row(links[w.rand.IntN(len(links))].(map[string]any))
	path := fmt.Sprintf("/v1/%s/%s/links/%s/%s", collectionOf[k.kind], k.id, link.text("targetType"),
		link.text("targetId"))
	got, err := w.ask(ctx, request{method: http.MethodDelete, path: path, key: w.key()})
	if err != nil {
		return err
	}
	if got.status != http.StatusOK {
		return fmt.Errorf("unlink %s from %s: %s", k.id, link.text("targetId"), got)
	}
	w.told.changed(k, got.object())
	return nil
}

// remove deletes one of the worker's own entities.
func (w *worker) remove(ctx context.Context) error {
	k := w.told.among(w.user, w.rand.Int(), w.own)
	if k == nil {
		return nil
	}
	w.told.claim(k)
	path := "/v1/" + collectionOf[k.kind] + "/" + k.id
	version, _, _ := w.told.present(k)
	for range 100 {
		got, err := w.ask(ctx, request{method: http.MethodDelete, path: path, match: matching(version), key: w.key()})
		switch {
		case err != nil:
			return err
		case got.status == http.StatusPreconditionFailed:
			if version, err = wholeNumber(got.object(), "currentVersion"); err != nil {
				return fmt.Errorf("delete %s: %s", k.id, got)
			}
		case got.status == http.StatusNoContent:
			w.told.gone(k)
			return nil
		default:
			return fmt.Errorf("delete %s at version %d: %s", k.id, version, got)
		}
	}
	return fmt.Errorf("delete %s: stale a hundred times", k.id)
}

// zone moves the user to another zone, which moves everything that floats.
func (w *worker) zone(ctx context.Context) error {
	zones := []string{"UTC", "Asia/Tokyo", "America/Los_Angeles", "Europe/London", "Pacific/Kiritimati"}
	version := int64(0)
	for range 100 {
		got, err := w.ask(ctx, request{
			method: http.MethodPatch, path: "/v1/me", match: matching(version), key: w.key(),
			body: map[string]any{"defaultTzid": zones[w.rand.IntN(len(zones))]},
		})
		switch {
		case err != nil:
			return err
		case got.status == http.StatusOK:
			return nil
		case got.status != http.StatusPreconditionFailed:
			return fmt.Errorf("change zone: %s", got)
		}
		if version, err = wholeNumber(got.object(), "currentVersion"); err != nil {
			return fmt.Errorf("change zone: %s", got)
		}
	}
	return fmt.Errorf("change zone: stale a hundred times")
}
