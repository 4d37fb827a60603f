package simulate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/changes/token"
	"nexus/pkg/entity"
	logkey "nexus/pkg/entity/device"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/query"
	"nexus/pkg/table"
)

// changeLog is a user's change log as the log of all writes has it, with what it must announce.
type changeLog struct {
	rows   map[int64]logRow
	newest int64 // the highest number that ever was
	swept  int64 // the highest number of a row that TTL removed
	// announced has the greatest entry of each thing, required the one that its row asks for, and asked when a record
	// last did, by the text of the entry.
	announced, required map[entity.Ref]progress
	asked               map[string]time.Time
}

type logRow struct {
	bits    string
	at      time.Time
	first   bool
	again   bool // TTL has removed a row of its number, which another writer may have read before
	entries map[entity.Ref]progress
}

// progress is how far a thing has come, as an entry of a log says it.
type progress struct {
	version int64
	lapsing bool
	revID   string
}

func (p progress) less(q progress) bool {
	if p.version != q.version {
		return p.version < q.version
	}
	if p.lapsing != q.lapsing {
		return q.lapsing
	}
	return p.revID < q.revID
}

// text returns the entry, which a digest is made of, too.
func (p progress) text(ref entity.Ref) string {
	words := []string{ref.Type}
	if ref.ID != "" {
		words = append(words, ref.ID)
	}
	switch {
	case p.revID != "":
		words = append(words, p.revID)
	case p.lapsing:
		words = append(words, fmt.Sprintf("%d!", p.version))
	default:
		words = append(words, fmt.Sprint(p.version))
	}
	return strings.Join(words, " ")
}

// readEntry is the inverse of text.
func readEntry(text string) (entity.Ref, progress, error) {
	words := strings.Split(text, " ")
	switch {
	case len(words) == 2 && words[0] == valuesHead:
		return entity.Ref{Type: words[0]}, progress{revID: words[1]}, nil
	case len(words) == 3 && words[0] == planHead:
		return entity.Ref{Type: words[0], ID: words[1]}, progress{revID: words[2]}, nil
	case len(words) != 3:
		return entity.Ref{}, progress{}, fmt.Errorf("%q is no entry", text)
	}
	digits, lapsing := strings.CutSuffix(words[2], "!")
	version, err := strconv.ParseInt(digits, 10, 64)
	return entity.Ref{Type: words[0], ID: words[1]}, progress{version: version, lapsing: lapsing}, err
}

// Types of heads in a log.
const (
	valuesHead = "VALUES"
	planHead   = "PLAN"
)

func newChangeLog() *changeLog {
	return &changeLog{
		rows: map[int64]logRow{}, announced: map[entity.Ref]progress{}, required: map[entity.Ref]progress{},
		asked: map[string]time.Time{},
	}
}

const (
	// trusted is how long a row of a log is relied on, and logLife how long it lives.
	trusted = 80 * 24 * time.Hour
	logLife = 90 * 24 * time.Hour
	// apart is more than two clocks of a history differ by.
	apart = time.Minute
	// lateRecord is the age from which a record is compared with all rows since its time.
	lateRecord = time.Hour
)

// isOld reports whether a row may not be relied on any more, by any clock.
func (r logRow) isOld(now time.Time) bool { return now.Sub(r.at) >= trusted-apart }

// refusals returns why the log may refuse a token: the reasons that its rows give.
func (l *changeLog) refusals(t token.Token, now time.Time) (out []query.ResetReason) {
	numbers := slices.Sorted(maps.Keys(l.rows))
	if t.N == 0 {
		if now.Sub(time.Unix(int64(t.X), 0)) >= trusted-apart {
			return []query.ResetReason{query.ResetExpired}
		}
	} else {
		own, isThere := l.rows[t.N]
		if isThere && own.bits != fmt.Sprintf("%016x", t.X) {
			out = append(out, query.ResetUnknown)
		}
		if !isThere || own.isOld(now) {
			return append(out, query.ResetExpired)
		}
	}
	want := t.N + 1
	for _, n := range numbers {
		row := l.rows[n]
		if n <= t.N {
			continue
		}
		if n != want || row.isOld(now) || row.first && n > 1 {
			return append(out, query.ResetExpired)
		}
		want++
	}
	return out
}

