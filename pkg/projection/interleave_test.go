package projection_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/links"
	"nexus/pkg/projection"
	"nexus/pkg/table"
	"nexus/pkg/table/interleave"
)

// isFull says that everything is to be played: `make interleave`.
func isFull() bool { return os.Getenv("NEXUS_INTERLEAVE") != "" }

// once lets a worker die, or an answer be lost, once in each play; the full form also has calls that are refused.
func once() interleave.Options { return interleave.Options{Faults: 1, Refusals: isFull()} }

// delivering is a scene of several workers at the records of a user. Afterwards everything is delivered again, cut
// otherwise, once more a day later, and then each record by itself.
func delivering(p func() *projection.Projection, setting func(*scene) []interleave.Worker) func() interleave.World {
	return func() interleave.World {
		s := newScene(p())
		w := interleave.World{Store: s.store, Workers: setting(s)}
		w.Judge = func() error {
			for _, size := range []int{1, 100} {
				s.now = s.now.Add(time.Minute)
				if err := s.deliverAll(size); err != nil {
					return err
				}
				if err := s.recount(); err != nil {
					return fmt.Errorf("in batches of %d: %w", size, err)
				}
			}
			s.now = s.now.Add(25 * time.Hour)
			if err := s.deliverAll(100); err != nil {
				return err
			}
			return s.late()
		}
		return w
	}
}

func TestConsumer_isExactInEveryOrderOfTwoConsumersCalls(t *testing.T) {
	t.Parallel()
	first, second := life("note_1", "one a", "two a b", "one a", ""), life("note_2", "one a", "three b")
	deliveries := map[string][]change.Change{
		"first": first[:1], "second": first[1:2], "back": first[2:3], "removal": first[3:], "first two": first[:2],
		"last two": first[2:], "other": second[:1], "other's edit": second[1:], "first and other": {first[0], second[0]},
		"edit and other": {first[1], second[0]}, "removal and other's edit": {first[3], second[1]},
	}
	names := []string{"back", "removal and other's edit"}
	if isFull() {
		names = nil
		for name := range deliveries {
			names = append(names, name)
		}
		slices.Sort(names)
	}
	for name, p := range map[string]func() *projection.Projection{"sum": titles, "rows": links.Projection} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, one := range names {
				for _, other := range names[i:] {
					for past := range 4 {
						explore(t, fmt.Sprintf("%s beside %s behind %d records", one, other, past), once(), delivering(p,
							func(s *scene) []interleave.Worker {
								s.happened(slices.Concat(first, second)...)
								s.applied(first[:past]...)
								return []interleave.Worker{s.applies("one", deliveries[one]), s.applies("other", deliveries[other])}
							}))
					}
				}
			}
		})
	}
}

// pending leaves the entry of a record in the sum's row, as a consumer does that died there.
func (s *scene) pending(c change.Change) {
	s.applied(c)
	s.remove(entity.LedgerKey("ann", s.p.Name(), c.Ref.ID))
}

func TestConsumer_keepsAPendingEntryExactInEveryOrder(t *testing.T) {
	t.Parallel()
	first, second := life("note_1", "one", "two", ""), life("note_2", "one", "three")
	for name, batches := range map[string][2][]change.Change{
		"its own record again":  {first[:1], first[:1]},
		"its next record":       {first[:1], first[1:2]},
		"two others":            {first[1:2], second[:1]},
		"a batch and a single":  {{first[1], second[0]}, second[:1]},
		"two batches":           {{first[1], second[0]}, {first[0], second[1]}},
		"its removal and other": {first[2:], second[:1]},
	} {
		if (name == "two others" || name == "its removal and other") && !isFull() {
			continue // as long as the others together
		}
		explore(t, name, once(), delivering(titles, func(s *scene) []interleave.Worker {
			s.happened(slices.Concat(first, second)...)
			s.pending(first[0])
			return []interleave.Worker{s.applies("one", batches[0]), s.applies("other", batches[1])}
		}))
	}
}

