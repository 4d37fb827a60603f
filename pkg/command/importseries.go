package command

import (
	"maps"
	"slices"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/series"
	"nexus/pkg/table"
)

// planSeries changes a series; after is nil if only its exceptions may change.
func (r *importing) planSeries(thing Imported, p place, after item.Item, isNewer bool) work {
	w := work{result: ImportResult{Outcome: Unchanged, Ref: p.ref}, idle: p.idle()}
	master := p.stored
	if after != nil {
		w.result.Outcome, master = Updated, after
		w.before, w.idle = w.idle, nil
		// Undone now, so that the following code finds them in their later state.
		p.instances = r.asUndone(p.instances, w.before)
		if changed, err := open(after, p.instances...); err == nil {
			w.idle = changed.Idle()
		}
	}
	keep := after == nil || !isNewer
	return r.withExceptions(w, thing, master, r.instancesByDate(p, keep), func(next item.Item) []step {
		steps := []step{{action: table.Diff(p.stored, next, unchanged(p.stored))}}
		if after == nil {
			return steps
		}
		return append(steps, keepStep(p.stored, after, thing.Kept)...)
	})
}

// idle returns the exceptions that the present series hides: an interrupted change has left them.
func (p place) idle() []item.Item {
	if len(p.instances) == 0 {
		return nil
	}
	s, err := open(p.stored, p.instances...)
	if err != nil {
		return nil // no exception of a damaged series is known to be hidden
	}
	return s.Idle()
}

// asUndone returns the rows, in which those to be undone first already have their later state.
func (r *importing) asUndone(rows, undone []item.Item) []item.Item {
	out := slices.Clone(rows)
	for i, row := range out {
		if slices.ContainsFunc(undone, func(it item.Item) bool { return it.Key() == row.Key() }) {
			out[i] = r.undone(row)
		}
	}
	return out
}

func (r *importing) planExceptions(thing Imported, p place) work {
	w := work{result: ImportResult{Outcome: Unchanged, Ref: p.ref}, idle: p.idle()}
	return r.withExceptions(w, thing, p.stored, r.instancesByDate(p, true), func(next item.Item) []step {
		return []step{{action: table.Diff(p.stored, next, unchanged(p.stored))}}
	})
}

// stock holds the instances of a series by date.
type stock struct {
	rows map[string]item.Item
	// keep those that the import does not name.
	keep bool
}

func (r *importing) instancesByDate(p place, keep bool) *stock {
	s := &stock{map[string]item.Item{}, keep}
	for _, row := range p.instances {
		if _, date, err := entity.ParseInstanceID(row.Str(product.AttrEventID)); err == nil {
			s.rows[date] = row
		}
	}
	return s
}

// withExceptions adds the exceptions to the work about a series. Commit makes the steps that write the given series.
func (r *importing) withExceptions(
	w work, thing Imported, master item.Item, known *stock, commit func(item.Item) []step,
) work {
	if known == nil {
		known = &stock{rows: map[string]item.Item{}, keep: true}
	}
	bare, err := open(master)
	if err != nil {
		return refusal(ErrDamaged)
	}
	e := &exceptions{importing: r, series: bare, known: known, named: map[string]bool{}}
	for _, row := range known.rows {
		if _, date, _ := entity.ParseInstanceID(row.Str(product.AttrEventID)); row.Has(product.AttrModifiedFields) &&
			e.counts(date) {
			e.count++
		}
	}
	for _, x := range thing.Exceptions {
		w.result.Exceptions = append(w.result.Exceptions, e.add(x))
	}
	if !known.keep {
		e.undoOthers()
	}
	isWritten := w.result.Outcome != Unchanged
	if len(e.steps) == 0 {
		if isWritten {
			w.steps = commit(master)
		}
		return w
	}
	for i, chunk := range chunks(e.steps, maxTidied-2) {
		next := master.Clone()
		next[product.AttrHasExceptions] = item.Bool(true)
		next[product.AttrExceptionsVersion] = item.Int(master.Int(product.AttrExceptionsVersion) + 1)
		if i == 0 {
			w.steps = append(commit(next), chunk...)
		} else {
			w.more = append(w.more, append([]step{{action: table.Diff(master, next, unchanged(master))}}, chunk...))
		}
		master = next
	}
	return w
}

// chunks divides the writes of occurrences into transactions of at most so many actions. Writes of one occurrence stay
// together.
func chunks(occurrences [][]step, most int) [][]step {
	var all [][]step
	room := 0
	for _, steps := range occurrences {
		if len(all) == 0 || len(steps) > room {
			all, room = append(all, nil), most
		}
		last := len(all) - 1
		all[last], room = append(all[last], steps...), room-len(steps)
	}
	return all
}

// exceptions turns occurrences into instances.
type exceptions struct {
	*importing
	series *series.Series // without exceptions
	known  *stock
	named  map[string]bool
	steps  [][]step // for each occurrence
	count  int      // of exceptions in force
	made   int      // instances that had no row
}

func (e *exceptions) counts(date string) bool { _, ok := e.series.On(date); return ok }

