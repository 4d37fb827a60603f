package simulate

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"nexus/pkg/blob"
	blobmemory "nexus/pkg/blob/memory"
	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
	"nexus/pkg/register"
	"nexus/pkg/system"
	"nexus/pkg/table"
	"nexus/pkg/text/words"
)

// finder has the process that searches in a history, with indexes in its memory, and the snapshots. It draws numbers of
// its own, so that nothing else in a history depends on it.
type finder struct {
	luck    *rand.Rand
	objects *blobmemory.Store
	queries *query.Service    // of the present process
	form    uint16            // of its deployment
	harmed  map[string]string // what damage left of snapshots, by name
}

func newFinder(seed uint64) *finder {
	return &finder{luck: rand.New(rand.NewPCG(seed, 77)), objects: blobmemory.New(nil), harmed: map[string]string{}}
}

// indexPort is the store of snapshots. No fault strikes here: snapshots are lost and damaged instead.
type indexPort struct {
	*blobmemory.Store
	h *history
}

// Put implements [blob.Store].
func (p indexPort) Put(ctx context.Context, name string, body []byte) error {
	owner, _ := register.OwnerOf(name)
	if !p.h.places.Object(name) || owner == "" {
		p.h.violate("I9", "", name, "is an object that the register does not know")
	}
	if p.h.isGone(owner) {
		p.h.violate("E1", owner, name, "is kept, and the account is %s", p.h.leaver.state)
	}
	return p.Store.Put(ctx, name, body)
}

// Purge implements [blob.Purger]. What it removes is one user's alone (E3).
func (p indexPort) Purge(ctx context.Context, name string) (int, error) {
	before := p.h.objectsIn(p.Store, name)
	n, err := p.Store.Purge(ctx, name)
	p.h.checkPurged(p.Store, before)
	return n, err
}

// searches returns the service that searches; a new process after a restart, or a deployment of another form.
func (h *history) searches() *query.Service {
	f := h.finder
	if f.queries == nil || f.form != h.fleet.form {
		f.form = h.fleet.form
		f.queries = h.assemble(h.fenced(system.Ports{
			Store: func(string) table.Store { return h.store }, Now: func() time.Time { return h.now }, SyncForm: f.form,
			Split: words.Split, Snapshots: indexPort{f.objects, h},
			SearchFailed: func(error) { h.happened["snapshot refused"]++ },
		})).Queries
	}
	return f.queries
}

// searchSome searches at any moment, after a snapshot was lost or damaged or the process has ended.
func (h *history) searchSome() {
	f := h.finder
	if f.luck.IntN(3) > 0 || h.violation != nil {
		return
	}
	h.absorb(nil)
	switch f.luck.IntN(8) {
	case 0:
		f.queries = nil
	case 1, 2:
		f.queries = nil
		h.harmSnapshot()
	}
	if s := h.oracle.users[h.users[f.luck.IntN(len(h.users))]]; s != nil {
		h.checkSearch(s, false)
	}
}

// harmSnapshot loses a snapshot, or changes a byte of it.
func (h *history) harmSnapshot() {
	f := h.finder
	names, err := f.objects.List(noContext, "", blob.MaxList, "")
	if err != nil || len(names) == 0 {
		return
	}
	name := names[f.luck.IntN(len(names))]
	body, err := f.objects.Get(noContext, name)
	if err == nil && f.luck.IntN(2) == 0 {
		body[f.luck.IntN(len(body))] ^= 1 << f.luck.IntN(8)
		h.happened["snapshot damaged"]++
		f.harmed[name] = readable(body)
		err = f.objects.Put(noContext, name, body)
	} else if err == nil {
		h.happened["snapshot lost"]++
		err = f.objects.Delete(noContext, name)
	}
	if err != nil {
		h.violate("port", "", name, "%v", err)
	}
}

