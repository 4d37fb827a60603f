package simulate

import (
	"encoding/json"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/register"
)

// userOf returns the user of a key's partition; "" without one.
func userOf(key item.Key) string {
	user, err := entity.ParseUserPK(key.PK)
	if err != nil {
		row, _ := repository.ParseRow(key)
		return row.Repository.User
	}
	return user
}

// userOfPayload returns the user of a scheduler's call.
func userOfPayload(payload []byte) string {
	var call struct {
		UserID string `json:"userId"`
	}
	_ = json.Unmarshal(payload, &call) // an unreadable payload belongs to no user: its worker then has no rows to touch
	return call.UserID
}

// oracle holds the present and former content of the table, read from the log of all writes, record by record. It does
// not call the code under test.
type oracle struct {
	users   map[string]*userState
	done    map[string]map[string]bool // by consumer: sequence numbers
	givenUp []givenUp
	// forgotten are records that consumers never see, by consumer and sequence number.
	forgotten  map[string]bool
	happenings map[happening]*announcement
	toTell     []*announcement          // in the order of what happened
	deliveries map[string]*announcement // by delivery id
	amounts    map[string]amounts       // of contributions that were read before
}

// userState holds one user's data according to the log.
type userState struct {
	user       string
	meta       item.Item
	own        item.Item            // the row of the product's own sum
	items      map[string]item.Item // by id, entities of all kinds
	ids        map[string][]string  // by type, all that there ever were, in the order of their making
	ledgers    map[string]map[string]item.Item
	links      map[string]item.Item // by sort key
	strewn     map[string]bool      // rows of links in the index as the release before has it, by sort key
	orphans    map[item.Key]bool    // KEPT rows of items that the release before deleted
	deliveries map[string]item.Item // by sort key
	colds      map[string]item.Item // by id
	timers     map[string]item.Item // by sort key
	walks      map[string]item.Item // cursors of walks, by sort key
	gone       map[string]bool

	unsure     bool // a lost record may have been the only one with some fact
	moved      bool // something of a projection was written since the sums were checked
	expired    map[string]item.Item
	raised     map[string]string  // sequence number of each delivery's put, by sort key
	deliveryOf map[string]string  // by delivery id
	told       map[string]int     // events published, by sort key of the delivery
	ordered    map[string]*record // the last command about each item
	titles     map[string]string  // id by title, of what was created
	sent       map[string]ring    // the last delivery that was closed, by reminder
	rang       map[string]ring    // what rang last of each reminder

	repositories map[repository.Address]*knownRepository
	touched      map[repository.Address]bool // of which rows were written since they were checked
	nodes        []*knownNode                // of the tree, the driver first
	driver       string

	heads map[entity.Ref]head // of repositories
	days  map[string]bool     // that have a plan, according to their rows

	counts item.Item // the row of the counts

	edits    map[item.Key]int64 // the version that the last write of a user made, of each entity
	eventAt  string             // the latest creation of an event
	taskDone string             // the latest completion of a task

	completions map[string]completion // by the task, also of those that expired
	zones       []zoneSpan
}

func newKnown(users []string) *oracle {
	k := &oracle{
		users: map[string]*userState{}, forgotten: map[string]bool{}, happenings: map[happening]*announcement{},
		deliveries: map[string]*announcement{}, done: map[string]map[string]bool{}, amounts: map[string]amounts{},
	}
	for _, user := range users {
		k.users[user] = &userState{
			user: user, items: map[string]item.Item{}, ids: map[string][]string{}, ledgers: map[string]map[string]item.Item{},
			links: map[string]item.Item{}, strewn: map[string]bool{}, orphans: map[item.Key]bool{},
			deliveries: map[string]item.Item{}, colds: map[string]item.Item{}, timers: map[string]item.Item{},
			walks: map[string]item.Item{}, gone: map[string]bool{}, expired: map[string]item.Item{},
			raised:     map[string]string{},
			deliveryOf: map[string]string{}, told: map[string]int{}, ordered: map[string]*record{}, titles: map[string]string{},
			sent: map[string]ring{}, rang: map[string]ring{}, edits: map[item.Key]int64{}, heads: map[entity.Ref]head{},
			days: map[string]bool{}, repositories: map[repository.Address]*knownRepository{},
			touched: map[repository.Address]bool{}, completions: map[string]completion{},
		}
	}
	return k
}

func (k *oracle) applied(consumer, sequence string) {
	if k.done[consumer] == nil {
		k.done[consumer] = map[string]bool{}
	}
	k.done[consumer][sequence] = true
}

// absorb reads a worker's writes, nil for the TTL service.
func (h *history) absorb(w *worker) {
	by := outside
	if w != nil {
		by = w.kind
	}
	h.writer = w
	records := h.stream.read(by)
	h.watch.writes(records, w)
	for _, r := range records {
		h.take1(r)
		h.noteUsage(r)
		if r.Expired && !r.arrives.Expired {
			h.happened["removal by a replica"]++
		}
	}
	h.endPeriods()
	h.checkTouched()
}

