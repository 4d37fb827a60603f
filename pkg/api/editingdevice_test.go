package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"nexus/pkg/item"
)

// flaws are the mistakes that the model's own client, or what stands around it, can make.
type flaws struct {
	versionOfTheAnswer bool // a command's version is taken from the entity in the answer
	mergeOfOne         bool // a 412 concerns the command alone, and the rest of the chain rides over what it brought
	baseAsReceived     bool // merged over what a pull brought since the edit
	receiptsOfADay     bool
	actionsUnversioned bool // actions expect no version
	dependentRefused   bool // a 424 is taken for a refusal, and one behind a 503 is answered with it
	lapsedAtNext       bool // the feed says that what has lapsed is gone at the next version
	lateAnswerStored   bool // an answer is stored although a pull came between
	endOffAtItsVersion bool
}

// copied is a reminder as a device keeps it.
type copied struct {
	Version     int64
	Title       string
	Notes       string
	TTL         int64
	TriggerUtc  string
	SnoozeState *struct{ OccurrenceUtc string }
	Fired       string `json:"firedOccurrenceUtc"`
}

func (c *copied) String() string { return fmt.Sprintf("%d %q %q", c.Version, c.Title, c.Notes) }

func (c *copied) field(name string) string {
	if name == "notes" {
		return c.Notes
	}
	return c.Title
}

// present is the present occurrence, which an action is about.
func (c *copied) present() string {
	switch {
	case c.SnoozeState != nil:
		return c.SnoozeState.OccurrenceUtc
	case c.Fired != "":
		return c.Fired
	}
	return c.TriggerUtc
}

// Kinds of edits, as types of commands.
const (
	createReminder   = "CreateReminder"
	updateReminder   = "UpdateReminder"
	snoozeReminder   = "SnoozeReminder"
	completeReminder = "CompleteReminder"
	removeReminder   = "DeleteReminder"
)

// What becomes of an edit.
const (
	carriedOut = "carried out"
	refused    = "refused"
)

// edit is one edit of a user, and the command that carries it.
type edit struct {
	kind, id    string
	logical     string // names the edit, and is the value that it writes
	key         string // of idempotency: another one after a merge
	field, base string // of a change: what it is about, and what its user saw there
	saw         string // of an action: the occurrence that its user saw
	until       string // of a snooze
	expected    *int64
	after       *edit // the command before it on the same id
	sent        int
}

// answered is one result of a batch.
type answered struct {
	Status  int
	Version int64
	Entity  *copied
	Problem struct {
		Detail         string
		CurrentVersion int64
		Current        *copied
	}
}

// batch is a request that is on its way, or answered.
type batch struct {
	edits   []*edit
	results map[*edit]answered
}

// editingDevice keeps a copy, an outbox and how far it has read the log.
type editingDevice struct {
	*editing
	copy   map[string]*copied
	gone   map[string]int64 // versions at which ids are known to be gone
	read   int
	outbox []*edit
	frozen []*edit // sent and not answered: to be sent again unchanged
	answer *batch  // on its way
	isBusy bool    // the server is at it
	late   []*batch
}

func (d *editingDevice) isWaiting() bool { return d.answer != nil }

// shown is a field as the user sees it: the copy with the outbox applied.
func (d *editingDevice) shown(id, field string) string {
	value := ""
	if c := d.copy[id]; c != nil {
		value = c.field(field)
	}
	for _, e := range d.outbox {
		if e.id != id {
			continue
		}
		if e.field == field {
			value = e.logical
		}
	}
	return value
}

// edit makes an edit that goes into the outbox.
func (d *editingDevice) edit() {
	deleted, ids := map[string]bool{}, map[string]bool{}
	for _, e := range d.outbox {
		deleted[e.id] = deleted[e.id] || e.kind == removeReminder
		ids[e.id] = ids[e.id] || e.kind == createReminder
	}
	for id := range d.copy {
		ids[id] = true
	}
	maps.DeleteFunc(ids, func(id string, is bool) bool { return !is || deleted[id] })
	e := &edit{logical: d.nextID("edit"), key: d.nextID("key")}
	switch k := d.IntN(100); {
	case len(ids) == 0 || k < 15:
		e.kind, e.field = createReminder, "title"
		e.id = fmt.Sprintf("rem_00000000-0000-4000-8000-%012d", d.users*1000+d.ids)
	default:
		sorted := slices.Sorted(maps.Keys(ids))
		e.id = sorted[d.IntN(len(sorted))]
		switch {
		case k < 70:
			e.kind, e.field = updateReminder, editedFields[d.IntN(2)]
			e.base = d.shown(e.id, e.field)
		case k < 90:
			e.kind, e.saw = snoozeReminder, firstTrigger
			if c := d.copy[e.id]; c != nil {
				e.saw = c.present()
			}
			e.until = item.FormatInstant(d.clock().Add(200*24*time.Hour + time.Duration(d.ids)*time.Second))
			d.edits[e.until] = e
			if d.one(3) || d.ends && d.one(2) {
				e.kind = completeReminder
			}
		default:
			e.kind = removeReminder
		}
	}
	d.edits[e.logical] = e
	for _, other := range d.outbox {
		if other.id == e.id {
			e.after = other
		}
	}
	if c := d.copy[e.id]; c != nil {
		version := c.Version
		e.expected = &version
	}
	if d.flaw.actionsUnversioned && (e.kind == snoozeReminder || e.kind == completeReminder) {
		e.after, e.expected = nil, nil
	}
	d.outbox = append(d.outbox, e)
}