// isLogRow takes in a row of a log, or of a repository; false for any other.
func (h *history) isLogRow(s *userState, r *record) bool {
	if row := r.row; r.isOfRepository {
		h.require(s, r)
		h.takeRepository(s, r, row)
		if row.Kind == repository.DayRow {
			s.days[row.Repository.Date] = r.New != nil
		}
		return true
	}
	if !strings.HasPrefix(r.Key.SK, logkey.RowChange) {
		return false
	}
	n, err := logkey.ParseChange(r.Key.SK)
	if err != nil {
		return false
	}
	h.takeLogRow(s, r, n)
	return true
}

// announcedBy returns what a log has to say after a record; false for a record that it does not name. A removal counts
// as the old version plus 1.
func announcedBy(r *record) (ref entity.Ref, p progress, isNamed bool) {
	if row := r.row; r.isOfRepository {
		if ref = (entity.Ref{Type: valuesHead}); row.Repository.Date != "" {
			ref = entity.Ref{Type: planHead, ID: row.Repository.Date}
		}
		p.revID = r.New.Str(repository.AttrHeadRevisionID)
		if r.New == nil && row.Kind == repository.HeadRow {
			p.revID = removalOf(r.Old.Str(repository.AttrHeadRevisionID))
		}
		return ref, p, row.Kind == repository.HeadRow
	}
	sk, err := entity.ParseSortKey(r.Key.SK)
	if err != nil || sk.IsRow() && sk.Prefix != entity.TypeUserMeta {
		return ref, p, false
	}
	p = progress{version: r.New.Int(entity.AttrVersion), lapsing: r.New.Has(entity.AttrTTL)}
	if r.New == nil {
		p = progress{version: r.Old.Int(entity.AttrVersion) + 1}
	}
	return sk.Ref(), p, true
}

// removalOf returns what a log says of a head that was removed (docs/data-model.md).
func removalOf(revID string) string { return revID[:len(revID)-32] + strings.Repeat("f", 32) }

// require notes what the log of the user has to say after a record.
func (h *history) require(s *userState, r *record) {
	ref, p, isNamed := announcedBy(r)
	if !isNamed {
		return
	}
	l := h.fleet.logs[s.user]
	if l.required[ref].less(p) {
		l.required[ref] = p
	}
	l.asked[p.text(ref)] = r.Created
	switch {
	case p.revID != "" && r.New == nil:
		delete(s.heads, ref)
	case p.revID != "" && p.revID != s.heads[ref].revID: // a pruning leaves the revision as it was
		s.heads[ref] = head{p.revID, h.now}
	}
}

// head is the head of a repository.
type head struct {
	revID string
	at    time.Time
}

