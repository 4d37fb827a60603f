package command

import (
	"fmt"
	"time"

	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/wallclock"
)

// presentTrigger is the occurrence of a reminder to which an action applies.
type presentTrigger struct {
	at    time.Time // the instant it was due
	count int64     // how often it was snoozed before
	// stored is the trigger of a recurring reminder in its stored form: an instant, or the reading of a floating one.
	// Zero if the trigger is already past the occurrence.
	stored time.Time
}

// findPresent returns the present occurrence:
//
//   - the snoozed one;
//   - else the last one of a recurring reminder that was due, if none was delivered yet, or if it follows the last
//     delivered one and was due after that delivery (it is later than lastFiredUtc, the later of the two);
//   - else the last delivered one, which a snooze may have announced before it was due;
//   - else the trigger's.
//
// It is never the first of all because the rule counts from there.
func findPresent(it, meta item.Item, now time.Time) (presentTrigger, error) {
	trigger, ok := it.Time(product.AttrTriggerUtc)
	if !ok {
		return presentTrigger{}, fmt.Errorf("%s: reminder without trigger", it.Key())
	}
	// the trigger is past the occurrence, unless it was the last and the trigger could not move
	var left time.Time
	if product.TriggerDone(it) {
		left = trigger
	}
	if snooze := it.Map(product.AttrSnoozeState); snooze != nil {
		at, ok := snooze.Time(product.SnoozeOccurrenceUtc)
		if !ok {
			return presentTrigger{}, fmt.Errorf("%s: snooze without occurrence", it.Key())
		}
		return presentTrigger{at: at, count: snooze.Int(product.SnoozeCount), stored: left}, nil
	}
	zone, floating := time.UTC, !it.Has(product.AttrTzid)
	if floating {
		var err error
		if zone, err = wallclock.LoadLocation(meta.Str(product.AttrDefaultTzid)); err != nil {
			return presentTrigger{}, fmt.Errorf("%s: %w", meta.Key(), err)
		}
	}
	last, isDue, err := lastDue(it, zone, now)
	if err != nil {
		return presentTrigger{}, err
	}
	rang, hasRung, err := rangLast(it, zone, now)
	if err != nil {
		return presentTrigger{}, err
	}
	delivered, _ := it.Time(product.AttrLastFiredUtc)
	switch {
	case isDue && (!hasRung || last.at.After(delivered)):
		return last, nil
	case hasRung:
		return presentTrigger{at: rang, stored: left}, nil
	case floating:
		return presentTrigger{at: item.Resolve(trigger, zone), stored: trigger}, nil
	}
	return presentTrigger{at: trigger, stored: trigger}, nil
}

// rangLast returns the last delivered occurrence, if the trigger is past it, or done. The release before
//
//   - sets a new trigger and leaves firedOccurrenceUtc at the old one's occurrence: nothing was delivered yet;
//   - closes a delivery without firedOccurrenceUtc: it is lastFiredUtc, if that is an occurrence.
func rangLast(it item.Item, zone *time.Location, now time.Time) (rang time.Time, hasRung bool, err error) {
	trigger, _ := it.Time(product.AttrTriggerUtc)
	if !it.Has(product.AttrTzid) {
		trigger = item.Resolve(trigger, zone)
	}
	isLeft := func(at time.Time) bool {
		return it.Has(product.AttrRRule) && trigger.After(at) || product.TriggerDone(it)
	}
	if rang, hasRung = it.Time(product.AttrFiredOccurrenceUtc); hasRung {
		return rang, isLeft(rang), nil
	}
	delivered, isDelivered := it.Time(product.AttrLastFiredUtc)
	if !it.Has(product.AttrRRule) || !isDelivered || !isLeft(delivered) {
		return time.Time{}, false, nil
	}
	if delivered.After(now) {
		return delivered, true, nil // a snooze was delivered before its occurrence, of any rule
	}
	triggers, err := product.CompileReminder(it)
	if err != nil {
		return time.Time{}, false, fmt.Errorf("%s: %w", it.Key(), err)
	}
	last, ok := triggers.In(zone).Previous(delivered.Add(time.Second))
	return delivered, ok && last.Start.Equal(delivered), nil
}

// lastDue returns the last occurrence of a recurring reminder that was due, or false before its first.
func lastDue(it item.Item, zone *time.Location, now time.Time) (o presentTrigger, ok bool, err error) {
	if !it.Has(product.AttrRRule) {
		return presentTrigger{}, false, nil
	}
	triggers, err := product.CompileReminder(it)
	if err != nil {
		return presentTrigger{}, false, fmt.Errorf("%s: %w", it.Key(), err)
	}
	last, ok := triggers.In(zone).Previous(now.Truncate(time.Second).Add(time.Second))
	if !ok {
		return presentTrigger{}, false, nil
	}
	if !it.Has(product.AttrTzid) {
		return presentTrigger{at: last.Start, stored: last.Wall}, true, nil
	}
	return presentTrigger{at: last.Start, stored: last.Start}, true, nil
}

// pass moves the trigger of a recurring reminder past the occurrence, unless it is past it already. isLast says that
// none is left.
func (o presentTrigger) pass(it item.Item) (isLast bool, err error) {
	if !it.Has(product.AttrRRule) || o.stored.IsZero() {
		return false, nil
	}
	isLast, err = product.PassTrigger(it, o.stored)
	if err != nil {
		return false, fmt.Errorf("%s: %w", it.Key(), err)
	}
	return isLast, nil
}
