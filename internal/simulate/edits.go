package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/idempotency"
	"nexus/pkg/product"
)

// edit is a change that a user made on a device, until its fate is known.
type edit struct {
	name string // the edit's own, whatever keys it is sent under
	key  string // the id of its command
	kind editKind
	ref  entity.Ref
	// field and value are what a patch changes; base is what its user saw there, and sees what it may be written over.
	field, value, base string
	sees               map[string]bool
	verb               string // the command's type
	data               map[string]any

	after    *edit  // the edit of the same entity before it, as long as that is not answered
	expected *int64 // the version that its user saw, or that the edit before it made
	ofSeries bool   // expected is the version of the series that the occurrence follows
	sent     int
	first    time.Time // when it was sent first
	by       *deviceStore

	fate   fate
	reason string // of a refusal
	done   int    // how often it was carried out, by its receipts
}

type editKind int

const (
	creating editKind = iota
	patching
	acting
	deleting
)

type fate int

const (
	waiting fate = iota
	carriedOut
	refused
	shownOnly // not answered for so long that its receipt may be gone
)

// bodies are the texts that a device changes beside titles, and actions the status that it sets, by type.
var (
	bodies = map[string]string{
		product.TypeTask: "description", product.TypeEvent: "description", product.TypeNote: "body",
		product.TypeReminder: "notes", entity.TypeMaster: "description",
	}
	actions = map[string]map[string]any{
		product.TypeTask:  {entity.AttrStatus: product.StatusCompleted},
		product.TypeEvent: {entity.AttrStatus: product.StatusCancelled},
		product.TypeNote:  {product.AttrIsPinned: true},
		entity.TypeMaster: {entity.AttrStatus: product.StatusCancelled},
	}
	nouns = map[string]string{
		product.TypeTask: "Task", product.TypeEvent: "Event", product.TypeNote: "Note", product.TypeReminder: "Reminder",
		entity.TypeMaster: "Series",
	}
)

// maxOutbox bounds the edits that wait on a device.
const maxOutbox = 12

// editOffline has a device's user change something, on the copy with the outbox applied.
func (h *history) editOffline(d *device) {
	st := d.store
	if len(st.outbox) >= maxOutbox {
		return
	}
	var refs []entity.Ref
	for ref, c := range st.copied {
		if bodies[ref.Type] != "" && !st.isLeaving(ref) && (c.expires.IsZero() || h.now.Before(c.expires)) {
			refs = append(refs, ref)
		}
	}
	for _, e := range st.outbox {
		if e.kind == creating && !st.isLeaving(e.ref) {
			refs = append(refs, e.ref)
		}
	}
	slices.SortFunc(refs, compareRefs)
	refs = slices.Compact(refs)
	h.asked++
	e := &edit{name: fmt.Sprintf("e%d.%dx", h.step, h.asked), by: st}
	n := h.luck.IntN(100)
	switch {
	case n < 3 && st.token != "":
		h.fillSettings(e)
	case len(refs) == 0 || n < 15:
		h.fillCreate(e)
	default:
		e.ref = refs[h.luck.IntN(len(refs))]
		if e.ref.Type != entity.TypeMaster || n < 58 || !h.fillOccurrence(e) {
			h.fillChange(e, n)
		}
	}
	e.key = h.newKey(e)
	e.after = st.last(e.ref)
	c, isThere := st.copied[e.ref]
	if e.ref.Type == entity.TypeInstance && !isThere { // it is as its series has it
		master := entity.Ref{Type: entity.TypeMaster, ID: e.data[product.AttrMasterID].(string)}
		if e.after == nil {
			e.after = st.last(master)
		}
		c, isThere = st.copied[master]
		e.ofSeries = e.after == nil || e.after.ref == master
	}
	if isThere {
		version := c.version
		e.expected = &version
	}
	st.outbox = append(st.outbox, e)
	h.fleet.all = append(h.fleet.all, e)
	if e.value != "" {
		h.fleet.edits[e.value] = e
	}
	h.happened["edit on a device"]++
	h.happened["edit of "+e.ref.Type+" on a device"]++
	h.note("%s: %s %s %v over %q, %s", d.name, e.verb, e.ref.ID, e.data, e.base, e.name)
}

