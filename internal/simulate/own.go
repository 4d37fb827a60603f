package simulate

import (
	"strings"

	"nexus/pkg/consume"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/projection"
)

// ownName names a sum of the product itself, in addition to those of Nexus.
const ownName = "counts"

// Attributes of the row that holds it.
const (
	ownTotal   = "sum"
	ownHold    = "sumHold"
	ownVersion = "sumVersion"
	ownLast    = "sumLast"
	ownRepairs = "sumRepairs"
)

const (
	// tooLong is longer than a key, or a text of which the greatest counts, may be.
	tooLong = 2000
	// tooMuch exceeds a row.
	tooMuch = 410_000
)

// ownRevision is the revision of [ownAmounts].
const ownRevision = "c1"

// ownSum is the product's own sum.
func ownSum() *projection.Projection { return projection.NewOwnSum(ownName, ownRevision, ownAmounts) }

// ownAmounts counts items by their kind, and the greatest title of notes. An item whose title ends with a 7
// contributes more than a row can hold.
func ownAmounts(t *entity.Type, it item.Item) projection.Amounts {
	if !t.HasCollection() {
		return projection.Amounts{}
	}
	a := projection.Amounts{Add: map[string]int64{t.Name: 1, "titles": int64(len(it.Str(entity.AttrTitle)))}}
	if t.Name == product.TypeNote {
		a.Max = map[string]string{"greatest": it.Str(entity.AttrTitle)}
	}
	switch title := it.Str(entity.AttrTitle); {
	case !isRefused(it) && !strings.HasSuffix(title, "8"):
	case strings.HasSuffix(title, "37"):
		a.Max = map[string]string{"longest": strings.Repeat(title, tooLong)}
	case strings.HasSuffix(title, "57"):
		a.Add[strings.Repeat(title, tooMuch/len(title)+1)] = 1
	case isRefused(it):
		a.Open = strings.Repeat("x", tooLong)
	default: // much, and not too much
		a.Add[strings.Repeat("x", tooLong)] = 1
	}
	return a
}

// isRefused reports whether no row can hold the item's contribution to the product's own sum. The release before
// counts it, so beside it there is no such item.
func isRefused(it item.Item) bool {
	return newFormer == nil && strings.HasSuffix(it.Str(entity.AttrTitle), "7")
}

// refusedRecord reports whether a parked object is one of the product's own sum that can never succeed; it is not
// redriven.
func (h *history) refusedRecord(name string, body []byte) bool {
	if !strings.HasPrefix(name, consume.ParkedPrefix+ownName+"/") {
		return false
	}
	parked, err := consume.ReadParked(body)
	if err != nil {
		return false
	}
	for _, rec := range h.stream.log {
		if string(rec.payload()) == string(parked.Record) {
			if !isRefused(rec.New) {
				return false
			}
			h.happened["contribution that no row holds"]++
			h.oracle.applied(ownName, rec.Sequence) // it is done with
			return true
		}
	}
	return false
}

// checkOwn checks that the product's own sum equals its ledger (I1) and, when all is quiet, a recount of the items
// (I2). A contribution that no row can hold counts with the former one in its ledger row.
func (h *history) checkOwn(s *userState, settled bool) {
	repairs := s.own.Int(ownRepairs)
	sum := h.addUp(s.ledgers[ownName], s.own.Map(ownLast), repairs)
	h.compareOwn(s, "I1", sum)
	if !settled {
		return
	}
	clear(sum)
	greatest := ""
	for id, it := range s.items {
		typ := h.registry.ByName(it.Str(entity.AttrType))
		switch {
		case !typ.HasCollection():
		case isRefused(it):
			_, contribution := h.counts(s.ledgers[ownName][id], repairs)
			for name, n := range h.amountsOf(contribution).Add {
				sum[name] += n
			}
		default:
			sum[typ.Name]++
			sum["titles"] += int64(len(it.Str(entity.AttrTitle)))
			if strings.HasSuffix(it.Str(entity.AttrTitle), "8") {
				sum[strings.Repeat("x", tooLong)]++
			}
			if typ.Name == product.TypeNote {
				greatest = max(greatest, it.Str(entity.AttrTitle))
			}
		}
	}
	h.compareOwn(s, "I2", sum)
	if s.own.Map(ownTotal).Str("greatest") < greatest {
		h.violate("I2", s.user, "greatest", "is %q, and a note has %q", s.own.Map(ownTotal).Str("greatest"), greatest)
	}
}

func (h *history) compareOwn(s *userState, invariant string, want map[string]int64) {
	kept := s.own.Map(ownTotal)
	for name, n := range want {
		if kept.Int(name) != n {
			h.violate(invariant, s.user, ownName, "%s is %d, and the count comes to %d", name, kept.Int(name), n)
		}
	}
	for name, v := range kept {
		if n, isNumber := v.(item.Number); isNumber && want[name] == 0 {
			h.violate(invariant, s.user, ownName, "%s is %s, and the count comes to nothing", name, n)
		}
	}
}
