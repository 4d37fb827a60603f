package archive

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/port"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// Remains is the part of an item's rows that concerns this package. Nil is a missing row.
type Remains struct {
	User             string
	Type             *entity.Type
	ID               string
	Item, Cold, Gone item.Item
	Timers           []item.Item
}

// Fault is one row or object that differs from what the item requires.
type Fault struct{ Place, Is, Want string }

// timerPage bounds the timers of one task that are read: each of its completions left one.
const timerPage = 1000

// Check returns the faults of an item's end, cold copy and timer, and what the copy holds. Without an object store it
// relies on the rows.
func (c *Consumer) Check(ctx context.Context, r Remains) (faults []Fault, copied item.Item, err error) {
	if faults := newerFormFaults(r.Cold); faults != nil {
		return faults, nil, nil
	}
	faults, object := checkCopy(r)
	if object != "" && c.Copies != nil {
		if copied, err = New(c.Config).read(ctx, object); err != nil {
			if port.IsOutage(err) {
				return nil, nil, err
			}
			faults = append(faults, Fault{object, "no copy that can be read", "the item"})
		}
	}
	return append(faults, checkTimers(r)...), copied, nil
}

// newerFormFaults reports a cold row of an unknown form.
func newerFormFaults(cold item.Item) []Fault {
	if err := entity.CheckForm(cold, entity.AttrForm); err != nil {
		return []Fault{{cold.Key().String(), err.Error(), "verified by that release"}}
	}
	return nil
}

// checkCopy also returns the object that has to be there; empty for none.
func checkCopy(r Remains) (faults []Fault, copied string) {
	cold := entity.ColdKey(r.User, r.ID).String()
	if r.Item == nil {
		switch {
		case r.Cold == nil:
			return nil, ""
		case r.Gone != nil:
			return []Fault{{cold, "there", "no row: its user deleted the item"}}, ""
		}
		return nil, r.Cold.Str(attrObject)
	}
	at, leaves := expiry(r.Type, r.Item)
	place, ttl := r.Item.Key().String(), "no ttl"
	if r.Item.Has(entity.AttrTTL) {
		ttl = fmt.Sprintf("ttl %d", r.Item.Int(entity.AttrTTL))
	}
	if !leaves {
		if r.Item.Has(entity.AttrTTL) {
			faults = append(faults, Fault{place, ttl, "no ttl"})
		}
		if r.Cold != nil {
			faults = append(faults, Fault{cold, "there", "no row"})
		}
		return faults, ""
	}
	if want := fmt.Sprintf("ttl %d", at.Unix()); ttl != want {
		faults = append(faults, Fault{place, ttl, want})
	}
	name := object(r.User, r.ID, r.Item.Int(entity.AttrVersion))
	if is := r.Cold.Str(attrObject); is != name || r.Cold.Int(entity.AttrVersion) != r.Item.Int(entity.AttrVersion) {
		faults = append(faults, Fault{cold, showCold(r.Cold), name})
		return faults, ""
	}
	return faults, name
}

func showCold(row item.Item) string {
	if row == nil {
		return "no row"
	}
	return fmt.Sprintf("%s, version %d", row.Str(attrObject), row.Int(entity.AttrVersion))
}

// timed reports whether the task has a completion that a timer is to end.
func timed(it item.Item) bool {
	return it.Str(entity.AttrStatus) == product.StatusCompleted && it.Has(product.AttrArchiveAt)
}

func checkTimers(r Remains) (faults []Fault) {
	has := !timed(r.Item)
	for _, row := range r.Timers {
		at, ok := row.Time(product.AttrArchiveAt)
		if !ok || row.Int(entity.AttrTTL) != at.Unix() {
			faults = append(faults, Fault{
				row.Key().String(), fmt.Sprintf("ttl %d", row.Int(entity.AttrTTL)), "ttl at " + row.Str(product.AttrArchiveAt),
			})
		}
		has = has || row.Str(product.AttrCompletedAt) == r.Item.Str(product.AttrCompletedAt) &&
			row.Str(product.AttrArchiveAt) == r.Item.Str(product.AttrArchiveAt)
	}
	if !has {
		key := entity.TimerKey(r.User, r.ID, r.Item.Int(entity.AttrVersion))
		faults = append(faults, Fault{key.String(), "no row", "ttl at " + r.Item.Str(product.AttrArchiveAt)})
	}
	return faults
}

// Remains reads the rows of an item, the item last, so that no row read is newer than it.
func (c *Consumer) Remains(ctx context.Context, user string, t *entity.Type, id string) (Remains, error) {
	r := Remains{User: user, Type: t, ID: id}
	page, err := c.Store.Query(ctx, table.Query{
		Partition: entity.UserPK(user), Range: table.Range{Prefix: entity.Under(entity.TimerPrefix(), id)}, Limit: timerPage,
	})
	if err != nil {
		return r, fmt.Errorf("timers of %s: %w", id, err)
	}
	r.Timers = page.Items
	for _, part := range []struct {
		row *item.Item
		key item.Key
	}{
		{&r.Cold, entity.ColdKey(user, id)}, {&r.Gone, entity.GoneKey(user, id)},
		{&r.Item, entity.ItemKey(user, entity.Ref{Type: t.Name, ID: id})},
	} {
		if *part.row, err = table.Find(ctx, c.Store, part.key); err != nil {
			return r, err
		}
	}
	return r, entity.CheckForm(r.Cold, entity.AttrForm)
}

