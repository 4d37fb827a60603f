package reminders

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"nexus/pkg/bus"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// Attributes of a delivery, beside the key, title and ttl.
const (
	attrState      = "state"
	attrDeliveryID = "deliveryId"
	attrItemType   = "itemType"
	attrItemID     = "itemId"
	// attrItemVersion is the item's version on which the decision was based: a delivery is logged under that write's
	// trace id.
	attrItemVersion   = "itemVersion"
	attrOccurrenceUtc = "occurrenceUtc"
	// attrStartUtc and attrDate exist only for an occurrence of a series; otherwise the start is the occurrence.
	attrStartUtc      = "startUtc"
	attrDate          = "occurrenceDate"
	attrDueUtc        = "dueUtc"
	attrOffsetMinutes = "offsetMinutes"
	attrFiredAt       = "firedAt"
	attrNotifyBrowser = "notifyBrowser"
	attrNotifySound   = "notifySound"
)

// lateAfter distinguishes a late reminder from one within the scheduler's precision of 60 s.
const lateAfter = 2 * time.Minute

// States of a delivery.
const (
	statePending = "pending" // perhaps published
	stateSent    = "sent"    // published, and every later action done
)

// Preferences of a user that the event carries.
const (
	prefBrowser = "enableBrowserNotifications"
	prefSound   = "enableSoundNotifications"
)

// delivery is the row that guards one publication, with all values of its event from the time when the row was put.
type delivery struct {
	target     target
	due        due
	version    int64 // of the item; 0 in a row of a release without it
	deliveryID string
	title      string
	firedAt    time.Time
	browser    bool
	sound      bool
}

// endsSnooze reports whether the delivery of a reminder is that of a snooze: triggers are due at their occurrence.
func (f delivery) endsSnooze() bool { return !f.due.at.Equal(f.due.occurrence) }

// place returns the key of the delivery's row.
func (f delivery) place() item.Key { return f.due.deliveryKey(f.target) }

func (f delivery) row() item.Item {
	row := f.place().Item()
	row[attrState] = item.String(statePending)
	row[attrDeliveryID] = item.String(f.deliveryID)
	row[attrItemType] = item.String(f.target.typ.Name)
	row[attrItemID] = item.String(f.target.id)
	row[attrItemVersion] = item.Int(f.version)
	row[entity.AttrTitle] = item.String(f.title)
	row.SetTime(attrOccurrenceUtc, f.due.occurrence)
	row.SetTime(attrDueUtc, f.due.at)
	if f.due.date != "" {
		row.SetTime(attrStartUtc, f.due.start)
		row[attrDate] = item.String(f.due.date)
	}
	row[attrOffsetMinutes] = item.Int(f.due.offset)
	row.SetTime(attrFiredAt, f.firedAt)
	row[attrNotifyBrowser] = item.Bool(f.browser)
	row[attrNotifySound] = item.Bool(f.sound)
	row[entity.AttrTTL] = item.Int(f.firedAt.Add(deliveryRetention).Unix())
	return row
}

// readDelivery is the inverse of delivery.row.
func readDelivery(registry *entity.Registry, row item.Item) (delivery, error) {
	user, err := entity.ParseUserPK(row.Str(item.AttrPK))
	if err != nil {
		return delivery{}, fmt.Errorf("%w: delivery %s: %w", errDamaged, row.Key(), err)
	}
	d := due{offset: row.Int(attrOffsetMinutes), date: row.Str(attrDate)}
	var knowsOccurrence, knowsDue, knowsFired bool
	d.occurrence, knowsOccurrence = row.Time(attrOccurrenceUtc)
	d.at, knowsDue = row.Time(attrDueUtc)
	if d.start = d.occurrence; d.date != "" {
		var knowsStart bool
		d.start, knowsStart = row.Time(attrStartUtc)
		knowsOccurrence = knowsOccurrence && knowsStart
	}
	f := delivery{
		target:  target{user, registry.ByName(row.Str(attrItemType)), row.Str(attrItemID)},
		due:     d,
		version: row.Int(attrItemVersion), deliveryID: row.Str(attrDeliveryID), title: row.Str(entity.AttrTitle),
		browser: row.Bool(attrNotifyBrowser), sound: row.Bool(attrNotifySound),
	}
	f.firedAt, knowsFired = row.Time(attrFiredAt)
	switch {
	case !hasReminders(f.target.typ):
		err = fmt.Errorf("%s %.40q has no reminders", attrItemType, row.Str(attrItemType))
	case entity.CheckID(f.target.typ.IDPrefix, f.target.id) != nil:
		err = fmt.Errorf("%s %.80q is no id of a %s", attrItemID, f.target.id, f.target.typ.Name)
	case !knowsOccurrence || !knowsDue || !knowsFired:
		err = errors.New("an instant is missing")
	case f.deliveryID == "" || f.place() != row.Key():
		err = errors.New("its attributes and its key say different things")
	}
	if err != nil {
		return delivery{}, fmt.Errorf("%w: delivery %s: %w", errDamaged, row.Key(), err)
	}
	return f, nil
}

