package simulate

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/entity/metering"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/limit"
	"nexus/pkg/product"
	"nexus/pkg/reminders"
)

// What docs/limits.md says.
const (
	// keptAnswer is how long an instance keeps an answer about quotas, or a refusal.
	keptAnswer = time.Minute
	// zonePause is the time between two changes of the zone.
	zonePause = time.Minute
	// wander bounds by how much two clocks differ, one of them cut to seconds.
	wander = 2*maxAhead + time.Second
)

// usage has the numbers by which the quotas of a user are judged, from an instant on.
type usage struct {
	at   time.Time
	used map[string]int
}

// usageOf returns the numbers of quotas: totals of the statistics, the row of the counts, and the rows of series and
// days.
func usageOf(s *userState, now time.Time) usage {
	stats := s.meta.Map(product.AttrStats)
	used := map[string]int{
		limit.Content: int(stats.Int(product.StatTotalEvents) + stats.Int(product.StatTotalTasks) +
			stats.Int(product.StatTotalReminders)),
		limit.Notes: int(stats.Int(product.StatTotalNotes)), limit.Series: countOf(s, entity.TypeMaster),
	}
	for _, name := range []string{limit.Exceptions, limit.Gone, limit.Schedules} {
		used[name] = int(s.counts.Int(name))
	}
	for _, has := range s.days {
		if has {
			used[limit.Plans]++
		}
	}
	return usage{now, used}
}

func countOf(s *userState, types ...string) (n int) {
	for _, it := range s.items {
		if slices.Contains(types, it.Str(entity.AttrType)) {
			n++
		}
	}
	return n
}

// noteUsage takes in a write of what limits are judged by, and who wrote it.
func (h *history) noteUsage(r *record) {
	l := h.limits
	if l == nil {
		return
	}
	s := h.oracle.users[r.user]
	if s == nil || h.isGone(s.user) {
		return
	}
	if h.writer != nil && h.writer.knocks {
		h.writer.wrote = append(h.writer.wrote, r)
	}
	sk, err := entity.ParseSortKey(r.Key.SK)
	switch {
	case err != nil && !r.isOfRepository:
		return
	case sk.Prefix == metering.RowCount:
		s.counts = r.New
	case sk.Prefix == entity.TypeUserMeta:
		if r.New.Str(product.AttrDefaultTzid) != r.Old.Str(product.AttrDefaultTzid) {
			h.checkZone(s, r)
			l.zones[s.user] = append(l.zones[s.user], zoneChange{cameAt(h.writer, r), r.Created})
		}
	}
	l.known[s.user] = append(l.known[s.user], usageOf(s, h.now))
}

// cameAt returns when the request came whose writer wrote the record.
func cameAt(w *worker, r *record) time.Time {
	if w == nil {
		return r.Created
	}
	return w.begun
}

// zoneChange is a change of the zone: when its request came, and when it was written. It was decided in between.
type zoneChange struct{ came, written time.Time }

// checkZone checks that a request over HTTP changes the zone no sooner than a minute after the last change (I15).
func (h *history) checkZone(s *userState, r *record) {
	before := h.limits.zones[s.user]
	if len(before) == 0 || !r.Old.Has(product.AttrZoneSetAt) || h.writer == nil || !h.writer.knocks {
		return
	}
	if since := r.Created.Sub(before[len(before)-1].came); since < zonePause-wander {
		h.violate("I15", s.user, limit.Zone, "changes %s after it changed last", since)
	}
}

// usedSince returns what a quota had from an instant on, at one time or another.
func (l *limits) usedSince(user, quota string, from time.Time) (used []int) {
	all := l.known[user]
	for _, one := range slices.Backward(all) {
		used = append(used, one.used[quota])
		if !one.at.After(from) {
			return used
		}
	}
	return append(used, 0)
}

// isOfRate reports whether a row counts how much of a rate is used.
func isOfRate(key item.Key) bool {
	sk, err := entity.ParseSortKey(key.SK)
	return err == nil && sk.Prefix == metering.RowRate
}