func (e *exceptions) add(x Exception) ImportResult {
	date := x.Date(e.series.Master().Str(product.AttrStartTzid))
	o, ok := e.series.On(date)
	switch {
	case !ok:
		return ImportResult{Outcome: Refused, Err: ErrNoOccurrence}
	case e.named[date]:
		return ImportResult{Outcome: Refused, Err: ErrTwice}
	}
	e.named[date] = true
	told, unsettled := e.instanceType().Merge(nil, x.Fields)
	if err := entity.Invalid(unsettled); err != nil {
		return ImportResult{Outcome: Refused, Err: err}
	}
	usual := e.series.Item(o)
	row := e.known.rows[date]
	setKept(told, x.Kept)
	fields := e.own(told, usual, row, x.Excluded)
	result := ImportResult{Ref: entity.Ref{Type: entity.TypeInstance, ID: usual.Str(product.AttrEventID)}}
	isOwn, wasOwn := fields.Has(product.AttrModifiedFields), row.Has(product.AttrModifiedFields)
	if isOwn {
		fields[product.AttrSequence] = item.Int(x.Sequence)
		product.SetStamp(fields, x.Stamp)
	}
	if wasOwn && x.Sequence <= product.Revision(row) {
		if saysTheSame(row, fields) {
			return result
		}
		if x.Sequence < product.Revision(row) || product.IsOlder(x.Stamp, row) {
			return ImportResult{Outcome: Refused, Err: ErrOutdated}
		}
	}
	switch {
	case !isOwn && !wasOwn:
		return result
	case isOwn && !wasOwn:
		if e.count == MaxExceptions {
			return ImportResult{Outcome: Refused, Err: ErrManyExceptions}
		}
		if row == nil && len(e.known.rows)+e.made == MaxInstances {
			return ImportResult{Outcome: Refused, Err: ErrManyDates}
		}
		e.count++
	case !isOwn:
		e.count--
		result.Outcome = Updated
		e.undo(row)
		return result
	}
	return e.write(result, row, fields, x.Kept)
}

// saysTheSame reports whether an instance holds these fields, revision aside.
func saysTheSame(row, fields item.Item) bool {
	for _, f := range product.Instance().Fields {
		if (f.Origin == entity.FromClient || f.Name == product.AttrModifiedFields || f.Name == product.AttrKept) &&
			!item.Equal(row[f.Name], fields[f.Name]) {
			return false
		}
	}
	return true
}

// own returns the fields of an instance: its times, and the differences from the series. The status of an excluded one
// is a difference in any case. Another calendar does not affect links.
func (e *exceptions) own(told, usual, row item.Item, isExcluded bool) item.Item {
	fields := item.Item{
		product.AttrMasterID: usual[product.AttrMasterID], product.AttrRecurrenceID: usual[product.AttrRecurrenceID],
	}
	var names item.List
	span := usual
	for _, f := range e.instanceType().Fields {
		switch {
		case f.Name == product.AttrKept && !item.Equal(told[f.Name], e.series.Master()[f.Name]):
			names = append(names, item.String(f.Name))
			fields.Set(f.Name, told[f.Name])
		case f.Origin != entity.FromClient:
		case f.Name == product.AttrVisibility && !told.Has(f.Name): // without CLASS it is as private as its series
		case f.Name == entity.AttrLinks:
			if slices.Contains(row.Strings(product.AttrModifiedFields), f.Name) {
				names = append(names, item.String(f.Name))
				fields.Set(f.Name, row[f.Name])
			}
		case isExcluded && f.Name == entity.AttrStatus, !item.Equal(told[f.Name], usual[f.Name]):
			names = append(names, item.String(f.Name))
			if slices.Contains(product.SpanFields(), f.Name) {
				span = told
			} else {
				fields.Set(f.Name, told[f.Name])
			}
		}
	}
	for _, name := range product.SpanFields() {
		fields.Set(name, span[name])
	}
	fields.Set(product.AttrModifiedFields, names)
	return fields
}

// write creates or changes the instance and the text beside it.
func (e *exceptions) write(result ImportResult, row, fields item.Item, kept string) ImportResult {
	t := e.instanceType()
	var it item.Item
	var action table.Action
	if row == nil {
		result.Outcome = Created
		it = e.firstInstance(e.series.Master(), result.Ref.ID, fields)
		e.asks(nil, it)
		action = table.Put{Item: it, If: table.NotExists()}
	} else {
		merged := row.Clone()
		for _, f := range t.Fields {
			switch f.Name {
			case product.AttrModifiedFields, product.AttrRecurrenceID, product.AttrSequence, product.AttrKept, product.AttrStamp:
				merged.Set(f.Name, fields[f.Name])
			default:
				if f.Origin == entity.FromClient {
					merged.Set(f.Name, fields[f.Name])
				}
			}
		}
		if merged.Equal(row) {
			return result
		}
		result.Outcome = Updated
		sequence, stamp := merged[product.AttrSequence], merged[product.AttrStamp]
		it = e.nextInstance(e.series.Master(), row, merged)
		it.Set(product.AttrSequence, sequence) // as in the import, although it did change something
		it.Set(product.AttrStamp, stamp)
		e.asks(row, it)
		action = table.Diff(row, it, table.AtVersion(row.Int(entity.AttrVersion)))
	}
	if err := entity.Invalid(t.Validate(it)); err != nil {
		return ImportResult{Outcome: Refused, Err: err}
	}
	if !it.Has(product.AttrKept) {
		kept = ""
	}
	if row == nil {
		e.made++
	}
	e.steps = append(e.steps, append([]step{{action: action}}, keepStep(row, it, kept)...))
	return result
}

// undoOthers undoes the exceptions that a later revision of the series no longer names; the user's own links stay.
func (e *exceptions) undoOthers() {
	for _, date := range slices.Sorted(maps.Keys(e.known.rows)) {
		row := e.known.rows[date]
		o, ok := e.series.On(date)
		if !ok || e.named[date] || !row.Has(product.AttrModifiedFields) {
			continue
		}
		usual := e.series.Item(o)
		usual.Set(product.AttrKept, e.series.Master()[product.AttrKept])
		if fields := e.own(usual, usual, row, false); fields.Has(product.AttrModifiedFields) {
			e.write(ImportResult{Ref: entity.Ref{Type: entity.TypeInstance, ID: usual.Str(product.AttrEventID)}}, row,
				fields, "")
			continue
		}
		e.undo(row)
	}
}
