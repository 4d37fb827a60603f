package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// importing is the state of one import.
type importing struct {
	call
	meta item.Item
	// alive runs before each transaction.
	alive func(ctx context.Context) error
}

func (c call) newImport(ctx context.Context) (*importing, error) {
	rows, err := c.read(ctx, []item.Key{entity.MetaKey(c.user)})
	if err != nil {
		return nil, err
	}
	return &importing{call: c, meta: c.userMeta(rows)}, nil
}

// work holds the writes for one thing.
type work struct {
	result ImportResult
	// before are instances to undo first, steps the write that commits, more the transactions after it. Then the idle
	// instances of the series after are undone, and those of the deleted series gone are deleted.
	before, idle []item.Item
	steps        []step
	more         [][]step
	gone         []string
	// ids are those of the entities that the plan rests on. Each row that the work writes belongs to one of them.
	ids []string
}

func (w work) isSingle() bool {
	return len(w.before)+len(w.idle)+len(w.more)+len(w.gone) == 0
}

func (w work) isEmpty() bool { return len(w.steps) == 0 && w.isSingle() }

func refusal(err error) work { return work{result: ImportResult{Outcome: Refused, Err: err}} }

// transact writes steps; done is false if a condition did not hold, or another writer had locked the rows.
func (r *importing) transact(ctx context.Context, steps []step) (done bool, err error) {
	if err := r.alive(ctx); err != nil {
		return false, err
	}
	actions := make([]table.Action, len(steps))
	for i, s := range steps {
		actions[i] = s.action
	}
	err = r.store.Transact(ctx, actions...)
	var failed *table.ConditionError
	switch {
	case err == nil:
		return true, nil
	case errors.As(err, &failed), errors.Is(err, table.ErrConflict):
		return false, nil
	case errors.Is(err, table.ErrInvalid):
		return false, fmt.Errorf("%w: %w", ErrUnstorable, err)
	}
	return false, fmt.Errorf("import %s with %d more rows: %w", actions[0].Target(), len(actions)-1, err)
}

// carryOut makes all writes of a work in their order.
func (r *importing) carryOut(ctx context.Context, w work) (done bool, err error) {
	if err := r.strip(ctx, w.before); err != nil {
		return false, err
	}
	if len(w.steps) > 0 {
		if done, err := r.transact(ctx, w.steps); err != nil || !done {
			return done, err
		}
	}
	for _, steps := range w.more {
		if done, err := r.transact(ctx, steps); err != nil || !done {
			return done, err
		}
	}
	for _, id := range w.gone {
		if err := r.drop(ctx, id); err != nil {
			return false, err
		}
	}
	return true, r.strip(ctx, w.idle)
}

// place is the present or future place of a thing.
type place struct {
	ref    entity.Ref
	stored item.Item // nil if it does not exist
	dead   bool      // it was imported and deleted too often
	// other is the entity of the same UID with another type, such as an event that has become a series since.
	other     item.Item
	otherType *entity.Type
	instances []item.Item // of the existing series, of either type
	kept      map[item.Key]string
	// deleted are the deleted series of an existing event's UID that have instances: the import that replaced one by the
	// event was interrupted.
	deleted []string
}

// ids are those of the entities that the plan of the thing at this place rests on.
func (p place) ids(thing Imported) []string {
	ids := []string{p.ref.ID, thing.Known}
	if p.other != nil {
		ids = append(ids, p.otherType.Ref(p.other).ID)
	}
	return slices.DeleteFunc(ids, func(id string) bool { return id == "" })
}

// counterparts lists, for each type, the other types that an entity of its UID may have here.
var counterparts = map[string]string{
	product.TypeEvent: entity.TypeMaster, entity.TypeMaster: product.TypeEvent,
	product.TypeTask: product.TypeReminder, product.TypeReminder: product.TypeTask,
}

// prepare reads the present state of the things, many in a round trip, and decides what to write.
func (r *importing) prepare(ctx context.Context, things []Imported) ([]work, error) {
	places, err := r.locate(ctx, things)
	if err != nil {
		return nil, err
	}
	works := make([]work, len(things))
	for i, thing := range things {
		works[i] = r.plan(thing, places[i])
		works[i].ids = places[i].ids(thing)
		works[i].gone = append(works[i].gone, places[i].deleted...)
	}
	return works, nil
}

// readers is the number of series that are read in parallel.
const readers = 8

