package memory

import (
	"fmt"
	"strconv"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// logged is one record of the feed. It shares its images with the table, which never changes them.
type logged struct {
	number   uint64
	at       int64 // seconds since the epoch
	old, new *row
	expired  bool
}

// record returns the record in the form in which a reader gets it.
func (l logged) record(sourceARN string) change.Record {
	r := change.Record{
		EventID:   fmt.Sprintf("%016x%016x", mix(l.number), mix(^l.number)),
		Name:      change.Modify,
		Sequence:  formatSequence(l.number),
		Created:   time.Unix(l.at, 0).UTC(),
		Old:       l.old.image(),
		New:       l.new.image(),
		Expired:   l.expired,
		SourceARN: sourceARN,
	}
	switch {
	case l.old == nil:
		r.Name, r.Key = change.Insert, r.New.Key()
	case l.new == nil:
		r.Name, r.Key = change.Remove, r.Old.Key()
	default:
		r.Key = r.New.Key()
	}
	return r
}

// formatSequence writes the number of a record in 21 digits, the service's shortest length. That is too long for an
// int64, so a reader that parses it as one fails here and not first in AWS. 0 is no record.
func formatSequence(number uint64) string {
	if number == 0 {
		return ""
	}
	return fmt.Sprintf("1%020d", number)
}

// parseSequence is the inverse of [formatSequence].
func parseSequence(sequence string) (uint64, error) {
	if sequence == "" {
		return 0, nil
	}
	const digits = 21
	if len(sequence) == digits && sequence[0] == '1' {
		if number, err := strconv.ParseUint(sequence[1:], 10, 64); err == nil {
			return number, nil
		}
	}
	return 0, fmt.Errorf("%w: no sequence number of this feed", table.ErrInvalid)
}

// hash spreads keys evenly over all 64 bits (FNV-1a and a final mix), the same in every process.
func hash(key item.Key) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for i := range len(key.PK) {
		h = (h ^ uint64(key.PK[i])) * prime
	}
	h *= prime // a boundary, so that a byte moved from one part to the other gives another hash
	for i := range len(key.SK) {
		h = (h ^ uint64(key.SK[i])) * prime
	}
	return mix(h)
}

// mix is a bijection of 64 bits in which each bit of the input changes about half of the output.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
