package projection_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/links"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/table"
	"nexus/pkg/table/interleave"
)

// evidence reads what a repair of rows goes by, in the order that is asked for.
func (s *scene) evidence(ctx context.Context, store table.Store, id string) (e projection.Evidence, err error) {
	e = projection.Evidence{User: "ann", Type: product.Note(), Ref: entity.Ref{Type: product.TypeNote, ID: id}}
	if e.Ledger, err = table.Find(ctx, store, entity.LedgerKey("ann", s.p.Name(), id)); err != nil {
		return e, err
	}
	if prefix := s.p.RowsPrefix(product.TypeNote); prefix != "" {
		page, err := store.Query(ctx, table.Query{
			Partition: entity.UserPK("ann"), Range: table.Range{Prefix: entity.Under(prefix, id)},
		})
		if err != nil {
			return e, err
		}
		e.Rows = page.Items
	}
	e.Item, err = table.Find(ctx, store, entity.ItemKey("ann", e.Ref))
	return e, err
}

func (s *scene) repair(ctx context.Context, store table.Store, id string) error {
	e, err := s.evidence(ctx, store, id)
	if err != nil {
		return err
	}
	return s.consumer(store).Repair(ctx, e)
}

// mends is a worker that repairs the rows of a note.
func (s *scene) mends(name string) interleave.Worker {
	s.errs[name] = errors.New("died")
	return interleave.Worker{Name: name, Run: func(ctx context.Context, store *interleave.Store) {
		s.errs[name] = s.repair(ctx, store, "note_1")
	}}
}

// damages are the faults that a repair of rows may find.
var damages = map[string]func(*scene){
	"nothing":      func(*scene) {},
	"row missing":  func(s *scene) { s.remove(linkRow("a").Key()) },
	"row too many": func(s *scene) { s.put(linkRow("c")) },
	"no ledger":    func(s *scene) { s.remove(entity.LedgerKey("ann", links.Name, "note_1")) },
	"no ledger, row missing": func(s *scene) {
		s.remove(entity.LedgerKey("ann", links.Name, "note_1"))
		s.remove(linkRow("a").Key())
	},
	"ledger wrong": func(s *scene) {
		row := entity.LedgerKey("ann", links.Name, "note_1").Item()
		row["v"], row["c"] = item.Int(1), item.String("l1 TASK/c")
		s.put(row)
	},
	"ledger unreadable": func(s *scene) {
		row := entity.LedgerKey("ann", links.Name, "note_1").Item()
		row["v"], row["c"] = item.Int(1), item.String("l1 #")
		s.put(row)
		s.remove(linkRow("a").Key())
	},
}

func (s *scene) remove(key item.Key) {
	must(s.store.Delete(context.Background(), table.Delete{Key: key}))
}

func (s *scene) put(row item.Item) { must(s.store.Put(context.Background(), table.Put{Item: row})) }

// repairing is a scene of several workers at the rows of one damaged note. If no worker died, nothing is left to
// repair.
func repairing(
	damage func(*scene), later string, workers func(s *scene, now, later change.Change) []interleave.Worker,
) func() interleave.World {
	return func() interleave.World {
		s := newScene(links.Projection())
		records := life("note_1", "one a", later)
		s.happened(records[0])
		s.applied(records[0])
		damage(s)
		w := interleave.World{Store: s.store, Workers: workers(s, records[0], records[1])}
		w.Judge = func() error {
			s.records = records
			if err := s.deliverAll(1); err != nil {
				return err
			}
			ended := true
			for _, err := range s.errs {
				ended = ended && err == nil
			}
			if err := s.recount(); err != nil && ended {
				return err
			}
			if err := s.repair(context.Background(), s.store, "note_1"); err != nil {
				return err
			}
			if err := s.recount(); err != nil {
				return err
			}
			return s.late()
		}
		return w
	}
}

func TestConsumer_repairsRowsExactlyInEveryOrderOfTwoRepairs(t *testing.T) {
	t.Parallel()
	faults := interleave.Options{}
	if isFull() {
		faults = once()
	}
	for name, damage := range damages {
		for _, later := range []string{"one a b", "one b", "one", ""} {
			explore(t, fmt.Sprintf("%s, then a client writes %q", name, later), faults, repairing(damage, later,
				func(s *scene, _, later change.Change) []interleave.Worker {
					return []interleave.Worker{s.mends("one"), s.mends("another"), s.writes("client", later)}
				}))
			if later != "one b" && !isFull() {
				continue
			}
			explore(t, fmt.Sprintf("%s, then a consumer applies %q", name, later), faults, repairing(damage, later,
				func(s *scene, _, later change.Change) []interleave.Worker {
					s.happened(later)
					return []interleave.Worker{s.mends("one"), s.mends("another"), s.applies("consumer", []change.Change{later})}
				}))
		}
	}
}