// isDamage reports whether an object is a snapshot as damage left it: a flipped bit may make the id of another user.
func (h *history) isDamage(one placed) bool {
	damaged, isHarmed := h.finder.harmed[one.name]
	return isHarmed && one.text == damaged
}

// checkSearch compares what is found with what a matcher of the judge's own finds among the items of the table. At any
// moment things that the log does not yet tell of are left out; once all is settled there are none.
func (h *history) checkSearch(s *userState, isSettled bool) {
	if h.isAway(s.user) || h.damaged[s.user] || h.toRepair[s.user] || h.hasLater(s.user) {
		return
	}
	q, matches, isUnsure := h.someQuestion(s)
	found, err := h.findAll(s.user, q)
	if err != nil {
		h.violate("S1", s.user, "search", "%+v is answered %v", q, err)
		return
	}
	want := map[string]int64{}
	for id, it := range s.items {
		t := h.registry.ByID(id)
		if t == nil || !t.HasCollection() || t.Name == outbox.TypeWebhook { // which no search is for
			continue
		}
		shown, ok := h.searched(s, t, it)
		switch {
		case ok && isUnsure(shown):
			delete(found, id)
		case ok && matches(t, shown):
			want[id] = it.Int(entity.AttrVersion)
		}
	}
	h.happened["search"]++
	if len(want) > 0 {
		h.happened["search that finds something"]++
	}
	for _, id := range slices.Sorted(maps.Keys(want)) {
		if version, ok := found[id]; (!ok || version != want[id]) && !h.isUntold(s, id) {
			h.violate("S1", s.user, id, "is at version %d, matches %+v, and is found at version %d (settled: %t)", want[id], q,
				version, isSettled)
			return
		}
	}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		if _, ok := want[id]; !ok && !h.isUntold(s, id) {
			h.violate("S1", s.user, id, "is found at version %d, and does not match %+v (settled: %t)", found[id], q, isSettled)
			return
		}
	}
	if isSettled {
		h.checkToday(s)
	}
}

// hasLater reports whether a later release has written something of the user, which this one cannot read.
func (h *history) hasLater(user string) bool {
	for key := range h.later {
		if userOf(key) == user {
			return true
		}
	}
	return false
}

// isUntold reports whether the log says too little of the thing, or of the series that it belongs to.
func (h *history) isUntold(s *userState, id string) bool {
	l := h.fleet.logs[s.user]
	t := h.registry.ByID(id)
	refs := []entity.Ref{{Type: t.Name, ID: id}}
	masterID := id
	if t.Name == entity.TypeInstance {
		masterID, _, _ = entity.ParseInstanceID(id)
		refs = append(refs, entity.Ref{Type: entity.TypeMaster, ID: masterID})
	}
	for ref := range l.required {
		if strings.HasPrefix(ref.ID, entity.InstanceIDPrefix+"_") && t.Name == entity.TypeMaster {
			if of, _, err := entity.ParseInstanceID(ref.ID); err == nil && of == masterID {
				refs = append(refs, ref)
			}
		}
	}
	return slices.ContainsFunc(refs, func(ref entity.Ref) bool { return l.announced[ref].less(l.required[ref]) })
}

// findAll returns all that a question finds, by id.
func (h *history) findAll(user string, q query.SearchQuery) (map[string]int64, error) {
	out := map[string]int64{}
	for {
		page, err := h.searches().Search(noContext, user, q)
		if err != nil {
			return nil, err
		}
		for _, hit := range page.Hits {
			if _, twice := out[hit.ID]; twice {
				return nil, fmt.Errorf("%s is found twice", hit.ID)
			}
			out[hit.ID] = hit.Version
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			if page.Total != len(out) {
				return nil, fmt.Errorf("%d are found, and %d were promised", len(out), page.Total)
			}
			return out, nil
		}
	}
}