func (r *importing) locate(ctx context.Context, things []Imported) ([]place, error) {
	searches := make([]search, len(things))
	for i, thing := range things {
		searches[i] = search{thing: thing, typ: thing.Type, k: unsearched}
	}
	if err := r.find(ctx, searches); err != nil {
		return nil, err
	}
	places := make([]place, len(things))
	var others []search
	var of []int
	for i, s := range searches {
		places[i] = place{ref: entity.Ref{Type: s.typ.Name, ID: s.id}, stored: s.stored, dead: s.k >= maxLives}
		other := r.registry.ByName(counterparts[s.typ.Name])
		isReplacement := s.stored != nil && s.k >= 0 && s.typ.Name == product.TypeEvent
		if other != nil && (s.stored == nil || isReplacement) {
			others = append(others, search{thing: s.thing, typ: other, k: unsearched, onlyDeleted: isReplacement})
			of = append(of, i)
		}
	}
	if err := r.find(ctx, others); err != nil {
		return nil, err
	}
	for j, s := range others {
		switch p := &places[of[j]]; {
		case s.onlyDeleted:
			if p.deleted = s.deleted; searches[of[j]].became != "" {
				p.deleted = append(p.deleted, searches[of[j]].became)
			}
		case !s.thing.OnlyExceptions:
			p.other, p.otherType = s.stored, s.typ
		}
	}
	if err := r.follow(ctx, places, searches, others, of); err != nil {
		return nil, err
	}
	var group errgroup.Group
	group.SetLimit(readers)
	for i := range places {
		p := &places[i]
		if len(p.deleted) > 0 {
			group.Go(func() (err error) {
				p.deleted, err = r.leftInstances(ctx, p.deleted)
				return err
			})
		}
		series := p.stored
		if series == nil {
			series = p.other
		}
		if !series.Bool(product.AttrHasExceptions) {
			continue
		}
		group.Go(func() (err error) {
			p.instances, err = r.call.instances(ctx, series.Str(product.AttrMasterID))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var items []item.Item
	for _, p := range places {
		items = append(append(items, p.stored), p.instances...)
	}
	kept, err := r.readKept(ctx, items...)
	for i := range places {
		places[i].kept = kept
	}
	return places, err
}

// leftInstances returns those of the series that were deleted and have instances.
func (r *importing) leftInstances(ctx context.Context, masterIDs []string) (left []string, err error) {
	for _, id := range masterIDs {
		rows, err := r.call.instances(ctx, id)
		if err != nil {
			return nil, err
		}
		if len(rows) == 0 {
			continue
		}
		key := entity.GoneKey(r.user, id)
		found, err := r.read(ctx, []item.Key{key})
		if err != nil {
			return nil, err
		}
		if found[key] != nil {
			left = append(left, id)
		}
	}
	return left, nil
}

// follow finds the series that events of the UIDs have become: an existing series, or one that replaced an event.
func (r *importing) follow(ctx context.Context, places []place, searches, others []search, of []int) error {
	became := map[int]item.Key{} // by the place
	for i, s := range searches {
		if s.became != "" && s.stored == nil {
			became[i] = entity.ItemKey(r.user, entity.Ref{Type: entity.TypeMaster, ID: s.became})
		}
	}
	for j, s := range others {
		if s.became != "" {
			became[of[j]] = entity.ItemKey(r.user, entity.Ref{Type: entity.TypeMaster, ID: s.became})
		}
	}
	if len(became) == 0 {
		return nil
	}
	rows, err := r.read(ctx, slices.Collect(maps.Values(became)))
	if err != nil {
		return err
	}
	for i, key := range became {
		row, p := rows[key], &places[i]
		switch {
		case row == nil || entity.Expired(row, r.now):
		case p.ref.Type == entity.TypeMaster:
			p.stored, p.ref, p.dead = row, r.masterType().Ref(row), false
			p.other, p.otherType = nil, nil
		case p.other == nil:
			p.other, p.otherType = row, r.masterType()
		}
	}
	return nil
}

// search looks for the id of a thing: its present id, or else the first that is not gone.
type search struct {
	thing  Imported
	typ    *entity.Type
	k      int // the number of its earlier imports; or one of the constants below
	id     string
	stored item.Item
	found  bool
	became string // the id of the series that an event of the UID has become; "" for none
	// known has the id under which it was exported from here, and another UID: an item of the UID goes before it.
	known item.Item
	// deleted are the ids that were passed because their entities were deleted. A search of onlyDeleted reads no entity.
	deleted     []string
	onlyDeleted bool
}

const (
	unsearched    = -1
	searchedKnown = -2 // the id under which it was exported from here
)

// next moves to the next possible id of the thing; false if there is none.
func (s *search) next() bool {
	switch s.k {
	case unsearched:
		s.k = 0
		if entity.CheckID(s.typ.IDPrefix, s.thing.Known) == nil {
			s.id, s.k = s.thing.Known, searchedKnown
			return true
		}
	case searchedKnown:
		s.k = 0
	default:
		s.k++
	}
	if s.k >= maxLives {
		s.finish()
		return false
	}
	s.id = s.thing.ID(s.typ.IDPrefix, s.k)
	return true
}

// find finishes all searches, one round trip for each step.
func (r *importing) find(ctx context.Context, searches []search) error {
	for {
		var keys []item.Key
		for i := range searches {
			if s := &searches[i]; !s.found && s.next() {
				keys = append(keys, entity.GoneKey(r.user, s.id), entity.ColdKey(r.user, s.id))
				if !s.onlyDeleted {
					keys = append(keys, entity.ItemKey(r.user, entity.Ref{Type: s.typ.Name, ID: s.id}))
				}
			}
		}
		if len(keys) == 0 {
			return nil
		}
		rows, err := r.read(ctx, keys)
		if err != nil {
			return err
		}
		for i := range searches {
			if s := &searches[i]; !s.found {
				s.collect(r, rows)
			}
		}
	}
}

func (s *search) collect(r *importing, rows map[item.Key]item.Item) {
	row := rows[entity.ItemKey(r.user, entity.Ref{Type: s.typ.Name, ID: s.id})]
	if row != nil && !entity.Expired(row, r.now) {
		if s.k == searchedKnown && row.Has(product.AttrICalUID) && row.Str(product.AttrICalUID) != s.thing.UID {
			s.known = row
			return
		}
		s.stored, s.found = row, true
		return
	}
	gone := rows[entity.GoneKey(r.user, s.id)]
	if gone != nil {
		s.deleted = append(s.deleted, s.id)
	}
	if gone.Has(attrBecameID) {
		s.became = gone.Str(attrBecameID)
	}
	isFree := row == nil && gone == nil && rows[entity.ColdKey(r.user, s.id)] == nil
	if isFree && s.k >= 0 { // an id that was used here is never used again
		s.finish()
	}
}

// finish ends a search that has found no item of the UID.
func (s *search) finish() {
	s.found = true
	if s.known != nil {
		s.stored, s.id, s.k = s.known, s.thing.Known, searchedKnown
	}
}
