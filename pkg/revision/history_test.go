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

	"nexus/pkg/item"
	"nexus/pkg/register"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/table"
)

// histories is how many random histories are played: a few, unless the environment asks for more.
func histories(t *testing.T) int {
	text := os.Getenv("NEXUS_REVISION_HISTORIES")
	if text == "" {
		return 5
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

func TestHistory_isALineWhateverHappensToItsWriters(t *testing.T) {
	t.Parallel()
	const commits = 50
	races, looks, orphans, strays := 0, 0, 0, 0
	var places register.Walk
	for seed := range histories(t) {
		w := newWorld(t, uint64(seed))
		w.play(commits)
		w.checkLine(tree)
		w.checkLine(today)
		w.checkAnswers()
		w.checkStates()
		w.checkAsOf()
		w.NoError(w.store.Walk(w.ctx, 0, 1, func(row item.Item) error {
			w.True(places.Row(row.Str(item.AttrPK), row.Str(item.AttrSK)), "row %s is not in the register", row.Key())
			return nil
		}))
		abandoned, unannounced := w.checkOrphans()
		w.checkLine(tree)
		w.checkLine(today)
		races, looks, orphans, strays = races+w.races, looks+w.looks, orphans+abandoned, strays+unannounced
	}
	t.Logf("%d requests lost a race, %d reads came in between, %d snapshots were abandoned, %d of them unannounced", races,
		looks, orphans, strays)
	require.Positive(t, races, "a writer lost a race")
	require.Positive(t, looks, "a reader looked")
	require.Positive(t, orphans, "a writer left an orphan")
	require.Empty(t, places.Missing(register.Histories))
}

// writer is a process that makes one request after another, and repeats those that it died over.
type writer struct {
	*actor
	process
	busy    bool
	request func(w *fixture, p process) error
	n       int
}

// Who takes turns.
const (
	aWriter = iota
	anotherWriter
	theCleaner
	theReader
)

// play lets two writers, a cleaner and a reader loose until the tree's history has so many commits.
func (w *fixture) play(commits int) {
	var actors []*writer
	for range theReader + 1 {
		a := newActor(w.store, w.published)
		actors = append(actors, &writer{actor: a, process: w.process(a)})
	}
	for turn := 0; len(w.log(tree)) < commits; turn++ {
		w.Less(turn, 600*commits, "the history does not come to its end")
		i, steps := w.luck.IntN(2), 1+w.luck.IntN(12)
		switch n := w.luck.IntN(24); {
		case n < 2:
			// The writer at work has been so slow that the cleaner takes it for dead.
			w.now = w.now.Add(time.Duration(w.luck.IntN(40)) * time.Minute)
			i, steps = theCleaner, 20
		case n < 8:
			i, steps = theReader, 1
		}
		for range steps {
			w.now = w.now.Add(time.Duration(w.luck.IntN(30)) * time.Millisecond)
			w.step(actors[i], i)
		}
	}
	for _, one := range actors {
		for one.busy {
			one.busy = one.proceed(diedBefore)
		}
	}
}

// step lets one of them make its next call.
func (w *fixture) step(one *writer, i int) {
	if !one.busy {
		w.start(one, i)
		return
	}
	f := done
	if i != theReader {
		f = w.fate()
	}
	reads := slices.Contains([]string{"Get", "BatchGet", "Query", "Count"}, one.during)
	one.busy = one.proceed(f)
	w.Empty(w.broken)
	if !reads {
		w.checkHead(tree)
		w.checkHead(today)
	}
}

func (w *fixture) fate() fate {
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
func (w *fixture) start(one *writer, i int) {
	if one.request == nil {
		one.n++
		one.request = w.choose(i, fmt.Sprintf("w%d-%d", i, one.n))
	}
	one.busy = one.begin(func() {
		err := one.request(w, one.process)
		var moved *revision.ConflictError
		if errors.As(err, &moved) {
			w.races++
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

// choose returns what one of them is to do next.
func (w *fixture) choose(i int, message string) func(w *fixture, p process) error {
	switch n := w.luck.IntN(10); {
	case i == theCleaner:
		return (*fixture).clean
	case i == theReader:
		return (*fixture).readWhole
	case n == 0:
		return w.replan(message, w.luck.IntN(2) == 0)
	case n == 1:
		return (*fixture).complete
	}
	return w.edit(message, w.luck.IntN(2) == 0)
}

func (w *fixture) clean(p process) error {
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

// note keeps what a request was answered with, at its first try or a later one under the same key.
func (w *fixture) note(message string, first, keyed bool, revID string, state any, err error) {
	var moved *revision.ConflictError
	switch {
	case err == nil:
		w.acked[message] = answered{revID, state}
	case isCertain(err) && (first || keyed && errors.As(err, &moved)):
		w.denied[message] = true // with a key a refusal says so of earlier tries as well
	}
}

// edit makes a request with edits of the tree as it is found at first.
func (w *fixture) edit(message string, keyed bool) func(w *fixture, p process) error {
	var commit *values.Commit
	tries := 0
	return func(w *fixture, p process) error {
		if commit == nil {
			base, err := p.values.Open(w.ctx, user)
			if err != nil {
				return err
			}
			commit = &values.Commit{
				ParentRevID: base.Head.RevID, Message: message, Source: values.SourceWeeklyReview,
				Operations: w.operations(base.State),
			}
			if keyed {
				commit.IdempotencyKey = message
			}
			w.edits[message], w.parent[message] = commit.Operations, commit.ParentRevID
		}
		tries++
		res, err := p.values.Commit(w.ctx, user, *commit)
		w.note(message, tries == 1, keyed, res.RevID, res.State, err)
		return err
	}
}

// replan makes a request with a plan of some of the tree's actions, on the plan that is found at first.
func (w *fixture) replan(message string, keyed bool) func(w *fixture, p process) error {
	var commit *plan.Commit
	tries := 0
	return func(w *fixture, p process) error {
		if commit == nil {
			base, err := p.values.Open(w.ctx, user)
			if err != nil {
				return err
			}
			now, err := p.plans.Current(w.ctx, user, day)
			var missing *revision.NotFoundError
			if err != nil && !errors.As(err, &missing) {
				return err
			}
			commit = &plan.Commit{
				ParentRevID: now.Head.RevID, Message: message, Reason: plan.ReasonMiddayReplan, Plan: w.someOf(base.State),
			}
			if keyed {
				commit.IdempotencyKey = message
			}
			w.plans[message], w.parent[message] = commit.Plan, commit.ParentRevID
		}
		tries++
		res, err := p.plans.Commit(w.ctx, user, day, *commit)
		w.note(message, tries == 1, keyed, res.RevID, res.State, err)
		return err
	}
}

// someOf is a plan of up to thirty actions of the tree.
func (w *fixture) someOf(t values.Tree) plan.Plan {
	next := plan.Plan{}
	for _, i := range w.luck.Perm(len(t.Nodes)) {
		if n := t.Nodes[i]; n.NodeType == values.Action && !n.Deleted() && len(next.Todos) < 30 {
			next.Todos = append(next.Todos, plan.Todo{
				ActionID: n.NodeID, Order: len(next.Todos) + 1, Classification: plan.Urgent,
			})
		}
	}
	return next
}

func (w *fixture) complete(p process) error {
	now, err := p.plans.Current(w.ctx, user, day)
	if err != nil || len(now.State.Todos) == 0 {
		return err
	}
	i := w.luck.IntN(len(now.State.Todos))
	_, err = p.plans.Complete(w.ctx, user, day, now.State.Todos[i].ActionID, "", 0)
	return err
}
