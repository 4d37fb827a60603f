package plan_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// crashing is one request that is repeated after its process died at one call.
type crashing struct {
	request func(b *fixture) error
	// settled checks what is there once the repetition was answered; halfway, what is there before.
	halfway, settled func(b *fixture)
}

func revisions(b *fixture, at repository.Address) int {
	n, err := b.store.Count(b.ctx, table.Query{Partition: at.LogPK(), Range: table.Range{Prefix: at.LogPrefix()}})
	b.NoError(err)
	return n
}

func crashes() map[string]crashing {
	treeOf, mondayOf, tuesdayOf := repository.Address{User: "ann"}, repository.Address{User: "ann", Date: monday},
		repository.Address{User: "ann", Date: tuesday}
	both := func(b *fixture) bool {
		nodes, err := b.tree.Nodes(b.ctx, "ann", []string{act(1)})
		b.NoError(err)
		done := nodes[act(1)]
		b.Equal(b.current(monday).State.Todos[0].Done(), !done.CompletedAt.IsZero(), "in plan and tree, or in neither")
		return !done.CompletedAt.IsZero()
	}
	return map[string]crashing{
		"completion": {
			func(b *fixture) error { _, err := b.plans.Complete(b.ctx, "ann", monday, act(1), "key", 0); return err },
			func(b *fixture) { both(b) },
			func(b *fixture) {
				b.True(both(b))
				b.Equal(2, revisions(b, mondayOf))
				b.Equal(2, revisions(b, treeOf))
			},
		},
		"rollover": {
			func(b *fixture) error { _, err := b.plans.Rollover(b.ctx, "ann", monday, "key", 0); return err },
			func(b *fixture) {},
			func(b *fixture) {
				b.Len(b.current(tuesday).State.Todos, 25)
				b.Equal(1, revisions(b, tuesdayOf))
				b.Equal(1, revisions(b, mondayOf))
			},
		},
		"commit": {
			func(b *fixture) error {
				base, err := b.tree.Current(b.ctx, "ann")
				if err != nil {
					return err
				}
				_, err = b.tree.Commit(b.ctx, "ann", values.Commit{
					ParentRevID: b.first, Message: "m", Source: values.SourceDailyUpdate, IdempotencyKey: "key", Tree: &base.State,
				})
				return err
			},
			func(b *fixture) {},
			func(b *fixture) { b.Equal(2, revisions(b, treeOf)) },
		},
	}
}

func TestService_carriesOutOnceARequestThatDiedAtAnyCall(t *testing.T) {
	t.Parallel()
	for name, c := range crashes() {
		for _, stage := range []memory.Stage{memory.Before, memory.After} {
			calls := 0
			for ; c.diesAt(t, calls+1, stage); calls++ {
				require.Less(t, calls, 40, name)
			}
			require.Greater(t, calls, 6, "%s dies at every call on its way", name)
		}
	}
}

// diesAt plays one request that dies at its n-th call, and reports whether it came that far.
func (c crashing) diesAt(t *testing.T, n int, stage memory.Stage) bool {
	b := setup(t, 30)
	tree, err := b.tree.Current(b.ctx, "ann")
	b.NoError(err)
	b.first = tree.Head.RevID
	b.inline(12) // every snapshot goes ahead of its transaction
	var p plan.Plan
	for i := 1; i <= 25; i++ {
		p.Todos = append(p.Todos, todo(i, plan.Other, 0))
	}
	b.commit(monday, "", plan.ReasonMorningPlan, p)

	died := errors.New("the process has died")
	dead := false
	b.fault = func(call memory.Call) error {
		if dead {
			return died
		}
		if call.Stage != stage {
			return nil
		}
		if n--; n == 0 {
			dead = true
			return died
		}
		return nil
	}
	err = c.request(b)
	b.fault = nil
	c.halfway(b)
	if !dead {
		b.NoError(err)
		return false
	}
	b.Error(err)
	b.NoError(c.request(b))
	c.settled(b)
	b.now = b.now.Add(revision.Patience)
	orphans, err := b.publisher.Orphans(b.ctx, "ann")
	b.NoError(err)
	for _, o := range orphans {
		_, err := b.publisher.Remove(b.ctx, o)
		b.NoError(err)
	}
	b.NoError(b.store.Walk(b.ctx, 0, 1, func(row item.Item) error {
		_, stray, err := b.publisher.Stray(b.ctx, row.Key())
		b.False(stray)
		return err
	}))
	c.settled(b)
	return true
}

// A twin of the request is done first, after the request has read everything: it answers as any repetition does.
func TestService_answersTheLoserOfTwoTwinsAsARepetition(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]func(*fixture) (any, error){
		"complete": func(b *fixture) (any, error) { return b.plans.Complete(b.ctx, "ann", monday, act(1), "key", 0) },
		"rollover": func(b *fixture) (any, error) { return b.plans.Rollover(b.ctx, "ann", monday, "key", 0) },
	} {
		b := setup(t, 3)
		b.commit(monday, "", plan.ReasonMorningPlan, aDay())
		once := true
		b.fault = func(c memory.Call) error {
			if once && c.Op == "Transact" && c.Stage == memory.Before {
				once = false
				_, err := request(b)
				b.NoError(err)
			}
			return nil
		}
		loser, err := request(b)
		b.NoError(err)
		again, err := request(b)
		b.NoError(err)
		b.Equal(again, loser, name)
	}
}