// checkKnock checks the answer to a request over HTTP by the limits (I15).
func (h *history) checkKnock(w *worker, k knock, of command.Command) {
	out := w.reply
	isRefused := out.status == http.StatusTooManyRequests || out.is("quota-reached") || out.is("history-full")
	for _, r := range w.wrote {
		if isRefused && !isOfRate(r.Key) {
			h.violate("I15", k.user, r.Key.SK, "was written by %s %s, which is refused with %d", k.method, k.path, out.status)
		}
	}
	switch {
	case out.status == http.StatusTooManyRequests:
		h.checkRefusedRate(w, k)
	case out.is("quota-reached"):
		h.checkRefusedQuota(w, k)
	case out.status < http.StatusMultipleChoices:
		h.checkRoom(w, k, of)
	}
}

// checkRefusedRate checks a 429: it says when to come again, and the fields say so, too.
func (h *history) checkRefusedRate(w *worker, k knock) {
	out := w.reply
	policy, _, full := out.rate()
	h.happened["refused by the rate "+policy]++
	again, err := strconv.Atoi(out.header.Get("Retry-After"))
	isRight := err == nil && 1 <= again && again <= 60 && again <= full && again == out.problem.RetryAfter
	if !isRight || !out.is("rate-limited") {
		h.violate("I15", k.user, k.path, "is refused, to come again after %q: %s, %v", out.header.Get("Retry-After"),
			out.body.String(), out.header)
	}
	if policy != limit.Zone {
		return
	}
	changes := h.limits.zones[k.user]
	if len(changes) == 0 || w.begun.Sub(changes[len(changes)-1].written) > zonePause+wander {
		h.violate("I15", k.user, limit.Zone, "may not change, and changed last at %v", changes)
	}
}

// rate reads the fields of the answer about a rate: its name, the points that are left, and in how many seconds the
// bucket is full.
func (r *reply) rate() (policy string, left, full int) {
	for part := range strings.SplitSeq(r.header.Get("RateLimit"), ";") {
		name, value, isPair := strings.Cut(part, "=")
		n, _ := strconv.Atoi(value)
		switch {
		case !isPair:
			policy = strings.Trim(part, `"`)
		case name == "r":
			left = n
		case name == "t":
			full = n
		}
	}
	return policy, left, full
}

// checkRefusedQuota checks a refusal by a quota: it is full, by what there was within the time for which an answer is
// kept.
func (h *history) checkRefusedQuota(w *worker, k knock) {
	of := w.reply.problem
	h.happened["refused by the quota "+of.Quota]++
	had := h.limits.usedSince(k.user, of.Quota, w.begun.Add(-keptAnswer-wander))
	if of.Limit != h.limits.numbers[of.Quota] || of.Used < of.Limit || !slices.Contains(had, of.Used) {
		h.violate("I15", k.user, of.Quota, "is said to be %d of %d, and was %v of %d: %s %s", of.Used, of.Limit, had,
			h.limits.numbers[of.Quota], k.method, k.path)
	}
}

// checkRoom checks that no request was carried out for which a quota had no room while it was judged: of numbers so
// small each request asks, and only a refusal is kept.
func (h *history) checkRoom(w *worker, k knock, of command.Command) {
	for _, quota := range quotasOf(w, k, of) {
		had := h.limits.usedSince(k.user, quota, w.begun.Add(-wander))
		if number := h.limits.numbers[quota]; slices.Min(had) >= number {
			h.violate("I15", k.user, quota, "was %v of %d, and %s %s was carried out", had, number, k.method, k.path)
		}
	}
}