func TestConsumer_takesARefusedEntryBackInEveryOrder(t *testing.T) {
	t.Parallel()
	first, second := life("note_1", "one", "two", ""), life("note_2", "one", "three")
	for name, workers := range map[string]func(s *scene) []interleave.Worker{
		"two singles": func(s *scene) []interleave.Worker {
			return []interleave.Worker{s.applies("one", first[1:2]), s.applies("other", second[:1])}
		},
		"a batch and a single": func(s *scene) []interleave.Worker {
			return []interleave.Worker{s.applies("one", []change.Change{first[1], second[0]}), s.applies("other", second[:1])}
		},
		"two batches": func(s *scene) []interleave.Worker {
			return []interleave.Worker{
				s.applies("one", []change.Change{first[1], second[0]}), s.applies("other", []change.Change{first[2], second[1]}),
			}
		},
		"a repair and a single": func(s *scene) []interleave.Worker {
			return []interleave.Worker{s.rebuilds("repair"), s.applies("other", second[:1])}
		},
	} {
		if name != "a batch and a single" && !isFull() {
			continue
		}
		explore(t, name, once(), delivering(titles, func(s *scene) []interleave.Worker {
			s.happened(slices.Concat(first, second)...)
			s.applied(first[0])
			// The entry that cannot be kept is a later one of note_1, in place of the title that its row has.
			s.change(entity.SumKey("ann", "titles"), "sum", item.Map{"latest": item.String("one"), lengthy: item.Int(1)})
			s.change(entity.SumKey("ann", "titles"), "sumLast", item.Map{
				"item": item.String("note_1"), "v": item.Int(2),
				"c": item.String(`t1 {"add":{"` + lengthy + `":1},"open":"` + lengthy + `"}`),
			})
			return workers(s)
		}))
	}
}

// rebuilds is a worker that repairs the sum under a lease, item by item.
func (s *scene) rebuilds(name string) interleave.Worker {
	s.errs[name] = errors.New("died")
	return interleave.Worker{Name: name, Run: func(ctx context.Context, store *interleave.Store) {
		s.errs[name] = s.rebuild(ctx, store, name)
	}}
}

