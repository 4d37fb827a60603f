package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"nexus/pkg/archive"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/port"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
)

// The families of an item are, in this order: the ledger rows of each projection, the rows of each projection, and
// those below.
const (
	familyCold = iota
	familyGone
	familyTimer
	familyDelivery
)

func (r *run) ledgerFamily(p *projection.Projection, t *entity.Type) family {
	prefix := entity.LedgerPrefix(p.Name())
	return family{prefix: prefix + t.IDPrefix + "_", idFrom: len(prefix), single: true}
}

func (r *run) families(t *entity.Type) []family {
	var out []family
	for _, p := range r.Projections {
		out = append(out, r.ledgerFamily(p, t))
	}
	of := func(prefix string, single bool, keep func(item.Item) bool) family {
		return family{prefix + t.IDPrefix + "_", len(prefix), single, keep}
	}
	for _, p := range r.Projections {
		prefix := p.RowsPrefix(t.Name)
		out = append(out, family{prefix: prefix, idFrom: len(prefix)})
	}
	timers, deliveries := family{}, family{}
	if _, hasTimers := t.Field(product.AttrArchiveAt); hasTimers {
		timers = of(entity.TimerPrefix(), false, nil)
	}
	if r.Notifier != nil && reminders.Has(t) {
		deliveries = of(entity.ItemPrefix(entity.RowFired), false, r.Notifier.Overdue)
	}
	return append(out, of(entity.ColdPrefix(), true, nil), of(entity.GonePrefix(), true, nil), timers, deliveries)
}

func (r *run) other(g group, family int) []item.Item { return g.rows[2*len(r.Projections)+family] }

func first(rows []item.Item) item.Item {
	if len(rows) == 0 {
		return nil
	}
	return rows[0]
}

