package simulate

import (
	"maps"
	"slices"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/command"
	"nexus/pkg/entity"
)

const (
	// tombstoneLife is how long a tombstone stays, agedAfter the age from which consumers do not rely on it
	// (docs/correctness.md).
	tombstoneLife = 30 * 24 * time.Hour
	agedAfter     = time.Hour
	// tombstones are gone after this long, at the latest.
	afterTombstones = tombstoneLife + 24*time.Hour
	// maxLate bounds the number of concurrent late records.
	maxLate = 8
	// young is the age up to which consumers rely on a record, less a margin for the time of its delivery.
	young = 50 * time.Minute
)

// recordsOfTheGone returns records of the last hours that brought something to life which has gone since.
func (h *history) recordsOfTheGone(r *reader, age time.Duration) []*record {
	var out []*record
	for _, rec := range h.stream.log {
		if rec.Name != change.Insert || h.now.Sub(rec.Created) > age || !r.filter.Match(rec.arrives) ||
			rec.isOfRepository {
			continue
		}
		sk, err := entity.ParseSortKey(rec.Key.SK)
		s := h.oracle.users[rec.user]
		if err == nil && s != nil && !sk.IsRow() && s.items[sk.Ref().ID] == nil {
			out = append(out, rec)
		}
	}
	return out
}

// bury deletes a young item, and delivers its records.
func (h *history) bury() {
	s := h.oracle.users[h.users[h.luck.IntN(len(h.users))]]
	for _, id := range slices.Sorted(maps.Keys(s.items)) {
		it := s.items[id]
		made, _ := it.Time(entity.AttrCreatedAt)
		typ := h.registry.ByName(it.Str(entity.AttrType))
		if typ.Name == entity.TypeInstance || h.now.Sub(made) > young || !h.luck.one(2) {
			continue
		}
		version := it.Int(entity.AttrVersion)
		r := &request{
			name:    "delete " + id,
			Request: command.Request{User: s.user, Command: command.Delete{Type: typ, ID: id}, ExpectedVersion: &version},
		}
		if typ.Name == entity.TypeMaster {
			r.Command = command.DeleteSeries{ID: id}
		}
		h.run(h.send(r), -1)
		h.catchUp()
		h.pass(time.Duration(2+h.luck.IntN(50)) * time.Second)
		return
	}
}

// haunt delivers records of gone items again, after the TTL service has run: at once, while their tombstones must
// exist, or after their expiry.
func (h *history) haunt(age time.Duration) {
	h.store.Sweep(h.now, 0)
	h.absorb(nil)
	for _, r := range h.readers {
		gone := h.recordsOfTheGone(r, age)
		h.luck.Shuffle(len(gone), func(i, j int) { gone[i], gone[j] = gone[j], gone[i] })
		if gone = gone[:min(len(gone), maxLate)]; len(gone) > 0 {
			h.happened["record of something gone again"] += len(gone)
			h.begin(h.handleBeside(r, gone))
		}
	}
}

// comeLate lets a month pass and delivers old records of all kinds, in any order, as an operator does who redrives
// records that were parked long ago. Then everything runs to its end and is checked again.
func (h *history) comeLate() {
	h.now = h.now.Add(afterTombstones)
	h.rest()
	if h.violation != nil {
		return
	}
	h.haunt(1 << 62)
	for range 1 + h.luck.IntN(3) {
		h.redeliver()
	}
	h.endAll()
	h.rest()
}

// scramble changes the order of a batch: parked records have none.
func (h *history) scramble(batch []*record) []*record {
	batch = slices.Clone(batch)
	h.shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
	return batch
}

// nearAChange returns a reading at the user's next change of clocks, if there is one in the next days.
func (a author) nearAChange() (time.Time, bool) {
	_, change := a.now.In(a.zone()).ZoneBounds()
	if change.IsZero() || change.Sub(a.now) > 4*24*time.Hour {
		return time.Time{}, false
	}
	return wallOf(change.Add(-time.Hour),
		a.zone()).Add(time.Duration(a.luck.IntN(150)-15) * time.Minute).Truncate(time.Minute), true
}
