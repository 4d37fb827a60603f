package memory

import (
	"fmt"
	"strconv"
	"time"

	"nexus/pkg/item"
)

// expiryYears bounds how far past its time an item is still removed. The service ignores older ones, so a ttl in
// another unit cannot empty a table.
const expiryYears = 5

// Sweep removes rows whose ttl is before now, as the TTL service does, oldest first, and returns their keys. It
// removes at most limit of them (all if limit is 0). Their records have Expired set. The service may take days: until
// a sweep, readers get a row past its ttl like any other. A sweep is no client's call: it has no faults, no cost, and
// is not observed.
func (s *Store) Sweep(now time.Time, limit int) []item.Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	oldest := place{sk: expirySK(now.AddDate(-expiryYears, 0, 0).Unix())}
	end := expirySK(now.Unix())
	var due []*slot
	for c := s.expiry.locate(oldest); limit == 0 || len(due) < limit; c = s.expiry.next(c) {
		e, ok := s.expiry.entry(c)
		if !ok || e.sk >= end {
			break
		}
		due = append(due, e.slot)
	}
	keys := make([]item.Key, 0, len(due))
	for _, at := range due {
		s.commit(edit{at: at, key: at.key, old: at.row}, true)
		keys = append(keys, at.key)
	}
	return keys
}

// SweepRow removes one row if its ttl is before now, as [Store.Sweep] does, and reports whether it did: the service
// removes rows in any order.
func (s *Store) SweepRow(key item.Key, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.base.find(key)
	if at == nil {
		return false
	}
	seconds, expires := s.expiresAt(at.row)
	if !expires || seconds >= now.Unix() || seconds < now.AddDate(-expiryYears, 0, 0).Unix() {
		return false
	}
	s.commit(edit{at: at, key: at.key, old: at.row}, true)
	return true
}

// moveExpiry keeps the order by ttl in step with a change.
func (s *Store) moveExpiry(c edit, at *slot) {
	was, wasIn := s.expiresAt(c.old)
	is, isIn := s.expiresAt(c.new)
	if was == is && wasIn == isIn {
		return
	}
	if wasIn {
		s.expiry.remove(place{expirySK(was), c.key})
	}
	if isIn {
		s.expiry.insert(entry{expirySK(is), at})
	}
}

// expiresAt returns the row's ttl in seconds since the epoch; ok is false for a row that never expires, because it has
// none or one that is no whole positive number.
func (s *Store) expiresAt(r *row) (seconds int64, ok bool) {
	if r == nil {
		return 0, false
	}
	n, isNumber := r.item[s.schema.TTL].(item.Number)
	if !isNumber {
		return 0, false
	}
	seconds, err := strconv.ParseInt(string(n), 10, 64)
	return seconds, err == nil && seconds > 0
}

// expirySK writes a ttl so that text order is time order.
func expirySK(seconds int64) string { return fmt.Sprintf("%020d", max(seconds, 0)) }
