package transfer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"nexus/pkg/archive"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/ical"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

const (
	// maxVersion bounds the version of anything: no account comes near it, and no count of versions overflows behind it.
	maxVersion = 1 << 31
	// skew is how far the clocks of two deployments may differ: what a file says to have happened may be so far ahead.
	skew = 5 * time.Minute
	// aheadOfUTC is how far the clocks of the easternmost zone are ahead.
	aheadOfUTC = 14 * time.Hour
	// maxUID bounds a UID of another calendar in bytes, as an import of calendars does.
	maxUID = 1000
	// longestDelay is the longest delay after which a task is archived.
	longestDelay = 8760 * time.Hour
)

// parsed is an entity of a file, as it is to be stored for the importing user.
type parsed struct {
	typ  *entity.Type
	id   string
	item item.Item
	kept string
}

// parser reads the lines of a file into what is stored for one user as of one instant.
type parser struct {
	*Service
	user string
	// now is the instant of the import: what was due before it does not ring.
	now time.Time
	// cleaned, if set, is called for each text of which characters were replaced.
	cleaned func(l numberedLine, pointer string)
}

// document reads a line as the members that the API shows, and the hidden ones.
func (p *parser) document(l numberedLine) (doc map[string]any, h hiddenMembers, err error) {
	d := json.NewDecoder(bytes.NewReader(l.text))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil || doc == nil {
		return nil, h, l.refuse("is no JSON object")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, h, l.refuse("has more than one JSON value")
	}
	if raw, ok := doc[hidden]; ok {
		delete(doc, hidden)
		if err := decode(encode(raw), &h); err != nil {
			return nil, h, l.refuse("%s: %v", hidden, err)
		}
	}
	return doc, h, nil
}

// entity reads a line of an entity of which a user has many, and checks it by itself.
func (p *parser) entity(l numberedLine) (parsed, error) {
	doc, h, err := p.document(l)
	if err != nil {
		return parsed{}, err
	}
	name, _ := doc[entity.AttrType].(string)
	t := p.Registry.ByName(name)
	if t == nil || !t.HasCollection() {
		return parsed{}, l.refuse("entityType %.60q is no type of this release", name)
	}
	id, _ := doc[t.IDAttr].(string)
	if err := entity.CheckID(t.IDPrefix, id); err != nil {
		return parsed{}, l.refuse("%s: %v", t.IDAttr, err)
	}
	out := parsed{typ: t, id: id, kept: h.Kept}
	it, errs := p.read(l, t, doc)
	if err := entity.Invalid(errs); err != nil {
		return parsed{}, p.invalid(l, err)
	}
	p.unhide(it, h)
	it = t.Rewritten(p.user, id, it)
	if _, asks := t.Field(product.AttrDueSetAt); asks {
		it.SetTime(product.AttrDueSetAt, p.now)
	}
	out.item = it
	wrong := entity.Faults{}
	p.check(&wrong, t, it, h)
	if err := entity.Invalid(t.Validate(it), p.Registry.CheckLinks(it), wrong); err != nil {
		return parsed{}, p.invalid(l, err)
	}
	return out, nil
}

func (p *parser) invalid(l numberedLine, err error) error {
	var invalid *entity.ValidationError
	if errors.As(err, &invalid) {
		return &FileError{Name: l.file, Line: l.n, Fields: invalid.Fields}
	}
	return l.refuse("%v", err)
}