// items walks through all items of the user, and suspects those with differences.
func (r *run) items(ctx context.Context, user string) error {
	for _, t := range r.Registry.Types() {
		if !t.HasCollection() {
			continue
		}
		err := r.groups(ctx, user, t, r.families(t), func(g group) error {
			if g.item != nil && r.repairing == r.o.Repair {
				r.sum.Items++ // counted once, not again in the read after a repair
			}
			if err := r.expect(ctx, g); err != nil {
				return err
			}
			differences, schedules, err := r.check(ctx, &g)
			if err != nil {
				return err
			}
			r.counted.count(r, g, schedules)
			return r.suspect(ctx, g, differences)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	return nil
}

// readGroups reads everything of some items consistently. For each it reads its single rows, including ledger rows,
// before the others, which ledger rows guard. It reads the item last, so that no derived row is newer than the item.
func (r *run) readGroups(ctx context.Context, of []suspect) ([]group, error) {
	groups := make([]group, len(of))
	var keys []item.Key
	for n, s := range of {
		groups[n] = group{user: s.user, typ: s.typ, id: s.id, rows: make([][]item.Item, len(r.families(s.typ)))}
		for _, f := range r.families(s.typ) {
			if f.single {
				keys = append(keys, f.key(s.user, s.id))
			}
		}
	}
	single, err := r.rows(ctx, keys)
	if err != nil {
		return nil, err
	}
	keys = nil
	for _, g := range groups {
		keys = append(keys, entity.ItemKey(g.user, g.ref()))
		for i, f := range r.families(g.typ) {
			switch {
			case f.prefix == "":
			case !f.single:
				if g.rows[i], err = r.few(ctx, g.user, family{
					prefix: entity.Under(f.prefix[:f.idFrom], g.id), idFrom: f.idFrom, keep: f.keep,
				}); err != nil {
					return nil, err
				}
			case single[f.key(g.user, g.id)] != nil:
				g.rows[i] = []item.Item{single[f.key(g.user, g.id)]}
			}
		}
	}
	items, err := r.rows(ctx, keys)
	if err != nil {
		return nil, err
	}
	for i := range groups {
		groups[i].item = items[keys[i]]
	}
	return groups, nil
}

// rows returns the existing rows by their keys. A key may be named more than once.
func (r *run) rows(ctx context.Context, keys []item.Key) (map[item.Key]item.Item, error) {
	out := make(map[item.Key]item.Item, len(keys))
	if len(keys) == 0 {
		return out, nil
	}
	asked := map[item.Key]bool{}
	each := slices.DeleteFunc(slices.Clone(keys), func(key item.Key) bool {
		again := asked[key]
		asked[key] = true
		return again
	})
	rows, err := r.Store.BatchGet(ctx, each)
	if err != nil {
		return nil, fmt.Errorf("read %d rows from %s: %w", len(each), each[0], err)
	}
	r.read(len(rows))
	for _, row := range rows {
		out[row.Key()] = row
	}
	return out, nil
}

// few returns the rows of a family, up to the bound per item.
func (r *run) few(ctx context.Context, user string, f family) (rows []item.Item, err error) {
	c := r.cursor(user, f)
	for len(rows) < familyRows {
		row, _, err := c.peek(ctx)
		if err != nil || row == nil {
			return rows, err
		}
		rows, c.at = append(rows, row), c.at+1
	}
	return rows, nil
}

// find returns nil for a missing row.
func (r *run) find(ctx context.Context, key item.Key) (item.Item, error) {
	row, err := table.Find(ctx, r.Store, key)
	if row != nil {
		r.read(1)
	}
	return row, err
}

// evidence returns the data of an item that a projection needs.
func (r *run) evidence(g group, of int) projection.Evidence {
	return projection.Evidence{
		User: g.user, Type: g.typ, Ref: g.ref(), Item: g.item, Ledger: first(g.rows[of]), Rows: g.rows[len(r.Projections)+of],
		Gone: first(r.other(g, familyGone)), Cold: first(r.other(g, familyCold)), Copy: g.copied,
	}
}

// check returns the differences in a group, and how many schedules its item requires. It adds to the group what the
// cold copy holds.
func (r *run) check(ctx context.Context, g *group) (out []Difference, schedules int, err error) {
	add := func(kind Kind, key, is, want string) {
		out = append(out, Difference{Kind: kind, User: g.user, Key: key, Is: is, ShouldBe: want})
	}
	gone := first(r.other(*g, familyGone))
	faults, copied, err := r.Archive.Check(ctx, archive.Remains{
		User: g.user, Type: g.typ, ID: g.id, Item: g.item,
		Cold: first(r.other(*g, familyCold)), Gone: gone, Timers: r.other(*g, familyTimer),
	})
	if err != nil {
		return nil, 0, err
	}
	g.copied = copied
	for i, p := range r.Projections {
		ledger := entity.LedgerKey(g.user, p.Name(), g.id)
		for _, f := range p.Check(r.evidence(*g, i)) {
			kind := Edge
			if f.Key == ledger {
				kind = Ledger
			}
			add(kind, f.Key.String(), f.Is, f.Want)
		}
	}
	for _, f := range faults {
		add(Archive, f.Place, f.Is, f.Want)
	}
	if g.item != nil && gone != nil {
		add(Gone, gone.Key().String(), "there, and the item as well", "the deletion of the item")
	}
	for _, row := range r.other(*g, familyDelivery) {
		add(Delivery, row.Key().String(), "begun and not ended", "sent")
	}
	left, err := r.checkException(ctx, *g)
	if err != nil {
		return nil, 0, err
	}
	out = append(out, left...)
	scheduled, schedules, err := r.checkSchedules(ctx, *g)
	return append(out, scheduled...), schedules, err
}

// checkSchedules compares the schedules and deliveries with those that the item requires, and counts the schedules.
func (r *run) checkSchedules(ctx context.Context, g group) (out []Difference, schedules int, err error) {
	if r.Reminders == nil || g.item == nil || !reminders.Has(g.typ) || len(g.typ.Dues(g.item)) == 0 {
		return nil, 0, nil
	}
	wanted, late, err := r.Reminders.Wanted(ctx, g.user, g.typ, g.id)
	if err != nil {
		if port.IsOutage(err) {
			return nil, 0, err
		}
		return []Difference{{Kind: Schedule, User: g.user, Key: g.item.Key().String(), Is: err.Error(),
			ShouldBe: "an item whose reminders can be reckoned"}}, 0, nil
	}
	for _, subject := range late {
		comes, err := r.isComing(ctx, subject)
		if err != nil {
			return nil, 0, err
		}
		if !comes {
			out = append(out, Difference{
				Kind: Late, User: g.user, Key: subject.Name(), Is: "not delivered: " + showSubject(subject), ShouldBe: "delivered",
				offset: subject.OffsetMinutes,
			})
		}
	}
	for _, w := range wanted {
		d, err := r.checkSchedule(ctx, g, w)
		if err != nil {
			return nil, 0, err
		}
		if d != nil {
			out = append(out, *d)
		}
	}
	return out, len(wanted), nil
}

// isComing reports whether the scheduler still has the late reminder, and may be calling it at this moment.
func (r *run) isComing(ctx context.Context, late reminders.Subject) (bool, error) {
	if r.Now().Sub(late.Due) > callTime {
		return false, nil
	}
	s, err := r.Schedules.Find(ctx, late.Name())
	if errors.Is(err, schedule.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	subject, ok := r.subjectOf(s)
	return ok && subject.Due.Equal(late.Due), nil
}

func (r *run) checkSchedule(ctx context.Context, g group, wanted schedule.Schedule) (*Difference, error) {
	subject, err := reminders.ReadPayload(r.Registry, wanted.Payload)
	if err != nil {
		return nil, err
	}
	d := Difference{
		Kind: Schedule, User: g.user, Key: wanted.Name, ShouldBe: showSubject(subject), offset: subject.OffsetMinutes,
	}
	is, err := r.Schedules.Find(ctx, wanted.Name)
	switch {
	case errors.Is(err, schedule.ErrNotFound):
		d.Is = "no schedule of " + g.id
	case err != nil:
		return nil, err
	case reminders.InStep(is, wanted, r.Registry):
		return nil, nil
	default:
		d.Is = showSchedule(r.Registry, is)
	}
	return &d, nil
}

func showSubject(s reminders.Subject) string {
	return fmt.Sprintf("%s, %d minutes before, due %s", s.ID, s.OffsetMinutes, item.FormatInstant(s.Due))
}

func showSchedule(registry *entity.Registry, s schedule.Schedule) string {
	subject, err := reminders.ReadPayload(registry, s.Payload)
	if err != nil {
		return err.Error()
	}
	if s.At.IsZero() {
		return showSubject(subject) + ", with another target, role or queue"
	}
	return showSubject(subject) + ", called " + item.FormatInstant(s.At)
}