// firstTrigger is so late that no reminder comes due by itself.
const firstTrigger = "2199-01-01T08:00:00Z"

// push sends a part of the outbox.
func (d *editingDevice) push() {
	if d.answer != nil {
		return
	}
	part := d.frozen
	if len(part) == 0 {
		part = d.outbox[:min(len(d.outbox), 1+d.IntN(4))]
	}
	part = slices.DeleteFunc(slices.Clone(part), func(e *edit) bool { return !slices.Contains(d.outbox, e) })
	if d.frozen = part; len(part) == 0 {
		return
	}
	b := &batch{edits: part, results: map[*edit]answered{}}
	d.answer = b
	var commands []map[string]any
	for _, e := range part {
		e.sent++
		commands = append(commands, e.command(part))
	}
	d.isBusy = true
	for i, a := range d.send(commands) {
		b.results[part[i]] = a
	}
	d.isBusy = false
}

func (e *edit) command(part []*edit) map[string]any {
	data := map[string]any{"reminderId": e.id}
	switch e.kind {
	case createReminder:
		data["title"], data["triggerUtc"], data["tzid"] = e.logical, firstTrigger, "UTC"
		data["rrule"] = "FREQ=DAILY"
	case updateReminder:
		data[e.field] = e.logical
	case snoozeReminder:
		data["untilUtc"], data["occurrenceUtc"] = e.until, e.saw
	case completeReminder:
		data["series"], data["occurrenceUtc"] = true, e.saw
	}
	c := map[string]any{"id": e.key, "type": e.kind, "data": data}
	switch {
	case e.after != nil && slices.Contains(part, e.after):
		c["expectedAfter"] = e.after.key
	case e.expected != nil:
		c["expectedVersion"] = *e.expected
	}
	return c
}

// hear takes the answer, unless it was lost.
func (d *editingDevice) hear() {
	b := d.answer
	if b == nil || d.isBusy {
		return
	}
	d.answer = nil
	switch {
	case d.IntN(4) == 0: // lost
	case d.flaw.lateAnswerStored && d.IntN(3) == 0:
		d.late = append(d.late, b)
	default:
		d.take(b)
	}
}

func (d *editingDevice) hearLate() {
	if len(d.late) > 0 {
		b := d.late[0]
		d.late = d.late[1:]
		d.take(b)
	}
}

// finish takes every answer that is on its way.
func (d *editingDevice) finish() {
	if b := d.answer; b != nil {
		d.answer = nil
		d.take(b)
	}
	for len(d.late) > 0 {
		d.hearLate()
	}
}

// store keeps an entity unless the device knows it, or its removal, at a higher version. At the same version what the
// feed brings counts.
func (d *editingDevice) store(id string, c *copied, fromFeed bool) {
	if !fromFeed && d.gone[id] >= c.Version && !d.flaw.lateAnswerStored {
		return
	}
	old := d.copy[id]
	if old != nil && (old.Version > c.Version || old.Version == c.Version && (!fromFeed || d.flaw.lapsedAtNext)) {
		return
	}
	d.copy[id] = c
}

func (d *editingDevice) remove(e *edit) {
	d.outbox = slices.DeleteFunc(d.outbox, func(other *edit) bool { return other == e })
}

// refuse shows an edit as refused, with those that depend on its id.
func (d *editingDevice) refuse(e *edit, status int, dependents bool) {
	if d.fate[e.logical] != "" {
		return
	}
	d.fate[e.logical] = refused
	if status == http.StatusFailedDependency || status == http.StatusServiceUnavailable {
		d.complain("%s is shown as refused for a %d", e.logical, status)
	}
	d.remove(e)
	for _, other := range slices.Clone(d.outbox) {
		if dependents && other.id == e.id {
			d.refuse(other, status, false)
		}
	}
}

// take goes through an answer.
func (d *editingDevice) take(b *batch) {
	d.frozen = nil
	for _, e := range slices.Clone(d.outbox) {
		a, ok := b.results[e]
		if !ok || !slices.Contains(d.outbox, e) {
			continue
		}
		switch {
		case a.Status < 300:
			d.done(e, a, b)
		case a.Status == http.StatusPreconditionFailed:
			d.merge(e, a, b)
		case a.Status == http.StatusFailedDependency:
			if d.flaw.dependentRefused {
				d.refuse(e, a.Status, true)
			}
		case a.Status == http.StatusServiceUnavailable:
		case a.Status == http.StatusGone && e.kind == removeReminder:
			d.remove(e)
			d.fate[e.logical] = carriedOut
		default:
			d.refuse(e, a.Status, true)
		}
	}
	none := int64(0)
	for _, e := range d.outbox { // a command that names one which is no more expects nothing that could hold
		if e.after != nil && !slices.Contains(d.outbox, e.after) {
			if e.after = nil; e.expected == nil {
				e.expected = &none
			}
		}
	}
}