func (h *history) fillCreate(e *edit) {
	kinds := slices.DeleteFunc(slices.Clone(h.luck.kinds), func(name string) bool {
		return bodies[name] == "" || name == entity.TypeMaster // a random rule may have no occurrence
	})
	if e.by.types != nil && !slices.ContainsFunc(kinds, e.by.follows) || len(kinds) == 0 {
		kinds = []string{product.TypeNote}
	}
	typ := h.registry.ByName(pick(h.luck, kinds...))
	a := author{history: h, userState: h.oracle.users[e.by.user]}
	cmd, _, _ := a.create(typ)
	e.kind, e.ref = creating, entity.Ref{Type: typ.Name, ID: typ.IDPrefix + "_" + h.luck.uuid()}
	e.field, e.value, e.sees = entity.AttrTitle, e.name, map[string]bool{"": true}
	e.verb, e.data = "Create"+nouns[typ.Name], cmd.(command.Create).Fields
	e.data[entity.AttrTitle], e.data[typ.IDAttr] = e.value, e.ref.ID
}

// fillOccurrence makes an edit of the series one of its next occurrence, or of one that has an exception already. It is
// put with a title of its own; what differs otherwise is cancelled.
func (h *history) fillOccurrence(e *edit) bool {
	master := e.ref.ID
	rule, err := product.CompileMaster(e.by.copied[e.ref].item)
	if err != nil {
		return false // the copy has an answer, as its user's app may show it
	}
	var dates []string
	for o := range rule.Each(h.now, h.now.Add(horizon)) {
		dates = append(dates, o.Wall.Format("20060102"))
		break
	}
	for _, ref := range slices.SortedFunc(maps.Keys(e.by.copied), compareRefs) {
		if of, date, err := entity.ParseInstanceID(ref.ID); err == nil && of == master {
			dates = append(dates, date)
		}
	}
	if len(dates) == 0 {
		return false
	}
	date := pick(h.luck, dates...)
	e.ref = entity.Ref{Type: entity.TypeInstance, ID: entity.InstanceID(master, date)}
	e.data = map[string]any{product.AttrMasterID: master, "date": date}
	e.kind, e.verb = acting, "CancelInstance"
	c, isThere := e.by.copied[e.ref]
	own := c.item.Strings(product.AttrModifiedFields)
	if !isThere || !c.isOwed && c.shown == nil && slices.Equal(own, []string{entity.AttrTitle}) {
		e.kind, e.field, e.value, e.verb = patching, entity.AttrTitle, e.name, "PutInstance"
		e.base = e.by.shows(e.ref, e.field)
		e.sees = map[string]bool{e.base: true}
		e.data[e.field] = e.value
	}
	return true
}

func (h *history) fillSettings(e *edit) {
	e.kind, e.verb, e.ref = acting, "UpdateMe", entity.Ref{Type: entity.TypeUserMeta, ID: e.by.user}
	seen := e.by.shows(e.ref, product.AttrDefaultTzid)
	others := slices.DeleteFunc(slices.Clone(zoneNames), func(name string) bool { return name == seen })
	e.data = map[string]any{product.AttrDefaultTzid: pick(h.luck, others...)}
}

func (h *history) fillChange(e *edit, n int) {
	typ := h.registry.ByName(e.ref.Type)
	e.data = map[string]any{typ.IDAttr: e.ref.ID}
	switch {
	case n < 72:
		e.kind, e.field, e.value = patching, pick(h.luck, entity.AttrTitle, bodies[e.ref.Type]), e.name
		e.base = e.by.shows(e.ref, e.field)
		e.sees = map[string]bool{e.base: true}
		e.verb, e.data[e.field] = "Update"+nouns[e.ref.Type], e.value
	case n < 90 && e.ref.Type == product.TypeReminder:
		e.kind = acting
		if seen := e.by.presentOccurrence(e.ref); seen != "" {
			e.data[product.SnoozeOccurrenceUtc] = seen
		}
		switch h.luck.IntN(3) {
		case 0:
			e.verb = "CompleteReminder"
		case 1:
			e.verb = "DismissReminder"
		default:
			e.verb = "SnoozeReminder"
			e.data[product.SnoozeUntilUtc] = h.now.Add(time.Duration(1+h.luck.IntN(3000)) * time.Minute).Format(time.RFC3339)
		}
	case n < 90:
		e.kind, e.verb = acting, "Update"+nouns[e.ref.Type]
		maps.Copy(e.data, actions[e.ref.Type])
	default:
		e.kind, e.verb = deleting, "Delete"+nouns[e.ref.Type]
	}
}

// newKey makes a command id for the edit.
func (h *history) newKey(e *edit) string {
	h.asked++
	key := fmt.Sprintf("device-%s-%d", e.name, h.asked)
	h.fleet.byKey[idempotency.Digest([]byte(key))] = e
	return key
}

