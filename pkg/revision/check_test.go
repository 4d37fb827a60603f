package revision_test

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/table"
)

// checkHead requires that the head names the last entry of the log, and a snapshot that is whole and as it was
// published.
func (w *fixture) checkHead(at repository.Address) {
	head, err := w.store.Get(w.ctx, at.HeadKey())
	if err != nil {
		w.ErrorIs(err, table.ErrNotFound)
		w.Empty(w.log(at))
		return
	}
	key := at.LogKey(head.Str("headRevId"))
	w.Contains(w.was, key, "the head names a revision that was published")
	w.True(w.was[key].bytes == w.bytes(at, key), "the head names a whole snapshot, as it was published")
}

// bytes are a revision's log entry and snapshot as they are now.
func (w *fixture) bytes(at repository.Address, entry item.Key) string {
	row, err := w.store.Get(w.ctx, entry)
	w.NoError(err)
	return inBytes(append(w.snapshot(at, row.Str("revId")), row))
}

// checkLine requires that history is a line, and that every revision in it is, to the byte, as it was published.
func (w *fixture) checkLine(at repository.Address) {
	parent, last := "", ""
	for _, entry := range w.log(at) {
		revID := entry.Str("revId")
		w.Equal(parent, entry.Str("parentRevId"), "history is a line")
		w.Less(last, entry.Str("revTs"), "history rises in time")
		parent, last = revID, entry.Str("revTs")
		w.Contains(w.was, entry.Key())
		w.True(w.was[entry.Key()].bytes == w.bytes(at, entry.Key()), "revision %s is no longer what was committed", revID)
	}
	head, err := w.store.Get(w.ctx, at.HeadKey())
	if parent != "" {
		w.NoError(err)
		w.Equal(parent, head.Str("headRevId"), "the head is the end of the line")
	}
	ofThis := 0
	for key := range w.was {
		if key.PK == at.LogPK() {
			ofThis++
		}
	}
	w.Len(w.log(at), ofThis, "whatever was published is in the log")
}

// checkAnswers requires that what was answered is there once, as it was answered, and what was refused is not there.
func (w *fixture) checkAnswers() {
	times := map[string]int{}
	for _, entry := range append(w.log(tree), w.log(today)...) {
		message := entry.Str("message")
		times[message]++
		if parent, ok := w.parent[message]; ok {
			w.Equal(parent, entry.Str("parentRevId"), "a revision follows the parent that was named")
		}
		if want, ok := w.acked[message]; ok {
			w.Equal(want.revID, entry.Str("revId"))
			w.Equal(want.state, w.state(entry))
		}
	}
	for message := range w.parent {
		switch _, acked := w.acked[message]; {
		case acked:
			w.Equal(1, times[message], "%s was answered and is lost, or twice there", message)
		case w.denied[message]:
			w.Zero(times[message], "%s was refused and is there", message)
		default:
			w.LessOrEqual(times[message], 1, message)
		}
	}
}

// state is that of the revision which a log entry names.
func (w *fixture) state(entry item.Item) any {
	reader := w.process(w.store)
	if entry.Str(item.AttrPK) == today.LogPK() {
		rev, err := reader.plans.Revision(w.ctx, user, day, entry.Str("revId"))
		w.NoError(err)
		return rev.State
	}
	rev, err := reader.values.Revision(w.ctx, user, entry.Str("revId"))
	w.NoError(err)
	return rev.State
}

// checkStates replays the requests along both logs and compares.
func (w *fixture) checkStates() {
	var grown values.Tree
	for _, entry := range w.log(tree) {
		is, message := w.state(entry).(values.Tree), entry.Str("message")
		at, err := repository.RevisionTime(entry.Str("revId"))
		w.NoError(err)
		if ops, ok := w.edits[message]; ok {
			var broken revision.Violations
			w.Equal(values.Edit(&broken, grown, at, w.newID, ops), is)
			w.NoError(broken.Err())
		} else {
			d := values.Compare(grown, is)
			w.Len(d.Changed, 1, "a completion changes one node")
			w.Equal("completed "+d.Changed[0].After.NodeID, message)
			w.Equal(values.Diff{Changed: d.Changed}, d)
		}
		grown = is
	}
	var planned plan.Plan
	for _, entry := range w.log(today) {
		is, message := w.state(entry).(plan.Plan), entry.Str("message")
		if want, ok := w.plans[message]; ok {
			w.Empty(plan.Compare(want, is))
		} else {
			d := plan.Compare(planned, is)
			w.Len(d.Changed.Todos, 1, "a completion changes one to-do")
			w.Equal("completed "+d.Changed.Todos[0].After.ActionID, message)
			w.Equal(plan.Diff{Changed: d.Changed}, d)
		}
		planned = is
	}
}

// checkAsOf compares, for every second in which something was committed and those beside it, what is said to have been
// the present revision with what the line of history says; a plan and the tree agree about what was completed then.
func (w *fixture) checkAsOf() {
	var before time.Time
	for _, at := range []repository.Address{tree, today} {
		line := w.log(at)
		for i, entry := range line {
			committed := committedAt(entry)
			w.False(committed.After(w.was[entry.Key()].at), "nothing is committed before its time")
			w.False(i > 0 && committed.Before(before.Truncate(time.Second)), "nor before what it follows")
			before = w.was[entry.Key()].at
			for _, instant := range []time.Time{committed.Add(-time.Second), committed, committed.Add(time.Second)} {
				want := ""
				for _, one := range line {
					if !committedAt(one).After(instant) {
						want = one.Str("revId")
					}
				}
				w.Equal(want, w.asOf(at, instant), "as of %s", instant)
			}
		}
	}
	for _, entry := range w.log(today) {
		if action, ok := completedBy(entry); ok {
			was, err := w.process(w.store).values.AsOf(w.ctx, user, committedAt(entry))
			w.NoError(err)
			done := false
			for _, n := range was.State.Nodes {
				done = done || n.NodeID == action && !n.CompletedAt.IsZero()
			}
			w.True(done, "%s was completed in the plan, and not in the tree of that second", action)
		}
	}
}

func completedBy(entry item.Item) (action string, ok bool) {
	return strings.CutPrefix(entry.Str("message"), "completed ")
}

func committedAt(entry item.Item) time.Time {
	at, apart := entry.Time("committedAt")
	if !apart {
		at, _ = entry.Time("revTs")
	}
	return at
}

// asOf returns the revision that is said to have been the present one; empty if there was none.
func (w *fixture) asOf(at repository.Address, instant time.Time) string {
	reader := w.process(w.store)
	var revID string
	var err error
	if at == today {
		var rev plan.Revision
		rev, err = reader.plans.AsOf(w.ctx, user, day, instant)
		revID = rev.RevID
	} else {
		var rev values.Revision
		rev, err = reader.values.AsOf(w.ctx, user, instant)
		revID = rev.RevID
	}
	var missing *revision.NotFoundError
	if !errors.As(err, &missing) {
		w.NoError(err, fmt.Sprint(at))
	}
	return revID
}
