//go:build predecessor

package projection_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/internal/simulate/before"
	"nexus/pkg/change"
	"nexus/pkg/links"
	"nexus/pkg/projection"
	"nexus/pkg/table"
	"nexus/pkg/table/interleave"
	oldentity "nexus/predecessor/entity" // of another commit: see TestConsumer_isExactBesideTheReleaseBefore
	oldlinks "nexus/predecessor/links"
	oldprojection "nexus/predecessor/projection"
)

// before is the projection of a scene as the other release has it.
func (s *scene) before(store table.Store) change.Consumer {
	p := oldprojection.NewOwnSum("titles", "t1", func(_ *oldentity.Type, it oldentity.Item) oldprojection.Amounts {
		title := it.Str(oldentity.AttrTitle)
		return oldprojection.Amounts{
			Add: map[string]int64{title: 1}, Max: map[string]string{"latest": title}, Open: "at-" + title,
		}
	})
	if !s.p.Summed() {
		p = oldlinks.Projection()
	}
	return before.Consumer{Of: oldprojection.NewConsumer(p, before.Store{Of: store}, s.clock)}
}

// appliesBefore is a worker of the other release.
func (s *scene) appliesBefore(batch []change.Change) interleave.Worker {
	return interleave.Worker{Name: "before", Run: func(ctx context.Context, store *interleave.Store) {
		for _, o := range s.before(store).Apply(ctx, batch) {
			if o.Verdict == change.Poison {
				panic(fmt.Sprintf("poison: %v", o.Err))
			}
		}
	}}
}

// deliverAllTo is [scene.deliverAll] by a consumer of either release.
func (s *scene) deliverAllTo(consumer change.Consumer) error {
	for range 5 {
		isDone := true
		for _, c := range s.records {
			isDone = consumer.Apply(context.Background(), []change.Change{c})[0].Verdict == change.Done && isDone
		}
		if isDone {
			return nil
		}
	}
	return errors.New("records do not come to an end")
}

// TestConsumer_isExactInEveryOrderBesideTheOther plays one worker of each release. Afterwards everything is delivered
// again, to this release after a deployment and to the other after a rollback.
func TestConsumer_isExactInEveryOrderBesideTheOther(t *testing.T) {
	first, second := life("note_1", "one a", "two a b", "one a", ""), life("note_2", "one a", "three b")
	deliveries := [][]change.Change{
		first[:1], first[1:2], first[2:3], first[3:], {first[1], second[0]}, {first[2], first[3], second[1]},
	}
	pasts := 3
	if !isFull() {
		deliveries, pasts = [][]change.Change{first[1:2], {first[1], second[0]}}, 2
	}
	plays, worlds := 0, 0
	for _, p := range []func() *projection.Projection{titles, links.Projection} {
		for _, ours := range deliveries {
			for _, theirs := range deliveries {
				for past := range pasts {
					for _, isRollback := range []bool{false, true} {
						world := func() interleave.World {
							s := newScene(p())
							s.happened(slices.Concat(first, second)...)
							s.applied(first[:past]...)
							w := interleave.World{
								Store: s.store, Workers: []interleave.Worker{s.applies("this", ours), s.appliesBefore(theirs)},
							}
							w.Judge = func() error {
								last := change.Consumer(s.consumer(s.store))
								if isRollback {
									last = s.before(s.store)
								}
								for _, d := range []time.Duration{time.Minute, 2 * time.Hour} {
									s.now = s.now.Add(d)
									if err := s.deliverAllTo(last); err != nil {
										return err
									}
									if err := s.recount(); err != nil {
										return fmt.Errorf("rollback %v: %w", isRollback, err)
									}
								}
								return nil
							}
							return w
						}
						result, err := interleave.Explore(t.Context(), world, interleave.Options{Faults: 1})
						require.NoError(t, err)
						plays, worlds = plays+result.Plays, worlds+1
					}
				}
			}
		}
	}
	t.Logf("%d plays of %d worlds", plays, worlds)
}
