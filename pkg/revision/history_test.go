package revision_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/table"
)

// histories is how many random histories are played: a few, unless the environment asks for more.
func histories(t *testing.T) int {
	text := os.Getenv("NEXUS_REVISION_HISTORIES")
	if text == "" {
		return 8
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

func TestHistoryIsALineWhateverHappensToItsWriters(t *testing.T) {
	t.Parallel()
	const commits = 50
	races, orphans := 0, 0
	for seed := range histories(t) {
		w := newWorld(t, uint64(seed))
		races += w.play(commits)
		for _, at := range []struct{ check func() }{
			{func() { w.checkLine(tree) }}, {func() { w.checkLine(today) }}, {w.checkAnswers}, {w.checkStates},
		} {
			at.check()
		}
		orphans += w.checkOrphans()
		w.checkLine(tree)
		w.checkLine(today)
	}
	t.Logf("%d requests lost a race, %d snapshots were abandoned", races, orphans)
	require.Positive(t, races, "somebody lost a race")
	require.Positive(t, orphans, "somebody left an orphan")
}

// writer is a process that makes one request after another, and repeats those that it died over.
type writer struct {
	*actor
	process
	busy    bool
	request func(w *world, p process) error
	n       int
}

// play lets two writers and a cleaner loose until the tree's history has so many commits. It returns how many requests
// lost a race.
func (w *world) play(commits int) int {
	var actors []*writer
	for range 3 {
		a := newActor(w.store, w.published)
		actors = append(actors, &writer{actor: a, process: w.process(a)})
	}
	const cleaner = 2
	races := 0
	for turn := 0; len(w.log(tree)) < commits; turn++ {
		w.Less(turn, 400*commits, "the history does not come to its end")
		i, steps := w.luck.IntN(2), 1+w.luck.IntN(12)
		if w.luck.IntN(12) == 0 {
			// Whoever is at work now has been so slow that the cleaner takes them for dead.
			w.now = w.now.Add(time.Duration(w.luck.IntN(40)) * time.Minute)
			i, steps = cleaner, 20
		}
		for range steps {
			w.step(actors[i], i, &races)
		}
	}
	for _, one := range actors {
		for one.busy {
			one.busy = one.proceed(diedBefore)
		}
	}
	return races
}

// step lets one of them make its next call.
func (w *world) step(one *writer, i int, races *int) {
	if !one.busy {
		w.start(one, i, races)
		return
	}
	one.busy = one.proceed(w.fate())
	w.Empty(w.broken)
	w.checkHead(tree)
	w.checkHead(today)
}

func (w *world) fate() fate {
	switch n := w.luck.IntN(100); {
	case n < 2:
		return diedBefore
	case n < 4:
		return diedAfter
	case n < 5:
		return lostBefore
	case n < 7:
		return lostAfter
	case n < 8:
		return throttled
	case n < 10:
		return conflicting
	}
	return done
}

// start begins a request: the one that the writer died over, or a new one.
func (w *world) start(one *writer, i int, races *int) {
	if one.request == nil {
		one.n++
		one.request = w.choose(i, fmt.Sprintf("w%d-%d", i, one.n))
	}
	one.busy = one.begin(func() {
		err := one.request(w, one.process)
		var moved *revision.ConflictError
		if errors.As(err, &moved) {
			*races++
		}
		if isCertain(err) || w.luck.IntN(4) == 0 {
			one.request = nil
		}
	})
}

// isCertain reports whether the answer says what became of the request.
func isCertain(err error) bool {
	return !errors.Is(err, errDied) && !errors.Is(err, table.ErrUnavailable)
}

// choose returns what a writer, or the cleaner, is to do next.
func (w *world) choose(i int, message string) func(w *world, p process) error {
	switch n := w.luck.IntN(10); {
	case i == 2:
		return (*world).clean
	case n == 0:
		return (*world).replan
	case n == 1:
		return (*world).complete
	}
	return w.edit(message, w.luck.IntN(2) == 0)
}

func (w *world) clean(p process) error {
	orphans, err := p.publisher.Orphans(w.ctx, user)
	if err != nil {
		return err
	}
	for _, o := range orphans {
		if _, err := p.publisher.Remove(w.ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// edit makes a request with edits of the tree as it is found at first.
func (w *world) edit(message string, keyed bool) func(w *world, p process) error {
	var commit *values.Commit
	tries := 0
	return func(w *world, p process) error {
		if commit == nil {
			base, err := p.values.Open(w.ctx, user)
			if err != nil {
				return err
			}
			commit = &values.Commit{
				ParentRevID: base.Head.RevID, Message: message, Source: values.SourceWeeklyReview, Operations: w.operations(base.State),
			}
			if keyed {
				commit.IdempotencyKey = message
			}
			w.edits[message], w.parent[message] = commit.Operations, commit.ParentRevID
		}
		res, err := p.values.Commit(w.ctx, user, *commit)
		var moved *revision.ConflictError
		tries++
		switch {
		case err == nil:
			w.acked[message] = res.RevID
		case isCertain(err) && (tries == 1 || keyed && errors.As(err, &moved)):
			w.denied[message] = true // with a key a refusal says so of earlier tries as well
		}
		return err
	}
}

func (w *world) replan(p process) error {
	base, err := p.values.Open(w.ctx, user)
	if err != nil {
		return err
	}
	next := plan.Plan{}
	for _, n := range base.State.Nodes {
		if n.NodeType == values.Action && !n.Deleted() {
			next.Todos = append(next.Todos, plan.Todo{ActionID: n.NodeID, Classification: plan.Urgent})
		}
	}
	next.Todos = next.Todos[:min(len(next.Todos), 30)]
	now, err := p.plans.Current(w.ctx, user, day)
	var missing *revision.NotFoundError
	if err != nil && !errors.As(err, &missing) {
		return err
	}
	_, err = p.plans.Commit(w.ctx, user, day, plan.Commit{ParentRevID: now.Head.RevID, Reason: plan.ReasonMiddayReplan, Plan: next})
	return err
}

func (w *world) complete(p process) error {
	now, err := p.plans.Current(w.ctx, user, day)
	if err != nil || len(now.State.Todos) == 0 {
		return err
	}
	i := w.luck.IntN(len(now.State.Todos))
	_, err = p.plans.Complete(w.ctx, user, day, now.State.Todos[i].ActionID, "")
	return err
}

// operations are one to three edits that obey the rules, each of another node.
func (w *world) operations(t values.Tree) []values.Operation {
	var ops []values.Operation
	title := fmt.Sprintf("title %d", w.luck.IntN(1000))
	var drivers, alive []values.Node
	for _, n := range t.Nodes {
		switch {
		case n.Deleted():
		case n.NodeType == values.Driver:
			drivers = append(drivers, n)
		default:
			alive = append(alive, n)
		}
	}
	if len(drivers) == 0 {
		root := "drv_" + w.newID()
		ops = append(ops, values.Operation{Kind: values.OpCreate, NodeID: root, NodeType: values.Driver, Title: &title})
		for range 10 {
			ops = append(ops, values.Operation{Kind: values.OpCreate, NodeID: "act_" + w.newID(), NodeType: values.Action, Title: &title, ParentID: root})
		}
		return ops
	}
	w.luck.Shuffle(len(alive), func(i, j int) { alive[i], alive[j] = alive[j], alive[i] })
	root := drivers[w.luck.IntN(len(drivers))].NodeID
	for range 1 + w.luck.IntN(3) {
		switch n := w.luck.IntN(6); {
		case n < 2 || len(alive) == 0:
			ops = append(ops, values.Operation{Kind: values.OpCreate, NodeID: "act_" + w.newID(), NodeType: values.Action, Title: &title, ParentID: root})
			continue
		case n == 2:
			ops = append(ops, values.Operation{Kind: values.OpUpdate, NodeID: alive[0].NodeID, Title: &title})
		case n == 3:
			ops = append(ops, values.Operation{Kind: values.OpDelete, NodeID: alive[0].NodeID})
		case n == 4:
			ops = append(ops, values.Operation{Kind: values.OpMove, NodeID: alive[0].NodeID, ParentID: root, Position: 1})
		default:
			ops = append(ops, values.Operation{Kind: values.OpArchive, NodeID: alive[0].NodeID})
		}
		alive = slices.Delete(alive, 0, 1)
	}
	return ops
}
