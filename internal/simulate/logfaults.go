package simulate

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"nexus/pkg/changes"
	"nexus/pkg/entity"
	logkey "nexus/pkg/entity/device"
	"nexus/pkg/insights"
	"nexus/pkg/table"
)

// sweepLog removes some rows of a log that are past their ttl, in any order, as the TTL service does.
func (h *history) sweepLog(user string) {
	rows := h.fleet.logs[user].rows
	var past []int64
	for _, n := range slices.Sorted(maps.Keys(rows)) {
		if rows[n].at.Add(logLife).Before(h.now) {
			past = append(past, n)
		}
	}
	if len(past) == 0 {
		return
	}
	h.luck.Shuffle(len(past), func(i, j int) { past[i], past[j] = past[j], past[i] })
	for _, n := range past[:1+h.luck.IntN(len(past))] {
		h.store.SweepRow(logkey.ChangeKey(user, n), h.now)
		h.note("TTL removes row %d of the log of %s", n, user)
	}
	h.absorb(nil)
}

// loseLog takes the newest rows of a log away, as a restored table lacks them. Its operator raises the form.
func (h *history) loseLog(user string) {
	if h.isAway(user) {
		return
	}
	l := h.fleet.logs[user]
	if len(l.rows) == 0 || len(h.workers) > 0 {
		return
	}
	numbers := slices.Sorted(maps.Keys(l.rows))
	for _, n := range numbers[h.luck.IntN(len(numbers)):] {
		if err := h.store.Delete(noContext, table.Delete{Key: logkey.ChangeKey(user, n)}); err != nil {
			h.violate("I10", user, "log", "%v", err)
		}
	}
	h.happened["log of a restored table"]++
	h.note("the log of %s lacks its newest rows, and the form is raised", user)
	h.absorb(nil)
	h.raiseForm()
	h.hurt(user)
}

// raiseForm is an operator's answer to a log that may lack entries: all tokens reset.
func (h *history) raiseForm() {
	h.fleet.form++
	h.restartFeed()
	h.happened["form raised"]++
}

// lacks takes in that a log lacks the entry of a record that never comes.
func (h *history) lacks(r *record) {
	ref, p, isNamed := announcedBy(r)
	if !isNamed || p == (progress{}) {
		return
	}
	user, at := r.user, datedBy(ref, r)
	if since, isLacking := h.fleet.lacking[user]; !isLacking || at.Before(since) {
		h.fleet.lacking[user] = at
	}
}

// datedBy returns when a change was, as a repair reads it from the rows (docs/verify.md): the zero time if it finds
// none.
func datedBy(ref entity.Ref, r *record) time.Time {
	switch {
	case r.New != nil:
		at, _ := r.New.Time(entity.AttrUpdatedAt)
		return at
	case ref.Type == entity.TypeInstance, ref.Type == planHead:
		return time.Time{} // an exception that went with its series leaves no row, and neither does a plan
	case r.Expired:
		return time.Unix(r.Old.Int(entity.AttrTTL), 0)
	}
	return r.Created
}

// swallow takes in that the release before handles records, of which it says nothing in a log. It counts no completion.
func (h *history) swallow(raw []json.RawMessage) {
	for _, rec := range h.stream.log {
		if rec.raw != nil && slices.ContainsFunc(raw, func(one json.RawMessage) bool { return bytes.Equal(one, rec.raw) }) {
			h.oracle.applied(changes.Name, rec.Sequence)
			h.oracle.applied(insights.Name, rec.Sequence)
			h.fleet.swallowed[rec.user] = true
		}
	}
}

// appendSwallowed does the work of an operator after a rollback of the projections: it raises the form, and has the
// logs repaired. It reports whether there was anything to do.
func (h *history) appendSwallowed() bool {
	if len(h.fleet.swallowed) == 0 {
		return false
	}
	for _, user := range slices.Sorted(maps.Keys(h.fleet.swallowed)) {
		h.hurt(user)
		h.fleet.logs[user].forgive()
	}
	clear(h.fleet.swallowed)
	h.raiseForm()
	h.happened["log repaired after a rollback"]++
	return true
}

// forgive takes all that a log has to say up to now as said: each token of before is refused.
func (l *changeLog) forgive() {
	for ref, p := range l.required {
		if l.announced[ref].less(p) {
			l.announced[ref] = p
		}
	}
}

// makeGood ends what a log lacks. A repair has appended it, unless it is too old for that, or no row says that it was:
// then the operator raises the form, so that each token of before is refused.
func (h *history) makeGood(s *userState) {
	since, isLacking := h.fleet.lacking[s.user]
	if !isLacking {
		return
	}
	delete(h.fleet.lacking, s.user)
	if h.now.Sub(since) < trusted-20*24*time.Hour && !h.luck.one(3) {
		return
	}
	h.raiseForm()
	h.fleet.logs[s.user].forgive()
}