// claim completes the delivery of a late due instant and puts it, in one transaction with a check of every row on
// which the decision was based. For a series that includes the exception of that date, or its absence. It is not ok if
// one of them has changed, or if another worker was first: then the caller takes another snapshot.
func (e engine) claim(ctx context.Context, s snapshot, f delivery) (claimed delivery, ok bool, err error) {
	meta, user := s.meta, s.target.user
	if meta == nil {
		if meta, _, err = e.metaOf(ctx, user); err != nil {
			return delivery{}, false, err
		}
	}
	f.browser, f.sound = prefers(user, meta, prefBrowser), prefers(user, meta, prefSound)
	actions := []table.Action{table.Put{Item: f.row(), If: table.NotExists()}}
	for _, g := range s.guards() {
		actions = append(actions, table.Check{Key: g.key, If: g.condition()})
	}
	if s.target.typ.Name == entity.TypeMaster {
		id := entity.Ref{Type: entity.TypeInstance, ID: entity.InstanceID(s.target.id, f.due.date)}
		g := guardOf(entity.ItemKey(user, id), s.instanceOn(f.due.date))
		actions = append(actions, table.Check{Key: g.key, If: g.condition()})
	}
	err = e.Store.Transact(ctx, actions...)
	var failed *table.ConditionError
	if errors.As(err, &failed) {
		return delivery{}, false, nil
	}
	if err != nil {
		return delivery{}, false, fmt.Errorf("put delivery %s: %w", f.place(), err)
	}
	if s.now.Sub(f.due.at) > lateAfter {
		e.observe(Late, f.target, f.due)
	}
	return f, true, nil
}

// prefers returns a preference, or its default if USER_META was written before the preference existed.
func prefers(user string, meta item.Item, name string) bool {
	preferences := meta.Map(product.AttrPreferences)
	if !preferences.Has(name) {
		preferences = product.NewUserMeta(user, time.Time{}).Map(product.AttrPreferences)
	}
	return preferences.Bool(name)
}

// publishPending publishes the event of a pending delivery, given its row.
func (r *run) publishPending(ctx context.Context, row item.Item) error {
	f, err := readDelivery(r.Registry, row)
	if err != nil {
		return err
	}
	return r.publish(ctx, f)
}

// publish publishes the delivery's event, unless this run did so already. The event is the same on every repetition.
func (r *run) publish(ctx context.Context, f delivery) error {
	if r.hasPublished(f.place()) {
		return nil
	}
	detail, err := json.Marshal(f.detail())
	if err != nil {
		return fmt.Errorf("encode event of %s: %w", f.place(), err)
	}
	if err := r.Bus.Publish(ctx, bus.Event{Type: DetailType, Detail: detail, Time: f.firedAt}); err != nil {
		return fmt.Errorf("publish %s of %s: %w", DetailType, f.place(), err)
	}
	r.published = append(r.published, f)
	return nil
}

func (r *run) hasPublished(key item.Key) bool {
	return slices.ContainsFunc(r.published, func(f delivery) bool { return f.place() == key })
}
