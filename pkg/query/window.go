package query

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/wallclock"
)

const (
	// maxWindow is the longest window of an agenda.
	maxWindow = 366 * 24 * time.Hour
	// lookBack is how far before the window an event may begin and still be found by its start; longer ones are found by
	// their end.
	lookBack = 24 * time.Hour
	// floatingSlack is the largest difference between a floating reading and its instant: zones reach from -12 to +14 h.
	floatingSlack = 14 * time.Hour

	maxTypes = 20
	maxTags  = 50
	maxTag   = 64 // characters
)

// The years of all items.
const (
	minYear = 1900
	maxYear = 2199
)

// window is a checked agenda query.
type window struct {
	user     string
	from, to time.Time
	zone     *time.Location // nil for the user's own, which the first page reads
	own      string         // the name of the user's own zone if the query names none; "" until it is read
	types    []string
	tags     []string
	statuses []string
	limit    int
	question question
	after    place // only entries after it are requested; zero for all
}

func (s *Service) window(user string, q AgendaQuery) (window, error) {
	if err := checkUser(user); err != nil {
		return window{}, err
	}
	w := window{user: user, from: q.From.UTC(), to: q.To.UTC(), types: q.Types, tags: q.Tags, statuses: q.Statuses}
	if len(w.types) == 0 {
		w.types = []string{product.TypeEvent, product.TypeTask, product.TypeReminder}
	}
	if err := s.checkWindow(w); err != nil {
		return window{}, err
	}
	var err error
	if q.Zone != "" {
		if w.zone, err = wallclock.LoadLocation(q.Zone); err != nil {
			return window{}, refuse("tz", "%v", err)
		}
	}
	if w.limit, err = limitOf(q.Limit); err != nil {
		return window{}, err
	}
	w.question = w.asQuestion(q.Zone)
	err = s.resume(&w, q.Cursor)
	return w, err
}

// AgendaTypes returns the type names that an agenda accepts: series and their exceptions are events there.
func AgendaTypes(r *entity.Registry) []string {
	return slices.DeleteFunc(r.Collections(), func(name string) bool {
		return r.ByName(name).OwnCommands || !isTitled(r.ByName(name))
	})
}

// isTitled reports whether entities of the type have titles. Those without, such as endpoints of webhooks, take place
// at no time, and no search is for their words.
func isTitled(t *entity.Type) bool {
	return slices.ContainsFunc(t.Fields, func(f entity.Field) bool { return f.Name == entity.AttrTitle })
}

// checkWindow reports all faults at once.
func (s *Service) checkWindow(w window) error {
	var errs []entity.FieldError
	refuse := func(param, format string, args ...any) {
		errs = append(errs, entity.FieldError{Pointer: "/" + param, Detail: fmt.Sprintf(format, args...)})
	}
	inYears := func(param string, t time.Time) {
		if t.Year() < minYear || t.Year() > maxYear {
			refuse(param, "must lie in the years %d to %d", minYear, maxYear)
		}
	}
	inYears("from", w.from)
	inYears("to", w.to)
	switch {
	case !w.from.Before(w.to):
		refuse("to", "must be after from")
	case w.to.Sub(w.from) > maxWindow:
		refuse("to", "must be at most 366 days after from")
	}
	if len(w.types) > maxTypes {
		refuse("types", "must be at most %d", maxTypes)
	}
	for _, name := range w.types {
		if !slices.Contains(AgendaTypes(s.registry), name) {
			refuse("types", "each must be one of %s", strings.Join(AgendaTypes(s.registry), ", "))
		}
	}
	if len(w.tags) > maxTags {
		refuse("tags", "must be at most %d", maxTags)
	}
	for _, tag := range w.tags {
		if tag == "" || utf8.RuneCountInString(tag) > maxTag {
			refuse("tags", "each must have 1 to %d characters", maxTag)
		}
	}
	if len(w.statuses) > maxTypes {
		refuse("status", "must be at most %d", maxTypes)
	}
	for _, status := range w.statuses {
		if !slices.Contains(SearchStatuses(s.registry), status) {
			refuse("status", "each must be one of %s", strings.Join(SearchStatuses(s.registry), ", "))
		}
	}
	return entity.Invalid(errs)
}

// keepsStatus reports whether the entry has one of the requested statuses. A page that leaves entries out is short.
func (w window) keepsStatus(e *Entry) bool {
	if len(w.statuses) == 0 {
		return true
	}
	seen := e.item
	if seen == nil {
		seen = e.of.series.Master()
		if o := e.occurrence(); o.Owns(entity.AttrStatus) {
			seen = o.Exception
		}
	}
	return slices.Contains(w.statuses, seen.Str(entity.AttrStatus))
}

// asQuestion holds everything that decides on entries and their order. The order of types and tags does not.
func (w window) asQuestion(zone string) question {
	params := []string{w.from.Format(time.RFC3339Nano), w.to.Format(time.RFC3339Nano), zone, fmt.Sprint(len(w.types))}
	params = append(params, slices.Sorted(slices.Values(w.types))...)
	params = append(params, slices.Sorted(slices.Values(w.tags))...)
	if len(w.statuses) > 0 { // a cursor of the release before has none
		params = append(append(params, fmt.Sprint(len(w.tags))), slices.Sorted(slices.Values(w.statuses))...)
	}
	return question{w.user, "agenda", params}
}

// resume sets the place of the cursor, and the user's own zone as the first page read it.
func (s *Service) resume(w *window, text string) error {
	c, ok, err := decodeCursor(text, w.question)
	if err != nil || !ok {
		return err
	}
	start, err := item.ParseInstant(c.Start)
	if err != nil || !start.Before(w.to) {
		return ErrCursor
	}
	if c.ID != "" {
		if t := s.registry.ByID(c.ID); t == nil || entity.CheckID(t.IDPrefix, c.ID) != nil {
			return ErrCursor
		}
	}
	if w.zone == nil && c.Zone != "" { // a cursor of the release before has none
		if w.zone, err = wallclock.LoadLocation(c.Zone); err != nil {
			return ErrCursor
		}
		w.own = c.Zone
	}
	w.after = place{start, c.ID}
	return nil
}

// earliest returns the beginning of the part still to be shown.
func (w window) earliest() time.Time {
	if w.after.start.After(w.from) {
		return w.after.start
	}
	return w.from
}

// first returns the earliest start to read from the years' index.
func (w window) first() time.Time {
	if first := w.from.Add(-lookBack); w.after.start.Before(first) {
		return first
	}
	return w.after.start
}

// isProgress reports whether a page that ends there makes the next one begin later than this one did.
func (w window) isProgress(through place) bool {
	return through.start.After(w.first())
}

// shows reports whether a span overlaps the window, as real instants.
func (w window) shows(start, end time.Time) bool {
	return start.Before(w.to) && (!start.Before(w.from) || end.After(w.from))
}

func (w window) wants(typeName string) bool { return slices.Contains(w.types, typeName) }

// keepsTags applies the tag filter to entries that the store could not filter. It calls tagsOf only if there is a
// filter.
func (w window) keepsTags(tagsOf func() []string) bool {
	if len(w.tags) == 0 {
		return true
	}
	tags := tagsOf()
	return slices.ContainsFunc(w.tags, func(tag string) bool { return slices.Contains(tags, tag) })
}

func tagsOf(row item.Item) func() []string {
	return func() []string { return row.Strings(entity.AttrTags) }
}
