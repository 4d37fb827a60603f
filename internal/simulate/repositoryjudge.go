package simulate

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	blobmemory "nexus/pkg/blob/memory"
	"nexus/pkg/change"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// blobPage is the number of objects in a page of a list.
const blobPage = 1000

// readersLive is how long the rows of a pruned revision stay, but for what clocks differ by.
const readersLive = 15*time.Minute - apart

// knownNode is a node of a user's tree as its requests made it.
type knownNode struct {
	id, word           string
	deleted, forgotten bool
}

// knownRepository is a repository according to the log of all writes.
type knownRepository struct {
	head, named, oldest string
	log                 map[string]item.Item // entries, by revision
	rows                map[string]int       // of snapshots
	sizes               map[string]int       // that revisions had when they were published
	line                []knownRevision      // all that there ever were, in their order
	prunedAt            map[string]time.Time
	wasPruned           bool
}

type knownRevision struct {
	revID string
	at    time.Time // when it became the present one
}

// repositoryOf returns what is known of a repository.
func (s *userState) repositoryOf(at repository.Address) *knownRepository {
	r := s.repositories[at]
	if r == nil {
		r = &knownRepository{
			log: map[string]item.Item{}, rows: map[string]int{}, sizes: map[string]int{}, prunedAt: map[string]time.Time{},
		}
		s.repositories[at] = r
	}
	return r
}

// asOf returns the revision that was the present one at an instant; "" for none.
func (r *knownRepository) asOf(instant time.Time) (revID string) {
	for _, one := range r.line {
		if !one.at.After(instant) {
			revID = one.revID
		}
	}
	return revID
}

// takeRepository takes in the write of a row of a repository (I14).
func (h *history) takeRepository(s *userState, r *record, row repository.Row) {
	known := s.repositoryOf(row.Repository)
	s.touched[row.Repository] = true
	switch row.Kind {
	case repository.HeadRow:
		known.head, known.named = r.New.Str(repository.AttrHeadRevisionID), r.New.Str("rolledFromRevId")
		known.oldest = r.New.Str("oldestRevId")
	case repository.LogRow:
		if r.New != nil {
			known.log[row.RevisionID], known.sizes[row.RevisionID] = r.New, int(r.New.Int("rows"))
			at, isApart := r.New.Time("committedAt")
			if !isApart {
				at, _ = r.New.Time("revTs")
			}
			known.line = append(known.line, knownRevision{row.RevisionID, at})
			return
		}
		delete(known.log, row.RevisionID)
		known.prunedAt[row.RevisionID], known.wasPruned = h.now, true
		h.happened["revision pruned"]++
	case repository.SnapshotRow:
		switch r.Name {
		case change.Insert:
			known.rows[row.RevisionID]++
		case change.Remove:
			known.rows[row.RevisionID]--
			at, isPruned := known.prunedAt[row.RevisionID]
			if isPruned && h.now.Sub(at) < readersLive {
				h.violate("I14", s.user, row.RevisionID, "was pruned at %s, and loses a row at %s", item.FormatInstant(at),
					item.FormatInstant(h.now))
			}
			if isPruned && known.rows[row.RevisionID] == 0 {
				h.happened["rows of a pruned revision removed"]++
			}
		}
	}
}

// checkTouched checks the repositories of which rows were written, and the days before those.
func (h *history) checkTouched() {
	for _, user := range h.users {
		s := h.oracle.users[user]
		for at := range s.touched {
			s.checkRepository(h, at)
			if day, err := time.Parse(time.DateOnly, at.Date); err == nil {
				s.checkRepository(h, repository.Address{User: user, Date: day.AddDate(0, 0, -1).Format(time.DateOnly)})
			}
		}
		clear(s.touched)
	}
}

// checkRepository checks that the head is the end of the log, that every revision in the log is whole, that what the
// next day names is there, and that the head says where the unbroken part begins.
func (s *userState) checkRepository(h *history, at repository.Address) {
	r := s.repositories[at]
	if r == nil {
		return
	}
	order := slices.Sorted(maps.Keys(r.log)) // ids begin with their time
	if (r.head == "") != (len(order) == 0) || r.head != "" && order[len(order)-1] != r.head {
		h.violate("I14", s.user, at.Date, "the head is %q and the log %v", r.head, order)
		return
	}
	for _, revID := range order {
		if r.rows[revID] != r.sizes[revID] {
			h.violate("I14", s.user, revID, "is in the log and has %d rows of %d", r.rows[revID], r.sizes[revID])
		}
	}
	if day, err := time.Parse(time.DateOnly, at.Date); err == nil {
		next := s.repositories[repository.Address{User: s.user, Date: day.AddDate(0, 0, 1).Format(time.DateOnly)}]
		if next != nil && next.named != "" && r.log[next.named] == nil {
			h.violate("I14", s.user, at.Date, "the next day names %s, and the log is %v", next.named, order)
		}
	}
	first := len(order) - 1
	for first > 0 && r.log[order[first]].Str("parentRevId") == order[first-1] {
		first--
	}
	if len(order) > 0 && r.log[order[first]].Has("parentRevId") && r.oldest != order[first] {
		h.violate("I14", s.user, at.Date, "is unbroken from %s on, and the head says %q", order[first], r.oldest)
	}
}

// placed is a row or an object with its content.
type placed struct{ name, text string }

// everything returns all rows and objects that there are.
func (h *history) everything() []placed { return h.everythingIn(h.store) }

// everythingIn returns all rows of a table, and all objects.
func (h *history) everythingIn(in table.Walker) (all []placed) {
	err := in.Walk(noContext, 0, 1, func(row item.Item) error {
		all = append(all, placed{row.Key().String(), string(change.AppendItem(nil, row))})
		return nil
	})
	for _, objects := range []*blobmemory.Store{h.copies, h.parking, h.finder.objects} {
		for after, more := "", true; more; {
			names, errList := objects.List(noContext, "", blobPage, after)
			err = errors.Join(err, errList)
			for _, name := range names {
				body, errGet := objects.Get(noContext, name)
				err, after = errors.Join(err, errGet), name
				all = append(all, placed{name, readable(body)})
			}
			more = len(names) == blobPage
		}
	}
	if err != nil {
		h.violate("I10", "", "", "%v", err)
	}
	return all
}

// readable returns an object's content as text, with a space in the place of what is no UTF-8.
func readable(body []byte) string { return strings.ToValidUTF8(string(body), " ") }

// placeOf returns the first row or object that contains a word; "" for none.
func placeOf(all []placed, word string) string {
	for _, one := range all {
		if strings.Contains(one.text, word) {
			return one.name
		}
	}
	return ""
}
