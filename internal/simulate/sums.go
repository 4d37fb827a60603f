package simulate

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/links"
	"nexus/pkg/product"
	"nexus/pkg/stats"
)

// Attributes of a ledger row (docs/correctness.md, "the versioned contribution ledger").
const (
	ledgerContribution = "c"
	ledgerVersion      = "v"
	ledgerItem         = "item" // of the pending entry, in the sum's row
	ledgerNext         = "next" // of a row that a repair has staged: "<repair> <v> <c>"
)

// amounts is the effect of a contribution on the statistics.
type amounts struct {
	Add map[string]int64 `json:"add"`
}

// totals are the numbers in the statistics.
var totals = []string{
	product.StatTotalEvents, product.StatTotalTasks, product.StatTotalReminders, product.StatTotalNotes,
}

// checkSums checks that at every instant the ledger's contributions add up to the projection (I1).
func (h *history) checkSums() {
	for _, user := range h.users {
		s := h.oracle.users[user]
		if !s.moved || h.damaged[user] {
			continue
		}
		s.moved = false
		h.checkOwn(s, false)
		sum := h.addUp(s.ledgers[stats.Name], s.meta.Map(product.AttrStatsLast), s.meta.Int(product.AttrStatsRepairs))
		kept := s.meta.Map(product.AttrStats)
		for _, name := range totals {
			if kept.Int(name) != sum[name] {
				h.violate("I1", user, name, "is %d, and the ledger comes to %d", kept.Int(name), sum[name])
			}
		}
		edges := 0
		for id, row := range s.ledgers[links.Name] {
			_, body, _ := strings.Cut(row.Str(ledgerContribution), " ")
			for _, edge := range strings.Split(body, "\n") {
				if edge == "" {
					continue
				}
				edges++
				target, targetID, _ := strings.Cut(edge, "/")
				key := entity.LinkKey(user, entity.Ref{Type: h.registry.ByID(id).Name, ID: id},
					entity.Ref{Type: target, ID: targetID})
				if s.links[key.SK] == nil {
					h.violate("I1", user, key.SK, "is in the ledger, and no row")
				}
			}
		}
		if edges != len(s.links) {
			h.violate("I1", user, "links", "are %d rows, and %d in the ledger", len(s.links), edges)
		}
	}
}

// addUp adds up the valid contributions of ledger rows. The pending entry overrides its row until that is written. A
// repair's staged contributions are valid once the repair is complete.
func (h *history) addUp(rows map[string]item.Item, last item.Item, repairs int64) map[string]int64 {
	sum := map[string]int64{}
	count := func(contribution string) {
		for name, n := range h.amountsOf(contribution).Add {
			sum[name] += n
		}
	}
	isAhead := last.Str(ledgerItem) != ""
	for id, row := range rows {
		version, contribution := h.counts(row, repairs)
		if id == last.Str(ledgerItem) && version < last.Int(ledgerVersion) {
			continue
		}
		isAhead = isAhead && id != last.Str(ledgerItem)
		count(contribution)
	}
	if isAhead {
		count(last.Str(ledgerContribution))
	}
	return sum
}

// isStaged reports whether a repair has staged a row of the user's sums.
func (s *userState) isStaged() bool {
	for _, name := range []string{stats.Name, ownName} {
		for _, row := range s.ledgers[name] {
			if row.Has(ledgerNext) {
				return true
			}
		}
	}
	return false
}

// counts returns the valid contribution of a ledger row, given the number of repairs in its sum.
func (h *history) counts(row item.Item, repairs int64) (version int64, contribution string) {
	if !row.Has(ledgerNext) {
		return row.Int(ledgerVersion), row.Str(ledgerContribution)
	}
	h.happened["row staged by a repair"]++
	next := strings.SplitN(row.Str(ledgerNext), " ", 3)
	if repair, err := strconv.ParseInt(next[0], 10, 64); err != nil || repair > repairs {
		return row.Int(ledgerVersion), row.Str(ledgerContribution)
	}
	h.happened["staged row counted"]++
	version, err := strconv.ParseInt(next[1], 10, 64)
	if err != nil {
		h.violate("I1", userOf(row.Key()), row.Key().SK, "cannot be read: %v", err)
	}
	return version, next[2]
}

// checkLedger checks that the version in a ledger row never goes back, with any writer: records that it includes would
// be applied again (I1).
func (h *history) checkLedger(s *userState, r *record) {
	if r.Old == nil || r.New == nil || r.by == outside {
		return
	}
	if was, is := r.Old.Int(ledgerVersion), r.New.Int(ledgerVersion); is < was {
		h.violate("I1", s.user, r.Key.SK, "goes back from version %d to %d", was, is)
	}
}

// checkLease checks that no consumer writes the statistics while a repair has their lease, whenever it read them (I1).
func (h *history) checkLease(s *userState, r *record) {
	until, held := r.Old.Map(product.AttrStatsHold).Time("until")
	if r.by == delivering && held && until.After(h.now.Add(maxAhead)) &&
		!item.Equal(r.Old[product.AttrStats], r.New[product.AttrStats]) {
		h.violate("I1", s.user, product.AttrStats, "are written under the lease of a repair")
	}
}

