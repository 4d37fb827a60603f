package ical

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/recurrence"
	"nexus/pkg/series"
	"nexus/pkg/wallclock"
)

// FromSeries turns a stored MASTER with its exceptions into drafts to export: the series, then its changed occurrences
// by date, each as its user sees it.
//
// A cancelled occurrence becomes an EXDATE, which every program understands; many show an override with
// STATUS:CANCELLED as if it took place. Only beyond the number of EXDATEs that a series may have does it become such
// an override. iCalendar has no property for the end of the whole series. The end therefore goes into the rule, and
// RDATEs beyond it are left out.
func FromSeries(master item.Item, beside Beside, instances ...item.Item) ([]Draft, error) {
	d, err := fromMaster(master)
	if err != nil {
		return nil, err
	}
	d.Kept = beside.find(master)
	all, err := series.New(master, time.UTC, instances...)
	if err != nil {
		return nil, err
	}
	drafts := []Draft{d}
	for _, date := range exceptionDates(all.ID(), instances) {
		o, ok := all.On(date)
		if !ok || o.Exception == nil {
			continue // it was undone
		}
		if o.Cancelled() && len(drafts[0].ExDates) < maxDates {
			drafts[0].ExDates = append(drafts[0].ExDates, date)
			continue
		}
		x := fromOccurrence(drafts[0], all, o)
		if o.Owns(product.AttrKept) {
			x.Kept = beside.find(o.Exception)
		}
		drafts = append(drafts, x)
	}
	drafts[0].ExDates = sortedDates(drafts[0].ExDates)
	return drafts, nil
}

func exceptionDates(masterID string, instances []item.Item) []string {
	var dates []string
	for _, it := range instances {
		if of, date, err := entity.ParseInstanceID(it.Str(product.AttrEventID)); err == nil && of == masterID {
			dates = append(dates, date)
		}
	}
	return sortedDates(dates)
}

func fromMaster(it item.Item) (Draft, error) {
	d := newDraft(product.Master(), it)
	if err := d.readSpan(); err != nil {
		return Draft{}, fmt.Errorf("draft %s: %w", it.Key(), err)
	}
	var err error
	if d.RRule, err = foldEnd(it, product.AttrStartTzid, product.CompileMaster); err != nil {
		return Draft{}, fmt.Errorf("draft %s: %w", it.Key(), err)
	}
	if err := d.readDates(it); err != nil {
		return Draft{}, fmt.Errorf("draft %s: %w", it.Key(), err)
	}
	return d, d.synchronize(it)
}

// readDates reads the EXDATEs that exclude something: programs that check them refuse others. It reads the RDATEs that
// add an occurrence. RDATEs beyond the end of the whole series add none, and some programs would show those twice that
// the rule gives anyway.
func (d *Draft) readDates(it item.Item) error {
	excluded, added := it.Strings(product.AttrExDate), it.Strings(product.AttrRDate)
	if len(excluded) == 0 && len(added) == 0 {
		return nil
	}
	bare := it.Clone()
	delete(bare, product.AttrExDate)
	all, err := product.CompileMaster(bare)
	if err != nil {
		return err
	}
	d.ExDates = datesThat(excluded, func(day time.Time) bool { return has(all, day) })
	if len(added) == 0 {
		return nil
	}
	delete(bare, product.AttrRDate)
	rule, err := product.CompileMaster(bare)
	if err != nil {
		return err
	}
	d.RDates = datesThat(added, func(day time.Time) bool { return has(all, day) && !has(rule, day) })
	return nil
}

// datesThat returns the dates that hold. It overwrites the given list.
func datesThat(dates []string, hold func(day time.Time) bool) []string {
	return slices.DeleteFunc(dates, func(date string) bool {
		day, err := item.ParseCompactDate(date)
		return err != nil || !hold(day)
	})
}

func has(s *recurrence.Series, day time.Time) bool {
	_, found := s.On(day)
	return found
}

// foldEnd returns the rule with the end of the whole series in it. A rule that ends earlier by itself keeps its end.
func foldEnd(it item.Item, zoneAttr string, compile func(item.Item) (*recurrence.Series, error)) (string, error) {
	rule, err := recurrence.Parse(it.Str(product.AttrRRule))
	if err != nil {
		return "", err
	}
	zone := (*time.Location)(nil)
	if it.Has(zoneAttr) {
		if zone, err = wallclock.LoadLocation(it.Str(zoneAttr)); err != nil {
			return "", err
		}
	}
	text := rule.WithKind(it.Bool(product.AttrIsAllDay), zone).String()
	until, ended := it.Time(product.AttrRRuleUntil)
	if !ended {
		return text, nil
	}
	bare := it.Clone()
	for _, name := range []string{product.AttrRRuleUntil, product.AttrExDate, product.AttrRDate} {
		delete(bare, name)
	}
	whole, err := compile(bare)
	if err != nil {
		return "", err
	}
	if last, ok := whole.Last(); ok && !last.Start.After(until) {
		return text, nil
	}
	return endRule(rule, until, it, zoneAttr).String(), nil
}

// endRule returns the rule with its end replaced by an occurrence at that instant.
func endRule(rule recurrence.Rule, until time.Time, it item.Item, zoneAttr string) recurrence.Rule {
	if it.Has(zoneAttr) {
		return rule.WithUntilInstant(until)
	}
	return rule.WithUntil(until, it.Bool(product.AttrIsAllDay), nil)
}

// fromOccurrence turns a changed occurrence into a draft that accompanies that of its series.
func fromOccurrence(master Draft, all *series.Series, o series.Occurrence) Draft {
	d := newDraft(product.Instance(), all.Item(o))
	d.UID, d.Date, d.Kept = master.UID, o.Date, master.Kept
	d.Original = master.start
	d.Original.Reading = o.Original.Wall
	if master.Fields.Has(product.AttrVisibility) && !d.Fields.Has(product.AttrVisibility) {
		// without CLASS, readers take the series' class
		d.Fields[product.AttrVisibility] = item.String(product.VisibilityPublic)
	}
	d.Sequence = product.Revision(o.Exception)
	if d.ModifiedAt.Before(master.ModifiedAt) {
		d.ModifiedAt = master.ModifiedAt
	}
	return d
}

var errNoSeries = errors.New("a series is drafted together with its exceptions")