// takeLogRow checks the write of a row of a log: its number follows, it is put where there was none, and it says first
// where rows may be missing before it. It repeats nothing that a late record must find. If its writer read a row that
// TTL has removed since, and another writer has begun the log again, it says first and repeats needlessly: that is
// harmless, and allowed.
func (h *history) takeLogRow(s *userState, r *record, n int64) {
	l := h.fleet.logs[s.user]
	where := r.Key.SK
	switch r.Name {
	case change.Remove:
		delete(l.rows, n)
		if r.Expired {
			l.swept = max(l.swept, n)
			h.happened["row of a log swept"]++
			for m := range l.rows {
				if m < n {
					h.happened["row of a log swept before an older one"]++
					break
				}
			}
		}
		return
	case change.Modify:
		h.violate("I12", s.user, where, "was put over another row")
	}
	row := logRow{
		bits: r.New.Str("x"), first: r.New.Bool("first"), again: n <= l.swept, entries: map[entity.Ref]progress{},
	}
	row.at, _ = r.New.Time("at")
	h.happened["row of a log appended"]++
	if ttl := r.New.Int(entity.AttrTTL); ttl != row.at.Add(logLife).Unix() {
		h.violate("I12", s.user, where, "was written at %s and ends at %d", item.FormatInstant(row.at), ttl)
	}
	before, isThere := l.rows[n-1]
	switch {
	case !isThere && !row.first:
		h.violate("I12", s.user, where, "follows no row and is not first")
	case isThere && row.at.Sub(before.at) >= trusted+2*apart && !row.first:
		h.violate("I12", s.user, where, "follows a row of %s and is not first", item.FormatInstant(before.at))
	case isThere && row.first && row.at.Sub(before.at) < trusted-2*apart && !before.again:
		h.violate("I12", s.user, where, "follows a row of %s and is first", item.FormatInstant(before.at))
	case row.first && n > 1:
		h.happened["row of a log that is first again"]++
	}
	for m := range l.rows {
		if m > n {
			h.violate("I12", s.user, where, "was appended before row %d", m)
		}
	}
	entries, _ := r.New["e"].(item.List)
	if len(entries) == 0 || len(entries) > 100 {
		h.violate("I12", s.user, where, "has %d entries", len(entries))
	}
	for _, v := range entries {
		text, _ := v.(item.String)
		ref, p, err := readEntry(string(text))
		if err != nil {
			h.violate("I12", s.user, where, "%v", err)
			continue
		}
		h.checkRepeated(s, r, string(text), ref, p)
		row.entries[ref] = p
		if l.announced[ref].less(p) {
			l.announced[ref] = p
		}
	}
	l.rows[n], l.newest = row, max(l.newest, n)
}

// noteWriters notes that two writers wanted one row of a log.
func (h *history) noteWriters(key item.Key, err error) {
	var failed *table.ConditionError
	if _, notOne := logkey.ParseChange(key.SK); notOne == nil && errors.As(err, &failed) {
		h.happened["two writers of a log"]++
	}
}

// checkRepeated checks that a consumer appends no entry of a late record that a row since the record's time has.
func (h *history) checkRepeated(s *userState, r *record, text string, ref entity.Ref, p progress) {
	l := h.fleet.logs[s.user]
	asked, isKnown := l.asked[text]
	if !isKnown {
		h.violate("I12", s.user, r.Key.SK, "announces %s, which nothing asked for", text)
		return
	}
	if r.Created.Sub(asked) < lateRecord+apart || r.by != delivering {
		return
	}
	h.happened["late record announced"]++
	for n, row := range l.rows {
		if has, isThere := row.entries[ref]; isThere && !row.again && !has.less(p) && row.at.After(asked) {
			h.violate("I12", s.user, r.Key.SK, "announces %s again, which row %d has since %s", text, n,
				item.FormatInstant(row.at))
		}
	}
}

// checkDays checks that a row of the user's names each day that has a plan, and no other.
func (h *history) checkDays(s *userState) {
	for ref := range s.heads {
		if ref.Type == planHead && !s.days[ref.ID] {
			h.violate("I9", s.user, ref.ID, "has a plan, and no row says so")
		}
	}
	for date, isNamed := range s.days {
		if _, isThere := s.heads[entity.Ref{Type: planHead, ID: date}]; isNamed && !isThere {
			h.violate("I9", s.user, date, "is named as a day with a plan, and has none")
		}
	}
}

// checkAnnouncements checks that the log says of everything at least how far it has come.
func (h *history) checkAnnouncements(s *userState) {
	h.checkDays(s)
	if h.damaged[s.user] {
		return
	}
	h.makeGood(s)
	l := h.fleet.logs[s.user]
	for ref, p := range l.required {
		if l.announced[ref].less(p) {
			h.violate("I12", s.user, ref.ID, "has come to %q, and the log says %q", p.text(ref), l.announced[ref].text(ref))
		}
	}
}
