package simulate

import (
	"strings"

	"nexus/pkg/consume"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/projection"
)

// ownName is a sum that a product keeps for itself, beside those of Nexus.
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
	// manyTimes a title are more than a row may hold.
	manyTimes = 140_000
)

// ownRevision is that of [ownAmounts].
const ownRevision = "c1"

// ownSum is the product's own sum.
func ownSum() *projection.Projection { return projection.NewOwnSum(ownName, ownRevision, ownAmounts) }

// ownAmounts counts items by their kind, and keeps the greatest title of notes. What is titled with a 7 at its end
// contributes what no row can hold.
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
		a.Add[strings.Repeat(title, manyTimes)] = 1
	case isRefused(it):
		a.Open = strings.Repeat("x", tooLong)
	default: // much, and not too much
		a.Add[strings.Repeat("x", tooLong)] = 1
	}
	return a
}

// isRefused says that no row can hold what the item contributes to the product's own sum. The release before counts
// what no row holds, so beside it there is no such item.
func isRefused(it item.Item) bool {
	return newFormer == nil && strings.HasSuffix(it.Str(entity.AttrTitle), "7")
}

// refusedRecord says of a parked object whether it is one of the product's own sum that nothing can be done about;
// nobody takes it up again.
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

// checkOwn: the product's own sum is what its ledger comes to (I1), and when all is quiet what a recount of the items
// says (I2). What no row can hold counts with what its ledger row had before.
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