func (s *scene) rebuild(ctx context.Context, store table.Store, owner string) error {
	lease, err := s.consumer(store).AcquireLease(ctx, "ann", owner)
	if err != nil {
		return err
	}
	for _, id := range s.ids() {
		e, err := s.evidence(ctx, store, id)
		if err != nil {
			return err
		}
		if e.Ledger == nil && e.Item == nil {
			continue
		}
		if err := lease.Repair(ctx, e); err != nil {
			return err
		}
		if s.staging {
			if err := lease.Stage(ctx); err != nil {
				return err
			}
		}
	}
	if err := lease.Finish(ctx); err != nil || !s.staging {
		return err
	}
	for _, id := range s.ids() {
		row, err := table.Find(ctx, store, entity.LedgerKey("ann", s.p.Name(), id))
		if err != nil {
			return err
		}
		if err := lease.Unstage(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// ids are those of the user's notes, in order.
func (s *scene) ids() (ids []string) {
	for _, c := range s.records {
		ids = append(ids, c.Ref.ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// spoils are the damages that a repair of a sum may find.
var spoils = map[string]func(*scene){
	"nothing":   func(*scene) {},
	"no ledger": func(s *scene) { s.remove(entity.LedgerKey("ann", "titles", "note_1")) },
	"no sum":    func(s *scene) { s.remove(entity.SumKey("ann", "titles")) },
	"sum wrong": func(s *scene) { s.change(entity.SumKey("ann", "titles"), "sum", item.Map{"one": item.Int(7)}) },
	"row of one that is gone wrong": func(s *scene) {
		first := life("note_1", "one", "two", "")
		s.happened(first[1:]...)
		s.applied(first[1:]...)
		s.change(entity.LedgerKey("ann", "titles", "note_1"), "c",
			item.String(`t1 {"add":{"x":1},"max":{"latest":"x"},"open":"at-x"}`))
	},
	"row wrong": func(s *scene) { s.change(entity.LedgerKey("ann", "titles", "note_1"), "c", item.String("")) },
	"row's place": func(s *scene) {
		s.change(entity.LedgerKey("ann", "titles", "note_1"), item.AttrGSI3SK, item.String("x"))
	},
}

func (s *scene) change(key item.Key, name string, v item.Value) {
	row, err := table.Find(context.Background(), s.store, key)
	must(err)
	row = row.Clone()
	row.Set(name, v)
	s.put(row)
}

// recounting is a scene of repairs of one damaged sum and others who work at it. If no repair died or was in another's
// way, and one of them ended, nothing is left to mend.
func recounting(
	spoil func(*scene), setting func(s *scene, first, second []change.Change) []interleave.Worker,
) func() interleave.World {
	return func() interleave.World {
		s := newScene(titles())
		first, second := life("note_1", "one", "two", ""), life("note_2", "one", "three")
		s.happened(first[0])
		s.applied(first[0])
		spoil(s)
		w := interleave.World{Store: s.store, Workers: setting(s, first, second)}
		w.Judge = func() error {
			s.now = s.now.Add(31 * time.Second)
			if err := s.deliverAll(1); err != nil {
				return err
			}
			isMended := false
			for _, err := range s.errs {
				isMended = isMended || err == nil
			}
			if err := s.recount(); err != nil && isMended {
				return fmt.Errorf("after a repair that ended: %w", err)
			}
			if err := s.rebuild(context.Background(), s.store, "last"); err != nil {
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

func TestConsumer_repairsASumExactlyInEveryOrder(t *testing.T) {
	t.Parallel()
	for name, spoil := range spoils {
		for beside, other := range map[string]func(s *scene, first, second []change.Change) []interleave.Worker{
			"the record again": func(s *scene, first, _ []change.Change) []interleave.Worker {
				return []interleave.Worker{s.applies("consumer", first[:1])}
			},
			"the next record": func(s *scene, first, _ []change.Change) []interleave.Worker {
				s.happened(first[1])
				return []interleave.Worker{s.applies("consumer", first[1:2])}
			},
			"a batch": func(s *scene, first, second []change.Change) []interleave.Worker {
				s.happened(first[1], second[0])
				return []interleave.Worker{s.applies("consumer", []change.Change{first[1], second[0]})}
			},
			"a client": func(s *scene, first, _ []change.Change) []interleave.Worker {
				return []interleave.Worker{s.writes("client", first[1:]...)}
			},
			"another repair": func(s *scene, _, _ []change.Change) []interleave.Worker {
				return []interleave.Worker{s.rebuilds("another")}
			},
			"another repair, and time": func(s *scene, _, _ []change.Change) []interleave.Worker {
				return []interleave.Worker{s.rebuilds("another"), s.passes(31 * time.Second)}
			},
			"the next record, and time": func(s *scene, first, _ []change.Change) []interleave.Worker {
				s.happened(first[1])
				return []interleave.Worker{s.applies("consumer", first[1:2]), s.passes(31 * time.Second)}
			},
		} {
			if strings.Contains(name, "gone") && beside == "a client" {
				continue // an id never comes back
			}
			faults := once()
			if strings.HasSuffix(beside, "time") && !isFull() {
				if name != "row wrong" {
					continue
				}
				faults = interleave.Options{}
			}
			explore(t, name+" beside "+beside, faults,
				recounting(spoil, func(s *scene, first, second []change.Change) []interleave.Worker {
					return append(other(s, first, second), s.rebuilds("repair"))
				}))
		}
	}
}

// The ledger only lacks late records. Whatever becomes of the repair, these records must count.
func TestConsumer_stagesRowsExactlyInEveryOrder(t *testing.T) {
	t.Parallel()
	first, second := life("note_1", "one", "two", ""), life("note_2", "one", "three")
	for beside, others := range map[string]func(s *scene) []interleave.Worker{
		"no other": func(*scene) []interleave.Worker { return nil },
		"the next record": func(s *scene) []interleave.Worker {
			return []interleave.Worker{s.applies("consumer", first[1:2])}
		},
		"a batch": func(s *scene) []interleave.Worker {
			return []interleave.Worker{s.applies("consumer", []change.Change{first[1], second[0]})}
		},
		"a client": func(s *scene) []interleave.Worker { return []interleave.Worker{s.writes("client", first[2:]...)} },
		"another repair": func(s *scene) []interleave.Worker {
			return []interleave.Worker{s.rebuilds("another")}
		},
		"another repair, and time": func(s *scene) []interleave.Worker {
			return []interleave.Worker{s.rebuilds("another"), s.passes(31 * time.Second)}
		},
		"the next record, and time": func(s *scene) []interleave.Worker {
			return []interleave.Worker{s.applies("consumer", first[1:2]), s.passes(31 * time.Second)}
		},
		"a batch, and time": func(s *scene) []interleave.Worker {
			return []interleave.Worker{s.applies("consumer", []change.Change{first[1], second[0]}), s.passes(31 * time.Second)}
		},
	} {
		faults := once()
		if strings.HasSuffix(beside, "time") && !isFull() {
			faults = interleave.Options{}
		}
		if strings.HasPrefix(beside, "another repair") && !isFull() || beside == "a batch, and time" && !isFull() {
			continue // as long as all others together
		}
		explore(t, "beside "+beside, faults, func() interleave.World {
			s := newScene(titles())
			s.staging = true
			s.happened(first[0], first[1], second[0])
			s.applied(first[0])
			w := interleave.World{Store: s.store, Workers: append(others(s), s.rebuilds("repair"))}
			w.Judge = func() error {
				s.now = s.now.Add(31 * time.Second)
				for _, size := range []int{1, 100} {
					if err := s.deliverAll(size); err != nil {
						return err
					}
					if err := s.recount(); err != nil {
						return fmt.Errorf("in batches of %d: %w", size, err)
					}
				}
				return s.late()
			}
			return w
		})
	}
}
