package query

import (
	"slices"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/search"
	"nexus/pkg/series"
	"nexus/pkg/wallclock"
)

// What a document may be.
const (
	isOpen      = "open"      // a task or reminder that is not done
	isDone      = "done"      // one that was completed or dismissed
	isOverdue   = "overdue"   // an open task whose due time has come
	isToday     = "today"     // shown in the agenda of today in the user's zone
	isUndated   = "undated"   // a task without start and due time
	isPinned    = "pinned"    // a pinned note
	isRecurring = "recurring" // a series, an exception, or a recurring reminder
	isArchived  = "archived"  // an archived task or note
)

// searchView judges the documents of an index by a question and a clock in a zone.
type searchView struct {
	*Service
	*asked
	user      string
	index     *search.Index
	zone      *time.Location
	now       time.Time
	wall      time.Time              // the latest reading of a clock in the zone
	from, to  time.Time              // the window; all years without one
	instances map[string][]item.Item // of a series, by its id; nil until they are needed
}

func (s *Service) view(user string, x *search.Index, zone *time.Location, a *asked) *searchView {
	now := s.now().UTC()
	v := &searchView{
		Service: s, asked: a, user: user, index: x, zone: zone, now: now,
		wall: item.LatestWall(now.Truncate(time.Second), zone), from: a.From, to: a.To,
	}
	if slices.Contains(a.Is, isToday) {
		day := item.Wall(now, zone).Truncate(24 * time.Hour)
		if from := item.Resolve(day, zone); from.After(v.from) {
			v.from = from
		}
		if to := item.Resolve(day.AddDate(0, 0, 1), zone); v.to.IsZero() || to.Before(v.to) {
			v.to = to
		}
	}
	if v.from.IsZero() {
		v.from = time.Date(minYear, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	if v.to.IsZero() {
		v.to = time.Date(maxYear+1, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return v
}

func (v *searchView) question() search.Question {
	return search.Question{
		Query: v.words, Now: v.now, Keep: v.keeps, Sort: v.sort, Limit: v.limit, After: v.after,
	}
}

// keeps reports whether a document that has the words is a hit. It sets the spans by which hits are ordered.
func (v *searchView) keeps(d *search.Document) bool {
	switch {
	case d.Flags&flagSilent != 0,
		len(v.Types) > 0 && !slices.Contains(v.Types, shownType(d.Type)),
		len(v.Statuses) > 0 && !slices.Contains(v.Statuses, d.Status),
		!v.UpdatedFrom.IsZero() && d.Updated.Before(v.UpdatedFrom),
		len(v.AnyTag) > 0 && !slices.ContainsFunc(v.AnyTag, func(tag string) bool { return slices.Contains(d.Tags, tag) }),
		slices.ContainsFunc(v.asked.Tags, func(tag string) bool { return !slices.Contains(d.Tags, tag) }),
		slices.ContainsFunc(v.Is, func(mark string) bool { return !v.is(mark, d) }):
		return false
	case !v.hasWindow() && v.sort != search.ByStart:
		return true
	}
	span, _ := v.when(d)
	if d.Spans = nil; span != nil {
		d.Spans = []search.Span{*span}
	}
	return span != nil || !v.hasWindow()
}

// shownType returns the type under which an entity is asked for.
func shownType(name string) string {
	if name == entity.TypeMaster || name == entity.TypeInstance {
		return product.TypeEvent
	}
	return name
}

func (v *searchView) is(mark string, d *search.Document) bool {
	isTask := d.Type == product.TypeTask
	isOpenTask := isTask && (d.Status == product.StatusBacklog || d.Status == product.StatusInProgress)
	switch mark {
	case isOpen:
		return isOpenTask ||
			d.Type == product.TypeReminder && (d.Status == product.StatusPending || d.Status == product.StatusSnoozed)
	case isDone:
		return (isTask || d.Type == product.TypeReminder) &&
			(d.Status == product.StatusCompleted || d.Status == product.StatusDismissed)
	case isOverdue:
		if !isOpenTask || d.Due == nil {
			return false
		}
		clock := v.now
		if d.Due.Floating {
			clock = v.wall
		}
		return !d.Due.Start.After(clock)
	case isUndated:
		return isTask && len(d.Spans) == 0 && d.Due == nil
	case isPinned:
		return d.Flags&flagPinned != 0
	case isRecurring:
		return d.Flags&flagRecurring != 0
	case isArchived:
		return d.Status == product.StatusArchived
	}
	return true // today: the window decides
}

// shows reports whether a span overlaps the window.
func (v *searchView) shows(start, end time.Time) bool {
	return start.Before(v.to) && (!start.Before(v.from) || end.After(v.from))
}

// when returns when the document takes place, in real instants: the first time in the window. Without a window it is
// the next time of what recurs, and the first of anything else. Nil for never. The date is that of an occurrence.
func (v *searchView) when(d *search.Document) (*search.Span, string) {
	if !v.hasWindow() {
		if d.Flags&flagRecurring != 0 && d.Data != "" && d.Type != entity.TypeInstance {
			ahead := *v
			ahead.from = v.now
			if span, date := ahead.first(d); span != nil {
				return span, date
			}
		}
		return v.earliest(d, func(time.Time, time.Time) bool { return true })
	}
	return v.first(d)
}

// has reports whether an exception's series has its date in the user's zone: of a day that the zone skips, the
// occurrence is that of the day after (pkg/recurrence).
func (v *searchView) has(d *search.Document, date string) bool {
	of := v.index.Get(d.Parent)
	if of == nil {
		return false
	}
	row := v.row(of)
	rule, err := v.masterRules.compiled(row, series.Compile)
	if err != nil {
		return false
	}
	_, ok := rule.Series(row, v.zone).On(date)
	return ok
}

// first returns the first time in the window.
func (v *searchView) first(d *search.Document) (*search.Span, string) {
	switch {
	case d.Type == product.TypeTask && d.Status == product.StatusArchived:
		return nil, "" // as in the agenda
	case d.Type == entity.TypeMaster:
		return v.firstOfSeries(d)
	case d.Type == product.TypeReminder && d.Data != "":
		return v.firstOfReminder(d)
	}
	return v.earliest(d, v.shows)
}

// earliest returns the earliest of the document's own spans that counts, in real instants. It returns the date of an
// exception, too.
func (v *searchView) earliest(
	d *search.Document, counts func(start, end time.Time) bool,
) (first *search.Span, date string) {
	if d.Type == entity.TypeInstance {
		if date, _ = dateOf(d.ID); len(d.Spans) > 0 && !v.has(d, date) {
			return nil, date
		}
	}
	for _, s := range d.Spans {
		if s.Floating {
			s.Start, s.End = item.Resolve(s.Start, v.zone), item.Resolve(s.End, v.zone)
		}
		if counts(s.Start, s.End) && (first == nil || s.Start.Before(first.Start)) {
			first = &s
		}
	}
	return first, date
}

// row returns the row that a document keeps. Its key tells it from other users' rows.
func (v *searchView) row(d *search.Document) item.Item {
	it, err := change.ParseItem([]byte(d.Data))
	if err != nil {
		return nil // never: the snapshot's checksum is right
	}
	key := entity.ItemKey(v.user, entity.Ref(d.Ref))
	it[item.AttrPK], it[item.AttrSK] = item.String(key.PK), item.String(key.SK)
	return it
}

// firstOfSeries returns the first occurrence in the window that no exception with words of its own stands for.
func (v *searchView) firstOfSeries(d *search.Document) (*search.Span, string) {
	row := v.row(d)
	rule, err := v.masterRules.compiled(row, series.Compile)
	if err != nil {
		return nil, ""
	}
	s := rule.Series(row, v.zone, v.exceptionsOf(d.ID)...)
	// One that begins behind the window ends the search in an endless series.
	o, ok := s.Next(v.from.Add(-s.Reach()-1), func(o series.Occurrence) bool {
		return !o.Start.Before(v.to) || v.shows(o.Start, o.End) && !(o.Exception != nil && hasOwnWords(o.Exception))
	})
	if !ok || !o.Start.Before(v.to) {
		return nil, ""
	}
	return &search.Span{Start: o.Start, End: o.End}, o.Date
}

func (v *searchView) exceptionsOf(masterID string) []item.Item {
	if v.instances == nil {
		v.instances = map[string][]item.Item{}
		for d := range v.index.All() {
			if d.Type == entity.TypeInstance {
				v.instances[d.Parent.ID] = append(v.instances[d.Parent.ID], v.row(d))
			}
		}
	}
	return v.instances[masterID]
}

// firstOfReminder returns the first time of a recurring reminder in the window, a snoozed occurrence at the end of its
// snooze.
func (v *searchView) firstOfReminder(d *search.Document) (*search.Span, string) {
	row := v.row(d)
	if status := d.Status; status != product.StatusPending && status != product.StatusSnoozed {
		return nil, ""
	}
	rule, err := v.reminderRules.compiled(row, product.CompileReminder)
	if err != nil {
		return nil, ""
	}
	snooze := row.Map(product.AttrSnoozeState)
	until, isSnoozed := snooze.Time(product.SnoozeUntilUtc)
	snoozed := ""
	if isSnoozed = isSnoozed && d.Status == product.StatusSnoozed; isSnoozed {
		at, _ := snooze.Time(product.SnoozeOccurrenceUtc)
		zone, err := wallclock.LoadLocation(row.Str(product.AttrTzid))
		if err != nil {
			zone = v.zone
		}
		snoozed = item.CompactDate(item.Wall(at, zone))
	}
	rule = rule.In(v.zone)
	for o, ok := rule.Next(v.from.Add(-1)); ok && o.Start.Before(v.to); o, ok = rule.Next(o.Start) {
		date := item.CompactDate(o.Wall)
		switch {
		case date == snoozed:
		case isSnoozed && v.shows(until, until) && until.Before(o.Start):
			return &search.Span{Start: until, End: until}, snoozed
		default:
			return &search.Span{Start: o.Start, End: o.Start}, date
		}
	}
	if isSnoozed && v.shows(until, until) {
		return &search.Span{Start: until, End: until}, snoozed
	}
	return nil, ""
}

// hit adds to a hit what its document means.
func (v *searchView) hit(h search.Hit) SearchHit {
	out := SearchHit{
		Hit: h, AllDay: h.Flags&flagAllDay != 0, IsPinned: h.Flags&flagPinned != 0,
		IsRecurring: h.Flags&flagRecurring != 0,
	}
	if h.Type == entity.TypeInstance {
		out.SeriesID = h.Parent.ID
	}
	out.Span, out.Date = v.when(&h.Document)
	return out
}
