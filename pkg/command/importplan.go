package command

import (
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/wallclock"
)

// plan decides what to write for one thing.
func (r *importing) plan(thing Imported, p place) work {
	switch {
	case thing.OnlyExceptions && p.stored == nil:
		return refusal(ErrNoSeries)
	case p.dead:
		return refusal(ErrManyLives)
	case thing.OnlyExceptions:
		return r.planExceptions(thing, p)
	case p.stored == nil:
		return r.planNew(thing, p)
	}
	before, _ := thing.Type.VisibleAt(p.stored, r.now)
	isNewer := thing.Sequence > product.Revision(before)
	result := ImportResult{Outcome: Unchanged, Ref: p.ref}
	if thing.Says(before, p.kept, p.instances) && !isNewer {
		result.Exceptions = make([]ImportResult, len(thing.Exceptions))
		return work{result: result, idle: p.idle()}
	}
	if thing.Sequence < product.Revision(before) {
		return refusal(ErrOutdated)
	}
	after, err := r.changed(thing, before)
	if err != nil {
		return refusal(err)
	}
	if after != nil && !isNewer && product.IsOlder(thing.Stamp, before) {
		return refusal(ErrOutdated)
	}
	if thing.Type.Name == entity.TypeMaster {
		return r.planSeries(thing, p, after, isNewer)
	}
	if after == nil {
		return work{result: result}
	}
	result.Outcome = Updated
	steps := []step{{action: table.Diff(p.stored, after, table.AtVersion(p.stored.Int(entity.AttrVersion)))}}
	return work{result: result, steps: append(steps, keepStep(p.stored, after, thing.Kept)...)}
}

// planNew creates a thing. It replaces an entity of another type with the same UID, if there is one.
func (r *importing) planNew(thing Imported, p place) work {
	var links item.Value
	var steps []step
	var gone []string
	if p.other != nil {
		stored := product.Revision(p.other)
		if stored > thing.Sequence || stored == thing.Sequence && product.IsOlder(thing.Stamp, p.other) {
			return refusal(ErrOutdated)
		}
		links = p.other[entity.AttrLinks]
		ref := p.otherType.Ref(p.other)
		condition := table.AtVersion(p.other.Int(entity.AttrVersion))
		if ref.Type == entity.TypeMaster {
			condition = unchanged(p.other)
			if len(p.instances) > maxReplaced {
				gone = []string{ref.ID}
			}
		}
		row := goneRow(r.user, ref.ID, p.other.Int(entity.AttrVersion), r.now)
		steps = []step{{action: table.Delete{Key: p.other.Key(), If: condition}}, {action: table.Put{Item: row}}}
		steps = append(steps, dropKept(p.other)...)
		for _, it := range p.instances[:min(len(p.instances), maxReplaced)] {
			steps = append(append(steps, step{action: table.Delete{Key: it.Key()}}), dropKept(it)...)
		}
	}
	it, err := r.first(thing, p.ref.ID, links)
	if err != nil {
		return refusal(err)
	}
	result := ImportResult{Outcome: Created, Ref: p.ref}
	absent := []step{
		{action: table.Check{Key: entity.GoneKey(r.user, p.ref.ID), If: table.NotExists()}},
		{action: table.Check{Key: entity.ColdKey(r.user, p.ref.ID), If: table.NotExists()}},
	}
	w := work{result: result, gone: gone}
	if thing.Type.Name == entity.TypeMaster {
		w = r.withExceptions(w, thing, it, nil, func(master item.Item) []step {
			return []step{{action: table.Put{Item: master, If: table.NotExists()}}}
		})
	} else {
		w.steps = []step{{action: table.Put{Item: it, If: table.NotExists()}}}
	}
	w.steps = append(w.steps, keepStep(nil, it, thing.Kept)...)
	w.steps = slices.Concat(steps, w.steps, absent)
	return w
}

// first returns the entity to create.
func (r *importing) first(thing Imported, id string, links item.Value) (item.Item, error) {
	t := thing.Type
	merged, unsettled := t.Merge(nil, thing.Fields)
	merged.Set(entity.AttrLinks, links)
	it := t.NewItem(r.user, id, merged, r.now, r.preferences())
	told := it.Clone()
	if r.isPast(thing.CreatedAt) {
		told.SetTime(entity.AttrCreatedAt, thing.CreatedAt)
	}
	if _, ok := t.Field(product.AttrICalUID); ok {
		told[product.AttrICalUID] = item.String(thing.UID)
	}
	setKept(told, thing.Kept)
	it = r.completeItem(thing, it, told)
	if t.Dues != nil && len(t.Dues(it)) > 0 {
		it.SetTime(product.AttrDueSetAt, r.now)
	}
	return it, entity.Invalid(unsettled, t.Validate(it))
}

