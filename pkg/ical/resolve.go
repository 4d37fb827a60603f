package ical

import (
	"errors"
	"slices"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

var errLeftBehind = errors.New("a later revision of its series has no occurrence on its date any more")

var errSuperseded = errors.New("a later revision of it is in the calendar")

// identity identifies the thing of which components can be revisions: a UID's event, to-do, or one occurrence of it.
type identity struct{ component, uid, date string }

func (d *Draft) identity() identity { return identity{d.Component, d.UID, d.Date} }

// resolve selects the latest revision of each thing and puts instances after their series.
func (m *mapper) resolve() {
	series := m.latest(func(d *Draft) bool { return d.Kind != entity.TypeInstance })
	for i := range m.drafts {
		if d := &m.drafts[i]; d.Kind == entity.TypeInstance {
			m.attach(d, series[identity{d.Component, d.UID, ""}])
		}
	}
	instances := m.latest(func(d *Draft) bool { return d.Kind == entity.TypeInstance })
	behind := map[string][]Draft{}
	for i := range m.drafts {
		d := &m.drafts[i]
		if d.Kind == entity.TypeInstance && !d.Orphan && instances[d.identity()] == d {
			behind[d.UID] = append(behind[d.UID], *d)
		}
	}
	for i := range m.drafts {
		d := &m.drafts[i]
		switch {
		case series[d.identity()] != d && instances[d.identity()] != d:
			if !d.isDerived {
				m.refuse(d, errSuperseded)
			}
		case d.Kind == entity.TypeMaster:
			m.addSeries(*d, behind[d.UID])
		case d.Orphan && d.following != "":
			m.refuse(d, errRangeAlone)
		case d.Kind != entity.TypeInstance || d.Orphan:
			m.result.Drafts = append(m.result.Drafts, *d)
		}
	}
}

// latest returns the latest revision of each thing; of equal ones the last in the file.
func (m *mapper) latest(of func(*Draft) bool) map[identity]*Draft {
	found := map[identity]*Draft{}
	for i := range m.drafts {
		d := &m.drafts[i]
		if !of(d) || d.dropped {
			continue
		}
		known := found[d.identity()]
		if known == nil || d.supersedes(known) {
			found[d.identity()] = d
		}
	}
	return found
}

// supersedes reports whether the draft replaces another: an occurrence that the file describes precedes one that
// follows from an RDATE.
func (d *Draft) supersedes(known *Draft) bool {
	if d.isDerived != known.isDerived {
		return known.isDerived
	}
	return d.stamp.compare(known.stamp) >= 0
}

// attach gives an instance its date in its series.
func (m *mapper) attach(d, series *Draft) {
	isSeries := series != nil && series.Kind == entity.TypeMaster
	if d.isDerived {
		// It is valid only with the revision whose RDATE it is.
		d.dropped = !isSeries || series.Line != d.Line
		return
	}
	if d.Orphan = !isSeries; d.Orphan {
		return
	}
	at := series.adopt(d.Original)
	d.Date = series.localDate(at)
	if !series.isTimeOf(at) {
		m.leaveOut(d, "its RECURRENCE-ID has another time than every occurrence: it counts for that day's")
	}
	d.Original = series.occurrence(d.Date)
	if visibility := series.Fields[product.AttrVisibility]; visibility != nil && !d.Fields.Has(product.AttrVisibility) {
		d.Fields[product.AttrVisibility] = visibility // an override without CLASS is as private as its series
	}
}

// admit gives a series an RDATE for each instance that its rule does not give. The file describes such an occurrence,
// so it must be visible, and programs that cut a series leave such instances after its end. Excluded or cancelled ones
// stay instances without an occurrence. An instance of an earlier revision than the series dates from before the
// series was cut, and is refused. admit returns the others.
func (m *mapper) admit(d *Draft, instances []Draft) []Draft {
	rule, err := d.compileRule(d.start)
	if err != nil {
		return instances // it was compiled before; an error would have refused the series
	}
	dates := d.RDates
	instances = slices.DeleteFunc(instances, func(x Draft) bool {
		day, err := item.ParseCompactDate(x.Date)
		if err != nil || x.isDerived || x.Sequence >= d.Sequence || slices.Contains(dates, x.Date) {
			return false
		}
		_, given := rule.On(day)
		if !given {
			m.refuse(&x, errLeftBehind)
		}
		return !given
	})
	for _, x := range instances {
		day, err := item.ParseCompactDate(x.Date)
		if err != nil || x.Fields.Str(entity.AttrStatus) == product.StatusCancelled || slices.Contains(d.ExDates, x.Date) {
			continue
		}
		if _, ok := rule.On(day); !ok && !slices.Contains(dates, x.Date) {
			dates = append(dates[:len(dates):len(dates)], x.Date)
		}
	}
	if len(dates) <= maxDates { // the import refuses those beyond
		d.RDates = sortedDates(dates)
	}
	return instances
}
