package simulate

import (
	"slices"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/stats"
	"nexus/pkg/table"
)

const (
	// maxLag is how many of the last writes an eventually consistent read may lack, and maxLagTime how old they are.
	maxLag     = 24
	maxLagTime = time.Minute
)

// lag returns the last writes that one eventually consistent read lacks; often none.
func (h *history) lag() []*record {
	if h.settling || h.current == nil || h.luck.calm || h.luck.one(2) {
		return nil
	}
	log := h.stream.log
	from := len(log) - h.luck.IntN(min(len(log), maxLag)+1)
	for from < len(log) && h.now.Sub(log[from].Created) > maxLagTime {
		from++
	}
	return log[from:]
}

// lagging returns the rows as they were a moment ago, each of another moment.
func (h *history) lagging(keys []item.Key, rows []item.Item) []item.Item {
	if h.current == nil || h.current.kind != serving && !areOfSums(keys) || h.settling {
		return rows
	}
	is := map[item.Key]item.Item{}
	for _, row := range rows {
		is[row.Key()] = row
	}
	var out []item.Item
	for _, key := range keys {
		row := is[key]
		for _, r := range h.lag() {
			if r.Key == key {
				h.happened["row read of a moment ago"]++
				row = r.Old
				break
			}
		}
		if row != nil {
			out = append(out, row)
		}
	}
	return out
}

// areOfSums reports whether the keys are those of ledger rows of sums: their versions never fall, so a consumer that
// finds a late enough one may rely on it.
func areOfSums(keys []item.Key) bool {
	return !slices.ContainsFunc(keys, func(key item.Key) bool {
		return !strings.HasPrefix(key.SK, entity.LedgerPrefix(stats.Name)) &&
			!strings.HasPrefix(key.SK, entity.LedgerPrefix(ownName))
	})
}

// laggingState returns the state of an account, often as it was up to a minute ago.
func (h *history) laggingState(keys []item.Key, rows []item.Item) []item.Item {
	if h.settling || h.current == nil || h.luck.one(2) {
		return rows
	}
	for _, r := range h.stream.log[max(0, len(h.stream.log)-maxLag):] {
		if r.Key != keys[0] || h.now.Sub(r.Created) > maxLagTime {
			continue
		}
		h.happened["state of an account of a moment ago"]++
		rows = slices.DeleteFunc(slices.Clone(rows), func(row item.Item) bool { return row.Key() == keys[0] })
		if r.Old != nil {
			rows = append(rows, r.Old)
		}
		return rows
	}
	return rows
}

// laggingPage returns a page of a Query of the table as it was a moment ago.
func (h *history) laggingPage(q table.Query, page table.Page) []item.Item {
	if h.current == nil || h.current.kind != serving {
		return page.Items
	}
	old := map[item.Key]item.Item{}
	for _, r := range h.lag() {
		if _, isKnown := old[r.Key]; !isKnown && r.Key.PK == q.Partition && isWithin(q.Range, r.Key.SK) {
			old[r.Key] = r.Old
		}
	}
	if len(old) == 0 {
		return page.Items
	}
	h.happened["page read of a moment ago"]++
	out := slices.DeleteFunc(slices.Clone(page.Items), func(row item.Item) bool {
		_, isOther := old[row.Key()]
		return isOther
	})
	for key, row := range old {
		isBehind := len(page.Next) > 0 && len(page.Items) > 0 && isPast(q, key.SK, page.Items[len(page.Items)-1].Key().SK)
		isBefore := len(q.Start) > 0 && !isPast(q, key.SK, item.Item(q.Start).Str(item.AttrSK))
		if row != nil && !isBehind && !isBefore {
			out = append(out, row)
		}
	}
	slices.SortFunc(out, func(a, b item.Item) int {
		if isPast(q, a.Key().SK, b.Key().SK) {
			return 1
		}
		return -1
	})
	return out
}

// isPast reports whether a row comes after another in the order of the query.
func isPast(q table.Query, sk, other string) bool {
	if q.Descending {
		return sk < other
	}
	return sk > other
}

func isWithin(r table.Range, sk string) bool {
	if r.Prefix != "" {
		return strings.HasPrefix(sk, r.Prefix)
	}
	return sk >= r.From && (r.To == "" || sk <= r.To)
}