func (h *history) take1(r *record) {
	if !h.places.Row(r.Key.PK, r.Key.SK) {
		h.violate("I9", r.user, r.Key.String(), "is a row that the register does not know")
	}
	if line, _ := register.FindRow(r.Key.PK, r.Key.SK); line.Owner == register.NoUser {
		return
	}
	if isOfAccounts(r.Key) {
		h.takeState(r)
		return
	}
	if h.leaver != nil && h.takeOfAccount(r) {
		return
	}
	s := h.oracle.users[r.user]
	if s != nil && h.isLogRow(s, r) {
		return
	}
	sk, err := entity.ParseSortKey(r.Key.SK)
	if s == nil || err != nil {
		h.violate("I9", r.user, r.Key.SK, "a row of no user was written")
		return
	}
	if h.tracing && !sk.IsRow() {
		h.note("  %s %s %s version %s status %s ttl %s", r.Name, s.user, r.Key.SK, number(r.New, entity.AttrVersion),
			r.New.Str(entity.AttrStatus), number(r.New, entity.AttrTTL))
	} else if h.tracing {
		h.note("  %s %s %s", r.Name, s.user, r.Key.SK)
	}
	h.checkLater(s, r)
	switch sk.Prefix {
	case entity.RowLedger:
		h.checkLedger(s, r)
		if s.ledgers[sk.Components[0]] == nil {
			s.ledgers[sk.Components[0]] = map[string]item.Item{}
		}
		keep(s.ledgers[sk.Components[0]], sk.Components[1], r.New)
		s.moved = true
	case entity.RowLink:
		h.checkIndex(s, r, sk)
		keep(s.links, r.Key.SK, r.New)
		s.moved = true
	case entity.RowFired:
		if r.Name == change.Insert {
			h.happened["reminder due"]++
			h.checkDelivery(s, r.New)
			s.raised[r.Key.SK] = r.Sequence
		}
		if r.Name == change.Modify && r.New.Str(deliveryState) != deliverySent && !h.relabelling {
			h.violate("I5", s.user, r.Key.SK, "was put over another")
		}
		if !h.relabelling {
			s.noteSent(r)
		}
		keep(s.deliveries, r.Key.SK, r.New)
	case entity.RowCold:
		keep(s.colds, sk.Components[0], r.New)
	case entity.RowTimer:
		keep(s.timers, r.Key.SK, r.New)
	case entity.RowZone, entity.RowSeries:
		keep(s.walks, r.Key.SK, r.New)
		for _, w := range h.workers {
			isMixed := w.isFormer || h.byFormer()
			w.overtaken = w.overtaken || isMixed && w != h.writer && w.users[s.user]
		}
	case entity.RowReceipt:
		h.takeReceipt(s, r, sk.Components[0])
	case entity.RowGone:
		s.gone[sk.Components[0]] = r.New != nil
	case entity.RowSum:
		if sk.Components[0] == ownName { // other sums are compared by the verification at the end
			s.own, s.moved = r.New, true
		}
	case entity.TypeUserMeta:
		h.checkLease(s, r)
		s.meta, s.moved = r.New, true
		h.noteZone(s)
		h.require(s, r)
	}
	if sk.IsRow() || sk.Prefix == entity.TypeUserMeta {
		return
	}
	h.takeEntity(s, r, sk.Ref())
}

func number(it item.Item, name string) item.Number {
	n, _ := it[name].(item.Number)
	return n
}

func keep(rows map[string]item.Item, name string, row item.Item) {
	if row == nil {
		delete(rows, name)
	} else {
		rows[name] = row
	}
}

// takeEntity checks the write of an entity against its former state.
func (h *history) takeEntity(s *userState, r *record, ref entity.Ref) {
	if r.Name == change.Insert {
		if _, again := s.expired[ref.ID]; !again {
			s.ids[ref.Type] = append(s.ids[ref.Type], ref.ID)
		}
	}
	if r.New == nil && h.byFormer() {
		s.orphans[entity.KeptKey(r.Key)] = true
	}
	h.noteHappening(s, r, ref)
	h.require(s, r)
	h.checkVersion(s, r, ref)
	h.checkOrdered(s, r, ref)
	if r.by == commanding {
		h.checkTwice(s, r, ref)
		h.checkOrder(s, h.writer.order, r, ref)
		h.checkEdit(s, r, ref)
		h.checkSnooze(s, r, ref)
		if r.New.Has(entity.AttrTTL) {
			h.violate("I6", s.user, ref.ID, "has a ttl after a command changed it")
		}
		s.ordered[ref.ID] = r
	}
	h.noteEdit(s, r, ref)
	if ref.Type == product.TypeReminder {
		h.noteRing(s, r, ref)
	}
	if ref.Type == product.TypeTask {
		h.checkArchived(s, r, ref)
		h.noteCompletion(s, r, ref)
		s.taskDone = max(s.taskDone, r.New.Str(product.AttrCompletedAt))
	}
	if (ref.Type == product.TypeEvent || ref.Type == entity.TypeMaster) && r.New != nil {
		s.eventAt = max(s.eventAt, r.New.Str(entity.AttrCreatedAt))
	}
	switch {
	case r.Expired:
		h.happened["item expired"]++
		h.checkExpired(s, r, ref)
		s.expired[ref.ID] = r.Old
	case r.Name == change.Insert && r.New.Has(entity.AttrRestoredAt):
		h.happened["item restored"]++
		h.checkRestored(s, r, ref)
		delete(s.expired, ref.ID)
	case r.Name == change.Insert && s.gone[ref.ID]:
		h.violate("I6", s.user, ref.ID, "an id that was deleted lives again")
	}
	keep(s.items, ref.ID, r.New)
}