func compareRefs(a, b entity.Ref) int { return strings.Compare(a.ID, b.ID) }

// isLeaving reports whether the outbox deletes the entity.
func (st *deviceStore) isLeaving(ref entity.Ref) bool {
	return slices.ContainsFunc(st.outbox, func(e *edit) bool { return e.kind == deleting && e.ref == ref })
}

// last returns the last edit of the entity in the outbox; nil for none.
func (st *deviceStore) last(ref entity.Ref) (out *edit) {
	for _, e := range st.outbox {
		if e.ref == ref {
			out = e
		}
	}
	return out
}

// shows returns a text of an entity as the device's user sees it: the copy with the outbox applied.
func (st *deviceStore) shows(ref entity.Ref, field string) string {
	text := st.copied[ref].text(field)
	for _, e := range st.outbox {
		if its, says := e.data[field].(string); says && e.ref == ref {
			text = its
		}
	}
	return text
}

func (c copied) text(field string) string {
	if c.shown != nil {
		text, _ := c.shown[field].(string)
		return text
	}
	return c.item.Str(field)
}

// presentOccurrence returns the occurrence of a reminder that its user sees; empty if that depends on a zone.
func (st *deviceStore) presentOccurrence(ref entity.Ref) string {
	c, isThere := st.copied[ref]
	if !isThere {
		return ""
	}
	if c.shown == nil {
		if at := c.item.Map(product.AttrSnoozeState).Str(product.SnoozeOccurrenceUtc); at != "" {
			return at
		}
	} else if snooze, _ := c.shown[product.AttrSnoozeState].(map[string]any); snooze != nil {
		at, _ := snooze[product.SnoozeOccurrenceUtc].(string)
		return at
	}
	if c.text(product.AttrTzid) == "" {
		return ""
	}
	if rang := c.text(product.AttrFiredOccurrenceUtc); rang != "" {
		return rang
	}
	return c.text(product.AttrTriggerUtc)
}

// checkEdit checks a write of a command that may be a device's: it is written over nothing that its user did not see.
func (h *history) checkEdit(s *userState, r *record, ref entity.Ref) {
	isUndone := ref.Type == entity.TypeInstance && !r.New.Has(product.AttrModifiedFields) // by a change of its series
	if h.writer == nil || h.writer.batch == nil || r.New == nil || isUndone {
		return
	}
	for _, field := range []string{entity.AttrTitle, bodies[ref.Type]} {
		is, was := r.New.Str(field), r.Old.Str(field)
		if is == was || field == "" || r.Old == nil && field != entity.AttrTitle {
			continue
		}
		e := h.fleet.edits[is]
		if e == nil || e.ref != ref {
			h.violate("I12", s.user, ref.ID, "%s becomes %q by a batch that does not say so", field, is)
			continue
		}
		if !e.sees[was] {
			h.violate("I12", s.user, ref.ID, "%s becomes %q over %q, and its user saw %v", field, is, was, e.sees)
		}
	}
	if r.Old != nil && r.Old.Has(entity.AttrEditVersion) {
		h.happened["device edit behind a write of the system"]++
	}
}

// takeReceipt counts how often an edit was carried out. A receipt is in the transaction of its command.
func (h *history) takeReceipt(s *userState, r *record, digest string) {
	e := h.fleet.byKey[digest]
	if e == nil || r.New == nil {
		return
	}
	if e.by.user != s.user {
		h.violate("I12", s.user, e.name, "of %s was carried out", e.by.user)
	}
	if e.done++; e.done > 1 {
		h.violate("I12", s.user, e.ref.ID, "%s (%s) was carried out twice", e.verb, e.name)
	}
}

// checkEdits checks that nothing of an outbox was lost, done twice or refused without a name.
func (h *history) checkEdits() {
	for _, e := range h.fleet.all {
		switch {
		case e.fate == waiting && !slices.Contains(e.by.outbox, e):
			h.violate("I12", e.by.user, e.ref.ID, "%s (%s) is lost", e.verb, e.name)
		case e.fate == refused && e.done > 0:
			h.violate("I12", e.by.user, e.ref.ID, "%s (%s) was carried out, and is shown as refused: %s", e.verb, e.name,
				e.reason)
		case e.fate == refused && e.reason == "":
			h.violate("I12", e.by.user, e.ref.ID, "%s (%s) is refused without a reason", e.verb, e.name)
		case e.fate == carriedOut && e.done == 0 && e.kind != deleting:
			h.violate("I12", e.by.user, e.ref.ID, "%s (%s) counts as carried out, and was not", e.verb, e.name)
		}
	}
}
