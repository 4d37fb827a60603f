package simulate

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"nexus/pkg/account"
	"nexus/pkg/change"
	"nexus/pkg/entity"
	accountrows "nexus/pkg/entity/account"
	"nexus/pkg/entity/departure"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// What docs/correctness.md and docs/privacy.md say of an erasure.
const (
	settled    = 5 * time.Minute     // behind a change of the state: nothing is alive that read the former one
	notice     = 7 * 24 * time.Hour  // between a request and the erasure
	edge       = 10 * time.Minute    // after which no cache at the edge answers with what it was given
	tombstone  = 40 * 24 * time.Hour // of the account's row
	keptLonger = 35 * 24 * time.Hour // failure objects, and backups
)

// isOfAccounts reports whether a key is that of an account's row, or of the view of those that leave.
func isOfAccounts(key item.Key) bool {
	_, ok := departure.Name(key)
	return ok || key.PK == departure.StatePK()
}

// takeState takes in a write of the row of an account, and checks it.
func (h *history) takeState(r *record) {
	l := h.leaver
	if name, _ := departure.Name(r.Key); l == nil || name != l.name {
		h.violate("E3", "", r.Key.String(), "is the row of an account that does not leave")
		return
	}
	if l.isBack {
		return
	}
	before, state := l.state, account.State(r.New.Str("state"))
	if state != before {
		h.note("  account of %s: %s", l.user, cmp.Or(state, "PRESENT"))
	}
	l.state = state
	switch {
	case state == account.Leaving:
		h.takeRequest(before, r)
	case state == account.Erasing && before == account.Leaving:
		h.happened["erasure begun"]++
		l.begun = r.Created
		if l.begun.Before(l.eraseAt.Add(-maxAhead)) {
			h.violate("E2", l.user, l.name, "is to be erased at %s, and is", item.FormatInstant(l.eraseAt))
		}
		h.dismissLeaver()
	case state == account.Erasing && before == account.Erasing: // it has come further
	case state == account.Erased && before == account.Erasing:
		h.happened["account erased"]++
		l.erased = r.Created
		h.checkEnd(r.New)
	case state == account.Present && before == account.Leaving:
		h.happened["account taken back"]++
		l.returned = r.Created
	case r.Expired && before == account.Erased && !r.Created.Before(l.erased.Add(tombstone-edge)):
	default:
		h.violate("E1", l.user, l.name, "goes from %q to %q", before, state)
	}
}

// takeRequest checks a request, and one to erase at once in its place. The notice counts from the instant at which the
// request came, and the row may be written as much later as a call lasts.
func (h *history) takeRequest(before account.State, r *record) {
	l := h.leaver
	h.happened["account leaves"]++
	eraseAt, _ := r.New.Time("eraseAt")
	least := cameAt(h.writer, r).Truncate(time.Second).Add(notice - maxAhead)
	early := eraseAt.Before(least) && eraseAt.After(r.Created.Add(maxAhead))
	if before != account.Present && before != account.Leaving || early || r.New.Str("userId") != l.user {
		h.violate("E2", l.user, l.name, "was %q, and is to be erased at %s", before, r.New.Str("eraseAt"))
	}
	l.asked, l.eraseAt = r.Created, eraseAt
}

// dismissLeaver takes the user out of what is played and judged: the account does not come back.
func (h *history) dismissLeaver() {
	user := h.leaver.user
	h.users = slices.DeleteFunc(slices.Clone(h.users), func(other string) bool { return other == user })
	delete(h.damaged, user)
	delete(h.toRepair, user)
	for key := range h.later {
		if userOf(key) == user {
			delete(h.later, key)
		}
	}
	h.requests = slices.DeleteFunc(h.requests, func(r *request) bool { return r.User == user })
}

// takeRowOfLeaver checks a write of a row of the user whose account is gone (E1).
func (h *history) takeRowOfLeaver(r *record) {
	l := h.leaver
	by := "the TTL service"
	if h.writer != nil {
		by = h.writer.name
	}
	isErasure := h.writer != nil && h.writer.kind == erasing
	switch {
	case l.isBack:
	case r.New == nil && isErasure && !l.isPassing:
		l.isPassing = true
		if r.Created.Sub(l.begun) < settled-2*maxAhead {
			h.violate("E1", l.user, r.Key.SK, "is removed %s after the erasure began: writers of before are alive",
				r.Created.Sub(l.begun))
		}
	case r.New != nil && (isErasure || l.isPassing || !l.erased.IsZero()):
		h.violate("E1", l.user, r.Key.SK, "is written by %s, and the account is %s", by, l.state)
	}
}

// checkErasure checks a write of an erasure: it has rows of one user alone (E3), and only behind the notice (E2).
func (h *history) checkErasure(r *record) {
	l := h.leaver
	if h.writer == nil || h.writer.kind != erasing || isOfAccounts(r.Key) {
		return
	}
	if r.user != l.user {
		h.violate("E3", r.user, r.Key.String(), "is touched by the erasure of %s", l.user)
	}
	if l.begun.IsZero() {
		h.violate("E2", l.user, r.Key.SK, "is touched by an erasure that has not begun")
	}
}