// changed returns the entity after the import; nil if it stays unchanged.
func (r *importing) changed(thing Imported, before item.Item) (item.Item, error) {
	t := thing.Type
	fields := thing.Fields
	if isAlive(before) && fields.Str(entity.AttrStatus) == product.StatusPending {
		fields = fields.Clone()
		delete(fields, entity.AttrStatus) // another calendar does not affect a snooze
		if r.countsFrom(fields, before) {
			delete(fields, product.AttrTriggerUtc) // its position in its series stays
		}
	}
	merged, unsettled := t.Merge(before, fields)
	if thing.Sequence > product.Revision(before) {
		merged[product.AttrSequence] = item.Int(thing.Sequence)
	}
	setKept(merged, thing.Kept)
	if merged.Equal(before) {
		return nil, nil
	}
	it := t.NextVersion(entity.ByUser, r.user, before, merged, r.now, r.preferences())
	told := it.Clone()
	if t.Name == product.TypeReminder && !isAlive(merged) {
		told[entity.AttrStatus] = merged[entity.AttrStatus] // a new trigger made it pending; the file says that it is over
	}
	it = r.completeItem(thing, it, told)
	if t.DuesDiffer(before, it) {
		it.SetTime(product.AttrDueSetAt, r.now)
	}
	return it, entity.Invalid(unsettled, t.Validate(it))
}

// isAlive reports whether a reminder is still to come.
func isAlive(it item.Item) bool {
	status := it.Str(entity.AttrStatus)
	return status == product.StatusPending || status == product.StatusSnoozed
}

// countsFrom reports whether a recurring reminder has the imported rule and first trigger.
func (r *importing) countsFrom(fields, stored item.Item) bool {
	bare := item.Item{}
	for _, name := range []string{product.AttrTriggerUtc, product.AttrTzid} {
		bare[name] = fields[name]
	}
	told, _ := product.Reminder().Merge(nil, bare)
	return stored.Has(product.AttrRRule) && !stored.Has(product.AttrRRuleUntil) &&
		item.Equal(fields[product.AttrRRule], stored[product.AttrRRule]) &&
		item.Equal(told[product.AttrTriggerUtc], stored[product.AttrFirstTriggerUtc]) &&
		item.Equal(told[product.AttrTzid], stored[product.AttrTzid])
}

// completeItem adds the import's values that are no client's fields to the entity, and derives everything again, in the
// same version.
func (r *importing) completeItem(thing Imported, it, told item.Item) item.Item {
	told[product.AttrSequence] = item.Int(thing.Sequence)
	product.SetStamp(told, thing.Stamp)
	if told.Has(product.AttrCompletedAt) && r.isPast(thing.CompletedAt) {
		told.SetTime(product.AttrCompletedAt, thing.CompletedAt)
		if !item.Equal(told[product.AttrCompletedAt], it[product.AttrCompletedAt]) {
			delete(told, product.AttrCompletedOn) // the day follows
		}
	}
	if thing.Type.Name == product.TypeReminder && told.Str(entity.AttrStatus) == product.StatusPending {
		r.moveOn(told)
	}
	next := thing.Type.NextVersion(entity.ByUser, r.user, it, told, r.now, r.preferences())
	next[entity.AttrVersion] = it[entity.AttrVersion]
	return next
}

// moveOn moves a recurring reminder past the occurrences before the import.
func (r *importing) moveOn(it item.Item) {
	if !it.Has(product.AttrRRule) {
		return
	}
	triggers, err := product.CompileReminder(it)
	if err != nil {
		return // the validation of the whole entity refuses it
	}
	zone, err := wallclock.LoadLocation(r.meta.Str(product.AttrDefaultTzid))
	if err != nil {
		zone = time.UTC // for a floating reminder: the error is a few hours at most, and only in what is skipped
	}
	triggers = triggers.In(zone)
	next, ok := triggers.Next(r.now.Add(-time.Second))
	if !ok {
		if next, ok = triggers.Last(); !ok {
			return
		}
	}
	at := next.Start
	if !it.Has(product.AttrTzid) {
		at = next.Wall
	}
	if now, _ := it.Time(product.AttrTriggerUtc); now.Before(at) {
		it.SetTime(product.AttrTriggerUtc, at)
	}
}

func (r *importing) preferences() item.Item { return product.Settings(r.meta) }

// isPast reports whether a time of creation is plausible: files contain meaningless ones in the future and in the year
// 1.
func (r *importing) isPast(at time.Time) bool { return at.Year() >= 1900 && !at.After(r.now) }
