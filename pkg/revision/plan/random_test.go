package plan_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/revision/plan"
)

// randomPlan has some of twenty actions, in any order, and some blocks.
func randomPlan(luck *rand.Rand) plan.Plan {
	var p plan.Plan
	for i, n := range luck.Perm(20)[:luck.IntN(20)] {
		p.Todos = append(p.Todos, plan.Todo{
			ActionID: act(n + 1), Order: i + 1, Classification: []plan.Classification{plan.Urgent, plan.Other}[luck.IntN(2)],
			EstimatedPomodoros: luck.IntN(3),
		})
	}
	for n := range luck.IntN(10) {
		b := block(n, plan.Meeting, 30*n)
		b.EndTimeIso = b.EndTimeIso.Add(time.Duration(luck.IntN(2)) * time.Minute)
		p.Blocks = append(p.Blocks, b)
	}
	return p
}

func TestApply_givesTheOtherPlan(t *testing.T) {
	t.Parallel()
	luck := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		a, b := randomPlan(luck), randomPlan(luck)
		require.Equal(t, b, plan.Compare(a, b).Apply(a))
		require.Empty(t, plan.Compare(a, a))
	}
}

func TestRollback_returnsARandomDayToEachRevision(t *testing.T) {
	t.Parallel()
	b := setup(t, 20)
	luck := rand.New(rand.NewPCG(3, 4))
	head := b.commit(monday, "", plan.ReasonMorningPlan, plan.Plan{})
	kept := []plan.Revision{head.Revision}
	for range 25 {
		before := head
		head = b.commit(monday, before.RevID, plan.ReasonMiddayReplan, randomPlan(luck))
		kept = append(kept, head.Revision)
		d, err := b.plans.Diff(b.ctx, "ann", monday, before.RevID, head.RevID)
		b.NoError(err)
		b.Equal(head.State, d.Apply(before.State))
	}
	for _, i := range luck.Perm(len(kept)) {
		res, err := b.plans.Rollback(b.ctx, "ann", monday, head.RevID, kept[i].RevID, "", "")
		b.NoError(err)
		b.Equal(kept[i].State, res.State)
		b.Equal(b.snapshot(kept[i].RevID), b.snapshot(res.RevID), "row for row")
		head = res
	}
	for _, was := range kept {
		is, err := b.plans.Revision(b.ctx, "ann", monday, was.RevID)
		b.NoError(err)
		b.Equal(was, is)
	}
	page, err := b.plans.History(b.ctx, "ann", monday, 100, "")
	b.NoError(err)
	b.Len(page.Commits, 2*len(kept))
}

// snapshot are the rows of a revision of Monday, without the partition that they stand in.
func (b *fixture) snapshot(revID string) []item.Item {
	rows := b.rows(repository.Address{User: "ann", Date: monday}.SnapshotPK(revID))
	for i := range rows {
		rows[i] = rows[i].Clone()
		delete(rows[i], item.AttrPK)
	}
	return rows
}