// checkRefused checks that no command changes anything while the account leaves (E2).
func (h *history) checkRefused(r *record) {
	l := h.leaver
	_, _, isExport := accountrows.ParseExportKey(r.Key) // a user who leaves may take everything along, and read
	isRate := isOfRate(r.Key)
	if l.state == account.Leaving && r.by == commanding && !isExport && !isRate && r.Created.Sub(l.asked) > settled {
		h.violate("E2", l.user, r.Key.SK, "is changed by %s, %s after the account's erasure was requested", h.writer.name,
			r.Created.Sub(l.asked))
	}
}

// checkEnd checks what must be true when an account becomes ERASED.
func (h *history) checkEnd(row item.Item) {
	l := h.leaver
	text := string(change.AppendItem(nil, row))
	if names(text, l.user) {
		h.violate("E1", l.user, l.name, "the row of the erased account is %s", text)
	}
	at := time.Unix(row.Int(entity.AttrTTL), 0).Sub(l.erased)
	if at < tombstone-edge-time.Minute || at > tombstone+maxAhead {
		h.violate("E1", l.user, l.name, "the row of the erased account ends after %s", at)
	}
	if l.erased.Sub(l.begun) < edge-2*maxAhead {
		h.violate("E1", l.user, l.name, "is ERASED %s after ERASING", l.erased.Sub(l.begun))
	}
	if !l.isTold {
		h.violate("E1", l.user, l.name, "is ERASED, and no subscriber was told")
	}
	if _, err := h.copies.Get(noContext, account.ErasedPrefix+l.name); err != nil {
		h.violate("E1", l.user, l.name, "is ERASED, and the list of erased accounts lacks it: %v", err)
	}
	if _, err := h.copies.Get(noContext, account.LeavingPrefix+l.name); err == nil {
		h.violate("E1", l.user, l.name, "is ERASED, and in the list of accounts that leave")
	}
	for _, rec := range h.stream.log {
		if rec.user == l.user {
			l.words = append(l.words, wordsIn(rec.New)...)
		}
	}
	h.checkTraces(h.store)
}

// checkTraces searches a table, the objects and the schedules for anything of the erased user (E1).
func (h *history) checkTraces(in table.Walker) {
	l := h.leaver
	words := h.wordsOfLeaver()
	for _, one := range h.everythingIn(in) {
		if names(one.name, l.user) || names(one.text, l.user) && !h.isDamage(one) {
			h.violate("E1", l.user, one.name, "has the id of the erased user: %.300s", one.text)
		}
		for part := range strings.SplitSeq(one.text, `"`) {
			if words[part] {
				h.violate("E1", l.user, one.name, "has %q, which the erased user wrote", part)
			}
		}
	}
	own := h.schedulesOfLeaver()
	for _, one := range h.schedules.Entries() {
		if names(string(one.Payload), l.user) || strings.HasPrefix(one.Name, own) {
			h.violate("E1", l.user, one.Name, "is a schedule of the erased user: %s", one.Payload)
		}
	}
}

// wordsIn returns what a user wrote in a row.
func wordsIn(row item.Item) (words []string) {
	for _, name := range []string{entity.AttrTitle, "notes", "name", "description"} {
		if text := row.Str(name); text != "" {
			words = append(words, text)
		}
	}
	return words
}

// wordsOfLeaver returns the texts that the erased user wrote and no other user did.
func (h *history) wordsOfLeaver() map[string]bool {
	words := map[string]bool{}
	for _, text := range h.leaver.words {
		words[text] = true
	}
	for _, rec := range h.stream.log {
		if rec.user != h.leaver.user {
			for _, text := range wordsIn(rec.New) {
				delete(words, text)
			}
		}
	}
	return words
}

// names reports whether a text has the user's id as a word. A digest or a random number does not count: it may have the
// id by chance.
func names(text, user string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], user)
		if at < 0 {
			return false
		}
		begin, end := from+at, from+at+len(user)
		if (begin == 0 || !isOfWord(text[begin-1])) && (end == len(text) || !isOfWord(text[end])) && !isIn64(text, begin) {
			return true
		}
		from = end
	}
}

func isOfWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// isIn64 reports whether a place lies in 16 or 32 bytes by base64url (RFC 4648 §5), whose digits are also - and _.
func isIn64(text string, at int) bool {
	isDigit := func(c byte) bool { return isOfWord(c) || c == '-' || c == '_' }
	begin, end := at, at
	for begin > 0 && isDigit(text[begin-1]) {
		begin--
	}
	for end < len(text) && isDigit(text[end]) {
		end++
	}
	n := end - begin
	return n == base64.RawURLEncoding.EncodedLen(16) || n == base64.RawURLEncoding.EncodedLen(32)
}

// endPeriods ends what is kept of an erased user for a while: queues, failure objects and the stream.
func (h *history) endPeriods() {
	l := h.leaver
	if l == nil || l.erased.IsZero() || l.isPast || h.now.Sub(l.erased) < keptLonger {
		return
	}
	l.isPast = true
	h.note("nothing is kept of %s any more", l.user)
	h.stream.log = slices.DeleteFunc(slices.Clone(h.stream.log), func(rec *record) bool {
		return rec.user == l.user
	})
	h.oracle.givenUp = slices.DeleteFunc(h.oracle.givenUp, func(one givenUp) bool {
		return slices.Contains(one.users, l.user)
	})
	h.schedules.forget(l.user)
	h.walks.forget(l.user)
}