// quotasOf returns the quotas that need room for what a request has made.
func quotasOf(w *worker, k knock, of command.Command) (quotas []string) {
	for _, r := range w.wrote {
		if r.isOfRepository && r.row.Kind == repository.DayRow && r.Old == nil {
			quotas = append(quotas, limit.Plans)
		}
		sk, err := entity.ParseSortKey(r.Key.SK)
		if err != nil || sk.IsRow() || sk.Prefix == entity.TypeUserMeta || r.New == nil {
			continue
		}
		_, isPut := of.(command.PutInstance)
		_, isCancellation := of.(command.CancelInstance)
		isMade := r.Old == nil
		switch {
		case isMade && sk.Prefix == entity.TypeInstance && (isPut || isCancellation):
			quotas = append(quotas, limit.Exceptions)
		case isMade && sk.Prefix == product.TypeNote:
			quotas = append(quotas, limit.Notes, limit.Gone)
		case isMade && sk.Prefix == entity.TypeMaster:
			quotas = append(quotas, limit.Content, limit.Gone, limit.Series)
		case isMade && sk.Prefix != entity.TypeInstance:
			quotas = append(quotas, limit.Content, limit.Gone)
		}
		if strings.Contains(k.body, `"reminderMinutes":[`) && !strings.Contains(k.body, `"reminderMinutes":[]`) ||
			strings.Contains(k.body, `"triggerUtc":"`) {
			quotas = append(quotas, limit.Schedules)
		}
	}
	return quotas
}

// countsOf recounts what the row of the counts has.
func (h *history) countsOf(s *userState) map[string]int {
	counts := map[string]int{limit.Exceptions: countOf(s, entity.TypeInstance), limit.Gone: len(s.colds)}
	for _, isGone := range s.gone {
		if isGone {
			counts[limit.Gone]++
		}
	}
	for _, one := range h.schedules.Entries() {
		if userOfPayload(one.Payload) == s.user && strings.HasPrefix(one.Name, reminders.SchedulePrefix) {
			counts[limit.Schedules]++
		}
	}
	return counts
}

// checkCounts runs a repair once all is settled, and compares the row of the counts with a recount: it has none of them
// wrong by more than a hundredth of the limit where either is half of it or more (I15). A repair that leaves something
// is repeated: it has counted what it removed.
func (h *history) checkCounts(s *userState) {
	for range maxRepairs {
		delete(h.toRepair, s.user)
		if h.run(h.repair(s.user), -1); !h.toRepair[s.user] {
			break
		}
	}
	h.absorb(nil)
	for name, is := range h.countsOf(s) {
		kept, number := int(s.counts.Int(name)), h.limits.numbers[name]
		if off := max(kept-is, is-kept); off*100 > number && 2*max(kept, is) >= number {
			h.violate("I15", s.user, name, "is %d in the row of the counts after a repair, and a recount comes to %d", kept, is)
		}
		if kept == is && 2*is >= number {
			h.happened["count that equals a recount"]++
		}
	}
}

// checkNear compares the quotas that GET /v1/me names, once all is settled, with a recount (I15).
func (h *history) checkNear(s *userState) {
	var me struct {
		NearLimits []struct {
			Quota       string
			Limit, Used int
		}
	}
	out := h.settledReply(knock{method: http.MethodGet, path: "/v1/me", user: s.user})
	if err := jsonInto(out, &me); err != nil {
		h.violate("I15", s.user, "nearLimits", "%v: %s", err, out.body.String())
		return
	}
	is := map[string]int{}
	for _, one := range me.NearLimits {
		is[one.Quota] = one.Used
	}
	for name, n := range map[string]int{
		limit.Notes:   countOf(s, product.TypeNote),
		limit.Content: countOf(s, product.TypeEvent, entity.TypeMaster, product.TypeTask, product.TypeReminder),
	} {
		used, isNamed := is[name]
		if isNear := n*100 >= 80*h.limits.numbers[name]; isNear != isNamed || isNear && used != n {
			h.violate("I15", s.user, name, "a recount comes to %d of %d, and nearLimits has %v", n, h.limits.numbers[name],
				me.NearLimits)
		}
	}
}

// checkLimits checks, once all is settled, what is counted for each user (I15). It reports whether limits are played.
func (h *history) checkLimits() bool {
	if h.limits == nil {
		return false
	}
	for _, user := range h.users {
		if s := h.oracle.users[user]; !h.isAway(user) && h.violation == nil {
			h.checkNear(s)
			if h.ending || h.luck.one(3) {
				h.checkCounts(s)
			}
		}
	}
	return true
}
