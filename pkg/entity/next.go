package entity

import (
	"slices"
	"time"

	"nexus/pkg/item"
)

// NewItem turns merged fields into the item to create, at version 1.
func (t *Type) NewItem(user, id string, fields item.Item, now time.Time, preferences item.Item) item.Item {
	it := fields.Clone()
	key := t.key(user, id)
	it[item.AttrPK], it[item.AttrSK] = item.String(key.PK), item.String(key.SK)
	it[AttrType] = item.String(t.Name)
	it[t.IDAttr] = item.String(id)
	it[AttrVersion] = item.Int(1)
	it.SetTime(AttrCreatedAt, now)
	t.finish(user, Write{Type: t, After: it, Now: now, Preferences: preferences})
	return it
}

// NextVersion turns a changed copy of before into the item to store: version one higher, ttl gone, everything derived
// again. The caller names the writer, because the changed fields do not show it: a user sets a trigger, and deliveries
// move it, too.
func (t *Type) NextVersion(
	by Writer, user string, before, after item.Item, now time.Time, preferences item.Item,
) item.Item {
	it := after.Clone()
	setEdit(by, before, it)
	it[AttrVersion] = item.Int(before.Int(AttrVersion) + 1)
	delete(it, AttrTTL)
	t.finish(user, Write{
		Type: t, By: by, Before: before, After: it, Now: now, Preferences: preferences,
	})
	if before.Str(AttrStatus) != it.Str(AttrStatus) { // by the change itself, or by what follows from it
		delete(it, AttrRestoredAt)
	}
	return it
}

// Rewritten returns the item as a write of the system that changes nothing stores it for the user: under the keys of
// the type and the id, with everything derived again, but at its own version and of its own time.
func (t *Type) Rewritten(user, id string, it item.Item) item.Item {
	out := it.Clone()
	key := t.key(user, id)
	out[item.AttrPK], out[item.AttrSK] = item.String(key.PK), item.String(key.SK)
	out[AttrType] = item.String(t.Name)
	out[t.IDAttr] = item.String(id)
	written, _ := out.Time(AttrUpdatedAt)
	t.finish(user, Write{Type: t, By: BySystem, Before: out.Clone(), After: out, Now: written})
	return out
}

func (t *Type) key(user, id string) item.Key { return ItemKey(user, Ref{t.Name, id}) }

func (t *Type) finish(user string, w Write) {
	w.After.SetTime(AttrUpdatedAt, w.Now)
	if t.Derive != nil {
		t.Derive(w)
	}
	if t.Index != nil && t.statesHold(w.After) {
		t.Index(user, w.After).set(w.After)
	}
}

// statesHold reports whether every Enum has one of its values. Index builds keys from them before Validate has refused
// invalid ones.
func (t *Type) statesHold(it item.Item) bool {
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Kind == Enum && it.Has(f.Name) && !slices.Contains(f.Enum, it.Str(f.Name)) {
			return false
		}
	}
	return true
}

func (k IndexKeys) set(it item.Item) {
	for _, part := range [...]struct{ name, key string }{
		{item.AttrGSI1PK, k.YearPK}, {item.AttrGSI1SK, k.YearSK}, {item.AttrGSI2PK, k.RecurrencePK},
		{item.AttrGSI2SK, k.RecurrenceSK},
		{item.AttrGSI3PK, k.StatePK}, {item.AttrGSI3SK, k.StateSK},
	} {
		if part.key == "" {
			delete(it, part.name)
		} else {
			it[part.name] = item.String(part.key)
		}
	}
}

// attrRemains, in the row of a cold copy, holds the attributes of the item that outlive it.
const attrRemains = "remains"

// LeaveIn repeats in the row of an item's cold copy the attributes that outlive the item.
func (t *Type) LeaveIn(cold, it item.Item) {
	remains := item.Map{}
	for _, name := range t.Outlives {
		if v, ok := it[name]; ok {
			remains[name] = v
		}
	}
	if len(remains) > 0 {
		cold[attrRemains] = remains
	}
}

// RemainsIn returns what such a row repeats of its item. It is nil for a type of which nothing outlives the item, and
// for the row of a release before, which repeated nothing.
func (*Type) RemainsIn(cold item.Item) item.Item { return cold.Map(attrRemains) }

// VisibleAt returns the item as readers see it at the instant, and false if it is past its ttl, swept or not.
func (t *Type) VisibleAt(it item.Item, now time.Time) (item.Item, bool) {
	if Expired(it, now) {
		return nil, false
	}
	if t.View != nil {
		it = t.View(it, now)
	}
	return it, true
}

// Expired reports whether a row is past its ttl. The TTL service removes such rows only days later.
func Expired(it item.Item, now time.Time) bool {
	return it.Has(AttrTTL) && it.Int(AttrTTL) <= now.Unix()
}
