package simulate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// attrObject names the copy in a COLD row (docs/data-model.md).
const attrObject = "object"

// checkExpired checks that an item which leaves through TTL leaves an equal cold copy (I6).
func (h *history) checkExpired(s *userState, r *record, ref entity.Ref) {
	if problem := h.copyProblem(s, ref.ID, r.Old); problem != "" {
		h.violate("I6", s.user, ref.ID, "expired at version %d: %s", r.Old.Int(entity.AttrVersion), problem)
	}
	if at := r.Old.Int(entity.AttrTTL); at > h.now.Unix() {
		h.violate("I6", s.user, ref.ID, "expired before its time")
	}
}

func (h *history) copyProblem(s *userState, id string, expired item.Item) string {
	cold := s.colds[id]
	if cold == nil {
		return "no row names a copy"
	}
	body, err := h.copies.Get(noContext, cold.Str(attrObject))
	if err != nil {
		return err.Error()
	}
	var copied struct{ Item json.RawMessage }
	if err := json.Unmarshal(body, &copied); err != nil {
		return err.Error()
	}
	without := expired.Clone()
	delete(without, entity.AttrTTL)
	if !bytes.Equal(copied.Item, change.AppendItem(nil, without)) {
		return "the copy " + cold.Str(attrObject) + " is another item"
	}
	return ""
}

// checkLeft checks that a finished delivery leaves no unnamed copy of a version that its item is past. If the record
// of the item's next version was applied already, no later worker would remove the copy (I6). Only the copy's own
// record would, if this delivery parked it.
func (h *history) checkLeft(w *worker) {
	for _, name := range w.copied {
		user, rest, _ := strings.Cut(strings.TrimPrefix(name, "archive/"), "/")
		id, file, _ := strings.Cut(rest, "/")
		s := h.oracle.users[user]
		if _, err := h.copies.Get(noContext, name); s == nil || err != nil || h.copiedBy[name] != w ||
			s.colds[id].Str(attrObject) == name {
			continue
		}
		for _, rec := range h.stream.log {
			isNext := rec.Old != nil && strings.HasSuffix(rec.Key.SK, id) &&
				fmt.Sprintf("%d.json", rec.Old.Int(entity.AttrVersion)) == file
			if isNext && rec.user == user && rec.New.Int(entity.AttrVersion) != rec.Old.Int(entity.AttrVersion) &&
				h.oracle.done["archive"][rec.Sequence] && !h.parkedCopier(w, name) {
				h.violate("I6", user, name, "is left by %s, and no row names it", w.name)
			}
		}
	}
}

// parkedCopier reports whether a delivery parked the record that makes a copy. Delivered again, that record removes the
// copy. The record that only sets the ttl of the same version does not.
func (h *history) parkedCopier(w *worker, name string) bool {
	parked := consume.ParkedPrefix + strings.TrimSuffix(name, ".json") + "-" // a copy begins with the consumer's name
	return slices.ContainsFunc(h.stream.log, func(rec *record) bool {
		return !rec.New.Has(entity.AttrTTL) && slices.Contains(w.copied, parked+rec.Sequence+".json")
	})
}

// bookkept are the attributes in which a restored item differs from the one that left.
var bookkept = []string{
	entity.AttrVersion, entity.AttrEditVersion, entity.AttrSystemVersion, entity.AttrUpdatedAt, entity.AttrRestoredAt,
	entity.AttrTTL,
}

// checkRestored checks that a restored item equals the one that left, two versions later (I6).
func (h *history) checkRestored(s *userState, r *record, ref entity.Ref) {
	left, ok := s.expired[ref.ID]
	if !ok {
		h.violate("I6", s.user, ref.ID, "was restored, and never left")
		return
	}
	before, after := left.Clone(), r.New.Clone()
	for _, name := range bookkept {
		delete(before, name)
		delete(after, name)
	}
	h.forgetOver(before)
	forgetDay(before)
	if h.byFormer() {
		forgetDay(after)
	}
	if !before.Equal(after) || r.New.Int(entity.AttrVersion) != left.Int(entity.AttrVersion)+2 ||
		r.New.Has(entity.AttrTTL) || s.gone[ref.ID] {
		h.violate("I6", s.user, ref.ID, "came back as another item than left")
	}
}

// checkCopies checks, when all is quiet, that every item that left has its copy, that each copy is named, and that
// each row names one (I6).
func (h *history) checkCopies() {
	named := map[string]bool{}
	for _, user := range h.users {
		s := h.oracle.users[user]
		for _, id := range slices.Sorted(maps.Keys(s.expired)) {
			if problem := h.copyProblem(s, id, s.expired[id]); problem != "" && s.items[id] == nil {
				h.violate("I6", user, id, "has left: %s", problem)
			}
		}
		for _, id := range slices.Sorted(maps.Keys(s.colds)) {
			object := s.colds[id].Str(attrObject)
			named[object] = true
			if _, err := h.copies.Get(noContext, object); err != nil {
				h.violate("I6", user, id, "its row names a copy that is not there: %v", err)
			}
			if it := s.items[id]; it != nil &&
				(!it.Has(entity.AttrTTL) || it.Int(entity.AttrVersion) != s.colds[id].Int(entity.AttrVersion)) {
				h.violate("I6", user, id, "lives at version %d with ttl %t, beside a copy of version %d",
					it.Int(entity.AttrVersion), it.Has(entity.AttrTTL), s.colds[id].Int(entity.AttrVersion))
			}
		}
		h.checkRetention(s)
	}
	objects, err := h.copies.List(noContext, "archive/", 1000, "")
	if err != nil {
		h.violate("I6", "", "copies", "%v", err)
	}
	for _, name := range objects {
		if !named[name] {
			h.violate("I6", strings.SplitN(name, "/", 3)[1], name, "is a copy that no row names")
		}
	}
}

// checkRetention checks that exactly the items that must leave have a ttl (I6), and that a task whose time has come is
// archived (I7).
func (h *history) checkRetention(s *userState) {
	for _, id := range slices.Sorted(maps.Keys(s.items)) {
		it := s.items[id]
		typ := h.registry.ByName(it.Str(entity.AttrType))
		keep, final := typ.Retention[it.Str(entity.AttrStatus)]
		leaves := final && !it.Has(entity.AttrRestoredAt)
		want := int64(0)
		if leaves {
			want = h.instantOf(it).Add(keep).Unix()
		}
		if it.Int(entity.AttrTTL) != want {
			h.violate("I6", s.user, id, "%s has ttl %d, want %d", it.Str(entity.AttrStatus), it.Int(entity.AttrTTL), want)
		}
		at, ok := it.Time(product.AttrArchiveAt)
		if ok && it.Str(entity.AttrStatus) == product.StatusCompleted && !s.hasTimer(id) {
			h.violate("I7", s.user, id, "is to be archived at %s, and neither is nor has a timer", item.FormatInstant(at))
		}
	}
}

func (s *userState) hasTimer(id string) bool {
	for sk, row := range s.timers {
		timer, err := entity.ParseTimer(sk)
		if err == nil && timer.TaskID == id && row.Str(product.AttrArchiveAt) == s.items[id].Str(product.AttrArchiveAt) &&
			row.Str(product.AttrCompletedAt) == s.items[id].Str(product.AttrCompletedAt) {
			return true
		}
	}
	return false
}