// checkVersion checks that every change of an entity adds one to its version, and that bookkeeping of ttl adds
// nothing.
func (h *history) checkVersion(s *userState, r *record, ref entity.Ref) {
	if r.Old == nil || r.New == nil {
		return
	}
	before, after := r.Old.Int(entity.AttrVersion), r.New.Int(entity.AttrVersion)
	undone := ref.Type == entity.TypeInstance && !r.Old.Has(product.AttrModifiedFields)
	if after == before+1 || undone && after > before { // an undone one had the series' version, too
		return
	}
	a, b := r.Old.Clone(), r.New.Clone()
	for _, name := range []string{entity.AttrTTL, product.AttrExceptionsVersion, product.AttrHasExceptions} {
		delete(a, name)
		delete(b, name)
	}
	if after != before || !a.Equal(b) {
		h.violate("I2", s.user, ref.ID, "version goes from %d to %d", before, after)
	}
}

// noteEdit records the version that a user's last write made, and checks the row's own record against it (I11). An
// undone exception is invisible.
func (h *history) noteEdit(s *userState, r *record, ref entity.Ref) {
	if r.New == nil {
		return
	}
	isEdit := r.by == commanding || h.keepsNoEdit(r)
	if isEdit && r.Old.Int(entity.AttrVersion) != r.New.Int(entity.AttrVersion) {
		s.edits[r.Key] = r.New.Int(entity.AttrVersion)
	}
	if is := entity.EditVersion(r.New); is != s.edits[r.Key] && ref.Type != entity.TypeInstance {
		h.violate("I11", s.user, ref.ID, "says that its user edited version %d last, and that was %d", is, s.edits[r.Key])
	}
}

// checkTwice checks that a request repeated under its key creates nothing a second time. Titles identify requests
// here.
func (h *history) checkTwice(s *userState, r *record, ref entity.Ref) {
	if r.Name != change.Insert || ref.Type == entity.TypeMaster || ref.Type == entity.TypeInstance {
		return
	}
	title := r.New.Str(entity.AttrTitle)
	if title == "" {
		return // it is a webhook
	}
	if other, known := s.titles[title]; known && other != ref.ID {
		h.violate("I9", s.user, ref.ID, "%q was created twice, first as %s", title, other)
	}
	s.titles[title] = ref.ID
}

// checkArchived checks that only the user archives a task that is not completed, or before its time (I7).
func (h *history) checkArchived(s *userState, r *record, ref entity.Ref) {
	if r.by == commanding || r.New.Str(entity.AttrStatus) != product.StatusArchived ||
		r.Old.Str(entity.AttrStatus) == product.StatusArchived {
		return
	}
	h.happened["task archived"]++
	at, ok := r.Old.Time(product.AttrArchiveAt)
	if !ok || r.Old.Str(entity.AttrStatus) != product.StatusCompleted || at.After(h.now) {
		h.violate("I7", s.user, ref.ID, "archived at %s, when it was %s and to be archived at %s",
			item.FormatInstant(h.now), r.Old.Str(entity.AttrStatus), r.Old.Str(product.AttrArchiveAt))
	}
}

// checkOrdered checks that dueSetAt is the time of the last command that changed a due instant (I5).
func (h *history) checkOrdered(s *userState, r *record, ref entity.Ref) {
	if r.New == nil || ref.Type == entity.TypeMaster || ref.Type == entity.TypeInstance || ref.Type == product.TypeNote {
		return
	}
	before, after := plainDues(ref.Type, r.Old), plainDues(ref.Type, r.New)
	if before == after && r.Old != nil {
		return
	}
	set, ok := r.New.Time(product.AttrDueSetAt)
	if r.by == commanding && after != "" && (!ok || !set.Equal(h.instantOf(r.New))) {
		h.violate("I5", s.user, ref.ID, "dueSetAt is %s after a command changed what is due from %q to %q",
			r.New.Str(product.AttrDueSetAt), before, after)
	}
}

// instantOf returns when a row was written, according to the row.
func (h *history) instantOf(it item.Item) time.Time {
	at, _ := it.Time(entity.AttrUpdatedAt)
	return at
}