// read turns a document into fields in stored form.
func (p *parser) read(l numberedLine, t *entity.Type, doc map[string]any) (item.Item, []entity.FieldError) {
	delete(doc, entity.AttrTTL) // it follows from the state
	p.clean(l, "", t.Fields, doc)
	shown, errs := t.ParseShown(doc)
	for name, v := range shown {
		if v == (item.Null{}) {
			errs = append(errs, entity.FieldError{Pointer: "/" + name, Detail: "must not be null"})
		}
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return t.Merge(nil, shown)
}

// unhide sets what the hidden members say.
func (p *parser) unhide(it item.Item, h hiddenMembers) {
	if h.EditVersion != 0 {
		it[entity.AttrEditVersion] = item.Int(h.EditVersion)
		it[entity.AttrSystemVersion] = it[entity.AttrVersion]
	}
	if it.Has(product.AttrCompletedOn) && it.Has(product.AttrCompletedAt) {
		it[product.AttrCompletedOnAt] = it[product.AttrCompletedAt]
	}
	if h.ICalStamp != "" {
		it[product.AttrStamp] = item.String(h.ICalStamp)
	}
	if h.Kept != "" {
		it[product.AttrKept] = item.String(command.KeptDigest(h.Kept))
	}
}

// check records what the rules of a type do not cover, because no client can send it.
func (p *parser) check(wrong *entity.Faults, t *entity.Type, it item.Item, h hiddenMembers) {
	version := it.Int(entity.AttrVersion)
	if version < 1 || version > maxVersion {
		wrong.Add(entity.AttrVersion, "must be 1 to %d", int64(maxVersion))
	}
	if h.EditVersion != 0 && (h.EditVersion < 1 || h.EditVersion >= version) {
		wrong.At("/"+hidden+"/"+entity.AttrEditVersion, "must be 1 to the version before")
	}
	for _, name := range []string{
		entity.AttrCreatedAt, entity.AttrUpdatedAt, entity.AttrRestoredAt, product.AttrCompletedAt, product.AttrArchivedAt,
	} {
		if at, ok := it.Time(name); ok && at.After(p.now.Add(skew)) {
			wrong.Add(name, "must be an instant that has passed")
		}
	}
	if day, err := item.ParseDate(it.Str(product.AttrCompletedOn)); err == nil && day.After(p.now.Add(aheadOfUTC+skew)) {
		wrong.Add(product.AttrCompletedOn, "must be a day that has begun")
	}
	if n := it.Int(product.AttrSequence); n < 0 || n > maxVersion {
		wrong.Add(product.AttrSequence, "must be 0 to %d", int64(maxVersion))
	}
	if len(it.Str(product.AttrICalUID)) > maxUID {
		wrong.Add(product.AttrICalUID, "must have at most %d bytes", maxUID)
	}
	if h.Kept != "" && !ical.IsKeptText(h.Kept) {
		wrong.At("/"+hidden+"/kept", "must be an X-KEPT component as an import of a calendar keeps it")
	}
	if item.Size(it) > table.MaxItemBytes {
		wrong.At("", "has more than %d bytes", table.MaxItemBytes)
	}
	switch t.Name {
	case product.TypeTask:
		checkTask(wrong, it)
	case product.TypeReminder:
		checkReminder(wrong, it)
	case entity.TypeInstance:
		checkException(wrong, t, it)
	}
}

// checkTask checks that the times of a task's end are those of its state.
func checkTask(wrong *entity.Faults, it item.Item) {
	const reason = "a task in this state has none"
	switch it.Str(entity.AttrStatus) {
	case product.StatusCompleted:
		wrong.Require(it, product.AttrCompletedAt, "a completed task has it")
		wrong.Refuse(it, reason, product.AttrArchivedAt)
	case product.StatusArchived:
		wrong.Require(it, product.AttrArchivedAt, "an archived task has it")
		wrong.Refuse(it, reason, product.AttrArchiveAt)
	default:
		wrong.Refuse(it, reason, product.AttrCompletedAt, product.AttrCompletedOn, product.AttrArchiveAt,
			product.AttrArchivedAt)
	}
	done, _ := it.Time(product.AttrCompletedAt)
	if at, ok := it.Time(product.AttrArchiveAt); ok && (at.Before(done) || at.Sub(done) > longestDelay) {
		wrong.Add(product.AttrArchiveAt, "must be at most %v after the completion", longestDelay)
	}
}

// checkReminder checks that a snooze belongs to its state, and a trigger to its rule.
func checkReminder(wrong *entity.Faults, it item.Item) {
	if it.Str(entity.AttrStatus) == product.StatusSnoozed {
		wrong.Require(it, product.AttrSnoozeState, "a snoozed reminder has it")
	}
	trigger, _ := it.Time(product.AttrTriggerUtc)
	// The first trigger is as its user set it: an hour that occurs twice may be the second, which no rule means.
	if !it.Has(product.AttrRRule) || item.Equal(it[product.AttrTriggerUtc], it[product.AttrFirstTriggerUtc]) {
		return
	}
	triggers, err := product.CompileReminder(it)
	if err != nil {
		return // the rules of the type refuse it
	}
	if at, ok := triggers.Next(trigger.Add(-time.Second)); !product.TriggerDone(it) && (!ok || !at.Start.Equal(trigger)) {
		wrong.Add(product.AttrTriggerUtc, "must be one of the rule, which counts from firstTriggerUtc")
	}
}

// checkException checks that an exception is that of its series and date, and has only the fields that it names.
func checkException(wrong *entity.Faults, t *entity.Type, it item.Item) {
	masterID, _, err := entity.ParseInstanceID(it.Str(product.AttrEventID))
	if err != nil || it.Str(product.AttrMasterID) != masterID {
		wrong.Add(product.AttrMasterID, "must be the series of the id")
	}
	names := it.Strings(product.AttrModifiedFields)
	for _, name := range names {
		if f, ok := t.Field(name); name != product.AttrKept && (!ok || f.Origin != entity.FromClient) {
			wrong.Add(product.AttrModifiedFields, "must name fields of an occurrence")
			break
		}
	}
	for _, f := range t.Fields {
		if f.Origin == entity.FromClient && it.Has(f.Name) && !slices.Contains(names, f.Name) &&
			!slices.Contains(product.SpanFields(), f.Name) {
			wrong.Add(f.Name, "is not among modifiedFields")
		}
	}
}

// settings reads settings.json as the row that an account without one gets.
func (p *parser) settings(l numberedLine) (item.Item, error) {
	doc, h, err := p.document(l)
	if err != nil {
		return nil, err
	}
	t := p.Registry.ByName(entity.TypeUserMeta)
	name, _ := doc[entity.AttrType].(string)
	if name != t.Name || h != (hiddenMembers{}) || doc[product.AttrStats] != nil {
		return nil, l.refuse("must be a %s without statistics", t.Name)
	}
	it, errs := p.read(l, t, doc)
	if err := entity.Invalid(errs); err != nil {
		return nil, p.invalid(l, err)
	}
	it = t.Rewritten(p.user, p.user, it)
	var wrong entity.Faults
	if version := it.Int(entity.AttrVersion); version < 0 || version > maxVersion {
		wrong.Add(entity.AttrVersion, "must be 0 to %d", int64(maxVersion))
	}
	for _, name := range []string{entity.AttrCreatedAt, entity.AttrUpdatedAt} {
		if at, ok := it.Time(name); ok && at.After(p.now.Add(skew)) {
			wrong.Add(name, "must be an instant that has passed")
		}
	}
	if err := entity.Invalid(t.Validate(it), wrong); err != nil {
		return nil, p.invalid(l, err)
	}
	return it, nil
}

// copied reads a line of an item of which only the cold copy is left.
func (p *parser) copied(l numberedLine) (parsed, error) {
	out, err := p.entity(l)
	if err != nil {
		return out, err
	}
	if _, leaves := archive.Leaves(out.typ, out.item); !leaves {
		return out, l.refuse("only what is done, cancelled or archived, and was not restored in that state, is a copy")
	}
	return out, nil
}

// gone reads a line of an id that never comes back, and returns the row that keeps it so.
func (p *parser) gone(l numberedLine) (id string, row item.Item, err error) {
	var line goneLine
	if err := decode(l.text, &line); err != nil {
		return "", nil, l.refuse("%v", err)
	}
	if !p.isID(line.ID) {
		return "", nil, l.refuse("id %.60q is that of no item", line.ID)
	}
	row = entity.GoneKey(p.user, line.ID).Item()
	if line.BecameID == "" {
		return line.ID, row, nil
	}
	wasEvent := p.Registry.ByID(line.ID).Name == product.TypeEvent
	if !wasEvent || entity.CheckID(entity.MasterIDPrefix, line.BecameID) != nil {
		return "", nil, l.refuse("becameId must be the id of the series that an event became")
	}
	row[product.AttrBecameID] = item.String(line.BecameID)
	return line.ID, row, nil
}

// isID reports whether it is the id of an item that a user can delete for good.
func (p *parser) isID(id string) bool {
	t := p.Registry.ByID(id)
	return t != nil && t.Name != entity.TypeInstance && entity.CheckID(t.IDPrefix, id) == nil
}

// errTwice names an id that a file has twice.
func errTwice(l numberedLine, id string) error {
	return l.refuse("%s is in the file twice", fmt.Sprintf("%.60q", id))
}
