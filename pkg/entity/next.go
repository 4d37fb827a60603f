package entity

import (
	"slices"
	"time"
)

// First turns merged fields into the item to create, at version 1.
func (t *Type) First(user, id string, fields Item, now time.Time, preferences Item) Item {
	it := fields.Clone()
	key := t.key(user, id)
	it[AttrPK], it[AttrSK] = String(key.PK), String(key.SK)
	it[AttrType] = String(t.Name)
	it[t.IDAttr] = String(id)
	it[AttrVersion] = Int(1)
	it.SetTime(AttrCreatedAt, now)
	t.finish(user, Write{Type: t, After: it, Now: now, Preferences: preferences})
	return it
}

// Next turns a changed copy of before into the item to store: version one higher, ttl gone, everything derived again. The
// caller says who writes, because the fields that change do not tell: a trigger is a user's, and deliveries move it, too.
func (t *Type) Next(by Writer, user string, before, after Item, now time.Time, preferences Item) Item {
	it := after.Clone()
	setEdit(by, before, it)
	it[AttrVersion] = Int(before.Int(AttrVersion) + 1)
	delete(it, AttrTTL)
	t.finish(user, Write{Type: t, Before: before, After: it, Now: now, Preferences: preferences})
	if before.Str(AttrStatus) != it.Str(AttrStatus) { // by the change itself, or by what follows from it
		delete(it, AttrRestoredAt)
	}
	return it
}

func (t *Type) key(user, id string) Key { return ItemKey(user, Ref{t.Name, id}) }

func (t *Type) finish(user string, w Write) {
	w.After.SetTime(AttrUpdatedAt, w.Now)
	if t.Derive != nil {
		t.Derive(w)
	}
	if t.Index != nil && t.statesHold(w.After) {
		t.Index(user, w.After).set(w.After)
	}
}

// statesHold reports whether every Enum has one of its values. Index builds keys of them, before Validate has refused
// what a client made up.
func (t *Type) statesHold(it Item) bool {
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Kind == Enum && it.Has(f.Name) && !slices.Contains(f.Enum, it.Str(f.Name)) {
			return false
		}
	}
	return true
}

func (k IndexKeys) set(it Item) {
	for _, part := range [...]struct{ name, key string }{
		{AttrGSI1PK, k.YearPK}, {AttrGSI1SK, k.YearSK}, {AttrGSI2PK, k.RecurrencePK}, {AttrGSI2SK, k.RecurrenceSK},
		{AttrGSI3PK, k.StatePK}, {AttrGSI3SK, k.StateSK},
	} {
		if part.key == "" {
			delete(it, part.name)
		} else {
			it[part.name] = String(part.key)
		}
	}
}

// Seen returns the item as a reader is to see it at the instant, and false if it is past its ttl, swept or not.
func (t *Type) Seen(it Item, now time.Time) (Item, bool) {
	if Lapsed(it, now) {
		return nil, false
	}
	if t.View != nil {
		it = t.View(it, now)
	}
	return it, true
}

// Lapsed reports whether a row is past its ttl. The TTL service removes such rows only days later.
func Lapsed(it Item, now time.Time) bool { return it.Has(AttrTTL) && it.Int(AttrTTL) <= now.Unix() }