// searched returns an item as a search sees it; false for one that is no hit. An exception is one if it has words of
// its own, and its series has its date: it takes the others from its series.
func (h *history) searched(s *userState, t *entity.Type, it item.Item) (item.Item, bool) {
	if ttl := it.Int(entity.AttrTTL); it.Has(entity.AttrTTL) && h.now.Unix() >= ttl {
		return nil, false
	}
	switch t.Name {
	case product.TypeTask:
		at, ok := it.Time(product.AttrArchiveAt)
		if ok && it.Str(entity.AttrStatus) == product.StatusCompleted && !h.now.Before(at) {
			it = it.Clone()
			it[entity.AttrStatus] = item.String(product.StatusArchived)
		}
	case entity.TypeInstance:
		masterID, date, err := entity.ParseInstanceID(it.Str(product.AttrEventID))
		master := s.items[masterID]
		if err != nil || master == nil || master.Has(entity.AttrTTL) && h.now.Unix() >= master.Int(entity.AttrTTL) {
			return nil, false
		}
		own := map[string]bool{}
		list, _ := it[product.AttrModifiedFields].(item.List)
		for _, name := range list {
			text, _ := name.(item.String)
			own[string(text)] = true
		}
		if !own["title"] && !own["description"] && !own["location"] && !own["tags"] {
			return nil, false
		}
		rule, err := product.CompileMaster(master)
		if err != nil {
			return nil, false
		}
		day, err := item.ParseCompactDate(date)
		if _, ok := rule.On(day); err != nil || !ok {
			return nil, false
		}
		whole := item.Item{}
		for _, name := range []string{"title", "description", "location", "tags", "status"} {
			from := master
			if own[name] {
				from = it
			}
			whole.Set(name, from[name])
		}
		return whole, true
	}
	return it, true
}

// someQuestion makes up a question, with what it matches by the design. The judge divides texts at spaces alone, and is
// unsure of one that has the word in another place.
func (h *history) someQuestion(s *userState) (
	q query.SearchQuery, matches func(*entity.Type, item.Item) bool, isUnsure func(item.Item) bool,
) {
	f := h.finder
	q = query.SearchQuery{Limit: 1 + f.luck.IntN(100), Sort: "updated"}
	isUnsure = func(item.Item) bool { return false }
	var tests []func(*entity.Type, item.Item) bool
	if ids := slices.Sorted(maps.Keys(s.items)); len(ids) > 0 && f.luck.IntN(4) > 0 {
		of := s.items[ids[f.luck.IntN(len(ids))]]
		if said := wordsSaid(saidBy(of)); len(said) > 0 {
			word := said[f.luck.IntN(len(said))]
			q.Text = `"` + word + `"`
			isNot := f.luck.IntN(5) == 0
			if isNot {
				q.Text = "-" + word
			}
			isUnsure = func(it item.Item) bool {
				text := strings.ToLower(saidBy(it))
				return strings.Contains(text, word) && !slices.Contains(wordsSaid(text), word)
			}
			tests = append(tests, func(_ *entity.Type, it item.Item) bool {
				return slices.Contains(wordsSaid(saidBy(it)), word) != isNot
			})
		}
	}
	if f.luck.IntN(4) == 0 {
		name := []string{product.TypeEvent, product.TypeTask, product.TypeReminder, product.TypeNote}[f.luck.IntN(4)]
		q.Types = []string{name}
		tests = append(tests, func(t *entity.Type, _ item.Item) bool {
			isEvent := t.Name == entity.TypeMaster || t.Name == entity.TypeInstance
			return t.Name == name || isEvent && name == product.TypeEvent
		})
	}
	if f.luck.IntN(3) == 0 {
		mark := []string{"open", "done", "archived", "pinned", "recurring", "undated", "overdue"}[f.luck.IntN(7)]
		q.Is = []string{mark}
		tests = append(tests, func(t *entity.Type, it item.Item) bool { return h.isMarked(s, mark, t, it) })
	}
	return q, func(t *entity.Type, it item.Item) bool {
		for _, test := range tests {
			if !test(t, it) {
				return false
			}
		}
		return true
	}, isUnsure
}