func (h *history) amountsOf(contribution string) amounts {
	if a, ok := h.oracle.amounts[contribution]; ok {
		return a
	}
	var a amounts
	if _, body, ok := strings.Cut(contribution, " "); ok {
		if err := json.Unmarshal([]byte(body), &a); err != nil {
			h.violate("I1", "", contribution, "cannot be read: %v", err)
		}
	}
	h.oracle.amounts[contribution] = a
	return a
}

// checkTotals checks that the statistics equal a recount of the items (I2), and the edges those of the items (I3).
func (h *history) checkTotals(s *userState) {
	count := map[string]int64{}
	edges := map[string]bool{}
	for _, id := range slices.Sorted(maps.Keys(s.items)) {
		it := s.items[id]
		typeName := it.Str(entity.AttrType)
		switch typeName {
		case product.TypeEvent, entity.TypeMaster:
			count[product.StatTotalEvents]++
		case product.TypeTask:
			count[product.StatTotalTasks]++
		case product.TypeReminder:
			count[product.StatTotalReminders]++
		case product.TypeNote:
			count[product.StatTotalNotes]++
		}
		for _, link := range entity.LinksOf(it) {
			key := entity.LinkKey(s.user, entity.Ref{Type: typeName, ID: id}, link.Target).SK
			edges[key] = true
			if s.links[key] == nil {
				h.violate("I3", s.user, key, "is a link of an item, and no row")
			}
		}
	}
	kept := s.meta.Map(product.AttrStats)
	for _, name := range totals {
		if kept.Int(name) != count[name] {
			h.violate("I2", s.user, name, "is %d, and a recount comes to %d", kept.Int(name), count[name])
		}
	}
	isLatest := kept.Str(product.StatLastEventCreated) == s.eventAt &&
		kept.Str(product.StatLastTaskCompleted) == s.taskDone
	if !s.unsure && !isLatest {
		h.violate("I2", s.user, "latest", "%q and %q, and the log has %q and %q", kept.Str(product.StatLastEventCreated),
			kept.Str(product.StatLastTaskCompleted), s.eventAt, s.taskDone)
	}
	for _, key := range slices.Sorted(maps.Keys(s.links)) {
		if !edges[key] {
			h.violate("I3", s.user, key, "is a row, and no item's link")
		}
	}
}

// checkClock checks that the two counts that change with the clock equal a recount at the same instant (I2).
func (h *history) checkClock(s *userState) {
	answer, err := h.direct.Queries.Stats(noContext, s.user)
	if err != nil {
		h.violate("I2", s.user, "statistics", "%v", err)
		return
	}
	upcoming, overdue := 0, 0
	zone := s.zone()
	wall := latestWallOf(h.now, zone)
	for _, it := range s.items {
		switch it.Str(entity.AttrType) {
		case product.TypeEvent:
			start, floats, ok := startOf(it)
			if ok && it.Str(entity.AttrStatus) != product.StatusCancelled && after(start, floats, h.now, wall) {
				upcoming++
			}
		case entity.TypeMaster:
			last, ends := it.Time(product.AttrLastStartUtc)
			if it.Str(entity.AttrStatus) != product.StatusCancelled &&
				(!ends || after(last, !it.Has(product.AttrStartTzid), h.now, wall)) {
				upcoming++
			}
		case product.TypeTask:
			at, floats, ok := taskDue(it)
			if it.Bool(product.AttrIsAllDay) {
				at = at.AddDate(0, 0, 1)
			}
			open := it.Str(entity.AttrStatus) == product.StatusBacklog || it.Str(entity.AttrStatus) == product.StatusInProgress
			if hasDue := it.Has(product.AttrDueUtc) ||
				it.Bool(product.AttrIsAllDay); ok && hasDue && open && !after(at, floats, h.now, wall) {
				overdue++
			}
		}
	}
	if answer.UpcomingEvents != upcoming || answer.OverdueTasks != overdue {
		h.violate("I2", s.user, "statistics", "%d upcoming and %d overdue, and a recount comes to %d and %d",
			answer.UpcomingEvents, answer.OverdueTasks, upcoming, overdue)
	}
}

// after compares a reading with the clock: with the user's wall clock if it floats.
func after(reading time.Time, floats bool, now, wall time.Time) bool {
	if floats {
		return reading.After(wall)
	}
	return reading.After(now)
}

// checkIndex checks that an edge is found through its target (I3), except one that was damaged on purpose.
func (h *history) checkIndex(s *userState, r *record, sk entity.SortKey) {
	s.noteIndex(r, h.byFormer())
	if r.New == nil || r.by != delivering || h.byFormer() {
		return
	}
	source := entity.Ref{Type: sk.Components[0], ID: sk.Components[1]}
	target := entity.Ref{Type: sk.Components[2], ID: sk.Components[3]}
	if r.New.Str(item.AttrGSI4PK) != entity.LinkedPK(s.user, target) ||
		r.New.Str(item.AttrGSI4SK) != entity.LinkedSK(source) {
		h.violate("I3", s.user, r.Key.SK, "stands in the index at %s, %s", r.New.Str(item.AttrGSI4PK),
			r.New.Str(item.AttrGSI4SK))
	}
}