// done takes a command that was carried out from the outbox; those that follow it expect the version that it made.
func (d *editingDevice) done(e *edit, a answered, b *batch) {
	made := a.Version
	if a.Entity != nil {
		if d.flaw.versionOfTheAnswer {
			made = a.Entity.Version
		}
		d.store(e.id, a.Entity, false)
	} else {
		delete(d.copy, e.id)
		d.gone[e.id] = a.Version
	}
	d.remove(e)
	d.fate[e.logical] = carriedOut
	for _, next := range d.outbox {
		if next.after != e {
			continue
		}
		if r, isIn := b.results[next]; !isIn || r.Status == http.StatusServiceUnavailable {
			next.after, next.expected = nil, &made
		}
	}
}

// merge takes a 412, which concerns all that waits on the id: what conflicts is refused, and the rest goes out again as
// a chain of its own under the version of the present entity.
func (d *editingDevice) merge(e *edit, a answered, b *batch) {
	current, version := a.Problem.Current, a.Problem.CurrentVersion
	var same []*edit
	for _, other := range d.outbox {
		if other.id == e.id {
			same = append(same, other)
		}
	}
	same = same[slices.Index(same, e):]
	if d.flaw.mergeOfOne {
		same = []*edit{e}
	}
	fits := map[string]bool{}
	for _, x := range same {
		if x.kind != updateReminder {
			if x.kind == removeReminder || x == e {
				d.refuse(x, http.StatusPreconditionFailed, false)
			}
			continue
		}
		if _, known := fits[x.field]; !known {
			base, theirs := x.base, current.field(x.field)
			if c := d.copy[x.id]; c != nil && d.flaw.baseAsReceived {
				base = c.field(x.field)
			}
			isOwn := slices.ContainsFunc(same, func(y *edit) bool {
				return y.kind == updateReminder && y.field == x.field && y.logical == theirs
			})
			fits[x.field] = theirs == base || isOwn
		}
		if !fits[x.field] {
			d.refuse(x, http.StatusPreconditionFailed, false)
		}
	}
	if d.flaw.mergeOfOne {
		d.mergeOne(e, version)
	} else {
		d.chain(same, version, b)
	}
	d.store(e.id, current, false)
}

// chain gives what is left of a merge new keys, each behind the one before it.
func (d *editingDevice) chain(same []*edit, version int64, b *batch) {
	var before *edit
	for _, x := range same {
		delete(b.results, x)
		if !slices.Contains(d.outbox, x) {
			continue
		}
		x.key, x.after, x.expected = d.nextID("key"), before, nil
		if before == nil {
			x.expected = &version
		}
		before = x
	}
}

// mergeOne is the mistake of merging the refused command alone.
func (d *editingDevice) mergeOne(e *edit, version int64) {
	if slices.Contains(d.outbox, e) {
		e.key, e.after, e.expected = d.nextID("key"), nil, &version
		return
	}
	none := int64(0)
	for _, next := range d.outbox {
		if next.after == e {
			next.after, next.expected = nil, &none
		}
	}
}

func (d *editingDevice) pullAll() { d.pullTo(len(d.log), true) }

func (d *editingDevice) pull(isStale bool) {
	if d.read < len(d.log) {
		d.pullTo(d.read+1+d.IntN(len(d.log)-d.read), !isStale)
	}
}

// pullTo reads the log up to a place. Items may be read as they were, unless they are behind their entry.
func (d *editingDevice) pullTo(to int, fresh bool) {
	best := map[string]entry{}
	for _, e := range d.log[d.read:to] {
		if known, ok := best[e.id]; !ok || known.less(e) {
			best[e.id] = e
		}
	}
	for _, id := range slices.Sorted(maps.Keys(best)) {
		e, from := best[id], d.items
		if !fresh && len(d.past) > 0 {
			from = d.past[d.IntN(len(d.past))]
		}
		it := from[id]
		if it == nil || it.Int("version") < e.version || e.ends && !it.Has("ttl") {
			it = d.items[id]
		}
		switch {
		case it == nil:
			d.forget(id, e.version)
		case d.lapsed(it) && d.flaw.lapsedAtNext:
			d.forget(id, it.Int("version")+1)
		case d.lapsed(it):
			d.forget(id, it.Int("version"))
		case d.flaw.lapsedAtNext && d.gone[id] >= it.Int("version"): // of equal versions the earlier one counts
		default:
			d.store(id, d.entityOf(it), true)
		}
	}
	d.read = to
}

func (d *editingDevice) forget(id string, version int64) {
	if c := d.copy[id]; c == nil || c.Version <= version {
		delete(d.copy, id)
	}
	d.gone[id] = max(d.gone[id], version)
}