// saidBy returns all texts of an item, one a line.
func saidBy(it item.Item) string {
	var out []string
	for _, name := range []string{"title", "description", "location", "body", "notes"} {
		out = append(out, it.Str(name))
	}
	return strings.Join(out, "\n")
}

// wordsSaid returns what stands between spaces in a text, in small letters, if it has letters, digits and points alone.
func wordsSaid(text string) []string {
	return slices.DeleteFunc(strings.Fields(strings.ToLower(text)), func(word string) bool {
		return strings.ContainsFunc(word, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '.'
		})
	})
}

// isMarked says what an item is, by docs/search.md.
func (h *history) isMarked(s *userState, mark string, t *entity.Type, it item.Item) bool {
	status := it.Str(entity.AttrStatus)
	isTask, isReminder := t.Name == product.TypeTask, t.Name == product.TypeReminder
	switch mark {
	case "open":
		return isTask && (status == "BACKLOG" || status == "IN_PROGRESS") ||
			isReminder && (status == "PENDING" || status == "SNOOZED")
	case "done":
		return (isTask || isReminder) && (status == "COMPLETED" || status == "DISMISSED")
	case "archived":
		return status == "ARCHIVED"
	case "pinned":
		return it.Bool("isPinned")
	case "recurring":
		return t.Name == entity.TypeMaster || t.Name == entity.TypeInstance || isReminder && it.Has("rrule")
	case "undated":
		return isTask && !it.Has("startUtc") && !it.Has("dueUtc") && !it.Has("dueDate")
	}
	if !isTask || status != "BACKLOG" && status != "IN_PROGRESS" {
		return false
	}
	if it.Has("dueDate") { // to the end of the day, on the user's clock
		day, err := time.Parse(time.DateOnly, it.Str("dueDate"))
		return err == nil && !day.AddDate(0, 0, 1).After(item.LatestWall(h.now.Truncate(time.Second), s.zone()))
	}
	due, ok := it.Time("dueUtc")
	if !it.Has("dueTzid") {
		return ok && !due.After(item.LatestWall(h.now.Truncate(time.Second), s.zone()))
	}
	return ok && !due.After(h.now)
}

// checkToday compares what is today with what the agenda shows, which reads the table by its keys.
func (h *history) checkToday(s *userState) {
	found, err := h.findAll(s.user, query.SearchQuery{Is: []string{"today"}, Limit: 100})
	if err != nil {
		h.violate("S1", s.user, "today", "is answered %v", err)
		return
	}
	wall := item.Wall(h.now, s.zone()).Truncate(24 * time.Hour)
	q := query.AgendaQuery{
		From: item.Resolve(wall, s.zone()), To: item.Resolve(wall.AddDate(0, 0, 1), s.zone()), Limit: 100,
	}
	want := map[string]bool{}
	for {
		page, err := h.direct.Queries.Agenda(noContext, s.user, q)
		if err != nil {
			h.violate("S1", s.user, "agenda", "is answered %v", err)
			return
		}
		for _, e := range page.Entries {
			it := e.Item()
			id := it.Str(e.Type.IDAttr)
			if e.Type.Name == entity.TypeInstance {
				masterID, _, _ := entity.ParseInstanceID(id)
				if row := s.items[id]; row == nil {
					id = masterID
				} else if _, isHit := h.searched(s, e.Type, row); !isHit {
					id = masterID
				}
			}
			want[id] = true
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	if len(want) > 0 {
		h.happened["search of today that finds something"]++
	}
	for id := range want {
		if _, ok := found[id]; !ok {
			h.violate("S1", s.user, id, "is in the agenda of today, and not found")
			return
		}
	}
	for id := range found {
		if !want[id] {
			h.violate("S1", s.user, id, "is found today, and not in the agenda")
			return
		}
	}
}