// Repair repairs what [Consumer.Check] finds, by the same steps and under the same conditions as records do: the copy
// before the end, both under the item's version. A wrong end is taken off first, as a new version of the item. A copy
// that is lost with its item cannot be repaired.
func (c *Consumer) Repair(ctx context.Context, user string, t *entity.Type, id string) error {
	for range maxRounds {
		r, err := c.Remains(ctx, user, t, id)
		if err != nil {
			return err
		}
		if err := c.repairTimers(ctx, r); err != nil {
			return err
		}
		settled, err := c.repairCopy(ctx, r)
		if settled || err != nil {
			return err
		}
	}
	return errContended
}

func (c *Consumer) repairTimers(ctx context.Context, r Remains) error {
	if len(checkTimers(r)) == 0 {
		return nil
	}
	for _, row := range r.Timers {
		at, ok := row.Time(product.AttrArchiveAt)
		if !ok || row.Int(entity.AttrTTL) == at.Unix() {
			continue
		}
		row = row.Clone()
		row[entity.AttrTTL] = item.Int(at.Unix())
		// A timer that has fired since must not fire again.
		err := c.Store.Put(ctx, table.Put{Item: row, If: table.Exists()})
		var failed *table.ConditionError
		if err != nil && !errors.As(err, &failed) {
			return fmt.Errorf("repair timer %s: %w", row.Key(), err)
		}
	}
	ref := entity.Ref{Type: r.Type.Name, ID: r.ID}
	return c.startTimer(ctx, change.Change{
		Type: r.Type, User: r.User, Ref: ref, New: r.Item, Version: r.Item.Int(entity.AttrVersion),
	})
}

func (c *Consumer) repairCopy(ctx context.Context, r Remains) (settled bool, err error) {
	faults, name := checkCopy(r)
	if len(faults) == 0 && (name == "" || r.Item == nil || c.Copies == nil) {
		return true, nil
	}
	at, leaves := expiry(r.Type, r.Item)
	if r.Item.Has(entity.AttrTTL) && (!leaves || r.Item.Int(entity.AttrTTL) != at.Unix()) {
		return false, c.takeOff(ctx, r)
	}
	if r.Item != nil && leaves {
		if c.Copies == nil {
			return true, nil // without a copy the item must not expire
		}
		settled, err := c.copyAndExpire(ctx,
			change.Change{Type: r.Type, User: r.User, Ref: entity.Ref{Type: r.Type.Name, ID: r.ID}}, r.Item)
		if err == nil && !settled {
			// The item is past that version, so no row will name the copy, and no record of it will be delivered again.
			err = c.dropUnnamed(ctx, r.User, r.ID, r.Item.Int(entity.AttrVersion))
		}
		return settled, err
	}
	if r.Cold == nil {
		return true, nil
	}
	err = c.Store.Delete(ctx, table.Delete{
		Key: r.Cold.Key(),
		If:  table.OrNoRow(table.Equal(entity.AttrVersion, r.Cold[entity.AttrVersion]), table.Missing(entity.AttrForm)),
	})
	var failed *table.ConditionError
	if errors.As(err, &failed) {
		return false, nil
	}
	if err != nil || c.Copies == nil {
		return err == nil, err
	}
	return true, c.dropUnnamed(ctx, r.User, r.ID, r.Cold.Int(entity.AttrVersion))
}

// takeOff removes an item's ttl as a new version of the system, unless the item has changed. At one version a ttl comes
// once and stays: a device that was told of it drops the item at that instant, and hears of nothing that leaves the
// version as it is.
func (c *Consumer) takeOff(ctx context.Context, r Remains) error {
	after := r.Type.NextVersion(entity.BySystem, r.User, r.Item, r.Item, c.Now(), nil)
	_, err := c.Store.Update(ctx, table.Diff(r.Item, after, table.AtVersion(r.Item.Int(entity.AttrVersion))))
	var failed *table.ConditionError
	if err != nil && !errors.As(err, &failed) {
		return fmt.Errorf("keep %s: %w", r.Item.Key(), err)
	}
	return nil
}

// AllCopiesPrefix begins the names of all cold copies; the user's id and a slash follow.
const AllCopiesPrefix = "archive/"

// CopiesPrefix begins the names of all cold copies of a user.
func CopiesPrefix(user string) string { return AllCopiesPrefix + user + "/" }

// ReadCopyName returns the item and the version of a user's object.
func ReadCopyName(user, name string) (id string, version int64, ok bool) {
	rest, ok := strings.CutPrefix(name, CopiesPrefix(user))
	id, file, cut := strings.Cut(rest, "/")
	text, isJSON := strings.CutSuffix(file, ".json")
	version, err := strconv.ParseInt(text, 10, 64)
	return id, version, ok && cut && isJSON && err == nil
}

// Unnamed reports whether no row names a copy, or ever will: the item is past that version, or gone.
func (c *Consumer) Unnamed(ctx context.Context, user string, t *entity.Type, id string, version int64) (bool, error) {
	r, err := c.Remains(ctx, user, t, id)
	return r.Cold.Int(entity.AttrVersion) != version && r.Item.Int(entity.AttrVersion) != version, err
}

// DropUnnamed removes such a copy.
func (c *Consumer) DropUnnamed(ctx context.Context, user, id string, version int64) error {
	return c.dropUnnamed(ctx, user, id, version)
}
