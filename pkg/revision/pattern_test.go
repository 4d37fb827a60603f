package revision_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local/engine/enginetest"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/table"
	"nexus/pkg/table/dynamo"
	"nexus/pkg/table/memory"
)

// pattern is one way to use a repository: a row of the tables in docs/repositories.md, and what is done for it.
type pattern struct {
	name, route, calls string
	do                 func(p process) error
}

// row is how the document shows a pattern: with its calls counted, and each with its key condition.
func (p pattern) row() string {
	var ops, counts []string
	times := map[string]int{}
	for _, call := range strings.Split(p.calls, "<br>") {
		op := strings.Fields(call)[0]
		if times[op]++; times[op] == 1 {
			ops = append(ops, op)
		}
	}
	for _, op := range ops {
		counts = append(counts, fmt.Sprint(times[op], " ", op))
	}
	return fmt.Sprintf("| %s | %s | %s | %s |", p.name, p.route, strings.Join(counts, " + "), p.calls)
}

// Calls, as the document has them.
const (
	readTree     = "Get `PK = U#u, SK = HEAD#VALUES`<br>Query `PK = U#u#VALUES#<revId>`"
	readTreeLog  = "Get `PK = U#u, SK = REV#VALUES#<Z>#<revId>`"
	readSnapshot = "Query `PK = U#u#VALUES#<revId>`"
	children     = "Query `PK = U#u#VALUES#<revId>, begins_with(SK, EDGE#<nodeId>#)`"
	readPlan     = "Get `PK = U#u#PLAN#<date>, SK = HEAD`<br>Query `PK = U#u#PLAN#<date>#<revId>`"
	readPlanned  = "Get `PK = U#u#PLAN#<date>, SK = REV#<Z>#<revId>`<br>Query `PK = U#u#PLAN#<date>#<revId>`"
	moveTree     = "PK = U#u, SK = HEAD#VALUES if headRevId as read; PK = U#u, SK = REV#VALUES#<Z>#<revId> if absent"
	movePlan     = "PK = U#u#PLAN#<date>, SK = HEAD if headRevId as read; PK = U#u#PLAN#<date>, SK = REV#<Z>#<revId> if " +
		"absent"
	newPlan = "PK = U#u#PLAN#<date>, SK = HEAD if absent; PK = U#u#PLAN#<date>, SK = REV#<Z>#<revId> if absent; PK = " +
		"U#u#PLAN#<date>, SK = REV#<Z>#<revId> if present"
	removedTree = readTreeLog + "<br>" + readSnapshot + "<br>Transact `PK = U#u#VALUES#<revId>`<br>" +
		"Delete `PK = U#u, SK = DRAFT#VALUES#<revId>`"
	removedPlan = readPlanned + "<br>Transact `PK = U#u#PLAN#<date>#<revId>`<br>" +
		"Delete `PK = U#u, SK = DRAFT#PLAN#<date>#<revId>`"
	readActions = "Get `PK = U#u, SK = HEAD#VALUES`<br>BatchGet `PK = U#u#VALUES#<revId>, SK = NODE#<nodeId>`"
)

// shelf is a tree with two revisions and a plan with two.
type shelf struct {
	*require.Assertions
	*recorder
	now           time.Time
	ids           int
	p             process
	first, second string // of the tree
	planned       [2]string
	drv           string
	acts          []string
}

func newShelf(t *testing.T, store table.Store, r *recorder) *shelf {
	s := &shelf{Assertions: require.New(t), recorder: r, now: time.Date(2026, 1, 19, 9, 0, 0, 0, time.UTC)}
	r.Store = store
	publisher := revision.NewPublisher(revision.Config{Store: r, Now: s.clock, NewID: s.newID})
	tree := values.New(publisher, s.newID)
	s.p = process{publisher, tree, plan.New(publisher, tree, s.clock, s.newID)}

	title := "a title"
	s.drv = "drv_" + s.newID()
	ops := []values.Operation{{Kind: values.OpCreate, NodeID: s.drv, NodeType: values.Driver, Title: &title}}
	for range 3 {
		id := "act_" + s.newID()
		s.acts = append(s.acts, id)
		ops = append(ops, values.Operation{
			Kind: values.OpCreate, NodeID: id, NodeType: values.Action, Title: &title, ParentID: s.drv,
		})
	}
	for i, at := range []*string{&s.first, &s.second} {
		res, err := s.p.values.Commit(t.Context(), user, values.Commit{
			ParentRevID: s.first, Message: "m", Source: values.SourceWeeklyReview, Operations: ops,
		})
		s.NoError(err)
		*at, ops = res.RevID, []values.Operation{{Kind: values.OpUpdate, NodeID: s.drv, Title: &title}}
		planned, err := s.p.plans.Commit(t.Context(), user, day, plan.Commit{
			ParentRevID: s.planned[0], Reason: plan.ReasonMorningPlan, Plan: s.plan(i + 1),
		})
		s.NoError(err)
		s.planned[i] = planned.RevID
		s.now = s.now.Add(time.Hour)
	}
	return s
}

func (s *shelf) clock() time.Time { return s.now }

func (s *shelf) newID() string {
	s.ids++
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", s.ids, s.ids)
}

// plan has so many of the actions.
func (s *shelf) plan(n int) plan.Plan {
	var p plan.Plan
	for _, id := range s.acts[:n] {
		p.Todos = append(p.Todos, plan.Todo{ActionID: id, Classification: plan.Important})
	}
	return p
}

func TestRevision_queriesHaveTheStatedConditionsOnBothStores(t *testing.T) {
	if os.Getenv("NEXUS_UNCOUNTED") != "" {
		t.Skip("it counts calls, and a mutant is to be noticed without that")
	}
	t.Parallel()
	document, err := os.ReadFile("../../docs/repositories.md")
	require.NoError(t, err)
	for name, open := range map[string]func(t *testing.T, r *recorder) table.Store{
		"memory": func(_ *testing.T, r *recorder) table.Store {
			return memory.New(time.Now, memory.Options{Observer: r.observe})
		},
		"engine": func(t *testing.T, r *recorder) table.Store {
			endpoint, name := enginetest.Table(t)
			return dynamo.New(enginetest.Client(endpoint), dynamo.WithTable(name), dynamo.WithObserver(r.observe))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &recorder{}
			s := newShelf(t, open(t, r), r)
			for _, one := range append(s.reads(t), s.writes(t)...) {
				r.calls, r.trips = nil, nil
				require.NoError(t, one.do(s.p), one.name)
				require.Equal(t, one.calls, strings.Join(r.calls, "<br>"), one.name)
				require.Contains(t, string(document), one.row()+"\n")
				var ops []string
				for _, call := range r.calls {
					ops = append(ops, strings.Fields(call)[0])
				}
				require.Equal(t, ops, r.trips, "%s: the store made as many round trips", one.name)
				s.now = s.now.Add(time.Minute)
			}
		})
	}
}

// reads are the query patterns: those of the source document, and those that keeping history also asks for.
func (s *shelf) reads(t *testing.T) []pattern {
	ctx := t.Context()
	whole := func(err error, rows, want int) error {
		s.Equal(want, rows)
		return err
	}
	return []pattern{
		{"the present tree", "`GET /v1/values`", readTree, func(p process) error {
			base, err := p.values.Current(ctx, user)
			return whole(err, len(base.State.Nodes), 4)
		}},
		{"history of the tree, a page", "`GET /v1/values/revisions`",
			"Query `PK = U#u, begins_with(SK, REV#VALUES#), newest first`", func(p process) error {
				page, err := p.values.History(ctx, user, 0, "")
				return whole(err, len(page.Commits), 2)
			}},
		{"children of a node, the revision being known", "in the code", children, func(p process) error {
			edges, err := p.values.Children(ctx, user, s.first, s.drv)
			return whole(err, len(edges), 3)
		}},
		{"children of a node now", "`GET /v1/values/nodes/{nodeId}/children`",
			"Get `PK = U#u, SK = HEAD#VALUES`<br>" + children, func(p process) error {
				head, err := p.values.Head(ctx, user)
				s.NoError(err)
				edges, err := p.values.Children(ctx, user, head.RevID, s.drv)
				return whole(err, len(edges), 3)
			}},
		{"children of a node in a revision", "`GET /v1/values/revisions/{revId}/nodes/{nodeId}/children`",
			readTreeLog + "<br>" + children, func(p process) error {
				entry, err := p.values.Entry(ctx, user, s.first)
				s.NoError(err)
				edges, err := p.values.Children(ctx, user, entry.RevID, s.drv)
				return whole(err, len(edges), 3)
			}},
		{"the present plan of a day", "`GET /v1/plans/{date}`", readPlan, func(p process) error {
			base, err := p.plans.Current(ctx, user, day)
			return whole(err, len(base.State.Todos), 2)
		}},
		{"history of a plan, a page", "`GET /v1/plans/{date}/revisions`",
			"Query `PK = U#u#PLAN#<date>, begins_with(SK, REV#), newest first`", func(p process) error {
				page, err := p.plans.History(ctx, user, day, 0, "")
				return whole(err, len(page.Commits), 2)
			}},
		{"any revision of the tree", "`GET /v1/values/revisions/{revId}`", readTreeLog + "<br>" + readSnapshot,
			func(p process) error {
				rev, err := p.values.Revision(ctx, user, s.first)
				return whole(err, len(rev.State.Nodes), 4)
			}},
		{"any revision of a plan", "`GET /v1/plans/{date}/revisions/{revId}`", readPlanned, func(p process) error {
			rev, err := p.plans.Revision(ctx, user, day, s.planned[0])
			return whole(err, len(rev.State.Todos), 1)
		}},
		{"the tree as of an instant", "`GET /v1/values?at=`",
			"Query `PK = U#u, SK BETWEEN REV#VALUES# AND REV#VALUES#<Z>$, newest first`<br>" + readTree,
			func(p process) error {
				rev, err := p.values.AsOf(ctx, user, s.now)
				s.Equal(s.second, rev.RevID)
				return whole(err, len(rev.State.Nodes), 4)
			}},
		{"a plan as of an instant", "`GET /v1/plans/{date}?at=`",
			"Query `PK = U#u#PLAN#<date>, SK BETWEEN REV# AND REV#<Z>$, newest first`<br>" + readPlan,
			func(p process) error {
				rev, err := p.plans.AsOf(ctx, user, day, s.now)
				return whole(err, len(rev.State.Todos), 2)
			}},
		{"a difference of trees", "`GET /v1/values/diff`",
			strings.Join([]string{readTreeLog, readSnapshot, readTreeLog, readSnapshot}, "<br>"), func(p process) error {
				_, err := p.values.Diff(ctx, user, s.first, s.second)
				return err
			}},
		{"a difference of plans", "`GET /v1/plans/{date}/diff`", readPlanned + "<br>" + readPlanned, func(p process) error {
			d, err := p.plans.Diff(ctx, user, day, s.planned[0], s.planned[1])
			return whole(err, len(d.Added.Todos), 1)
		}},
		{"nodes of the present tree by their ids", "in a commit of a plan", readActions, func(p process) error {
			nodes, err := p.values.Nodes(ctx, user, s.acts)
			return whole(err, len(nodes), 3)
		}},
		{"abandoned snapshots of a user", "`nexus verify`", "Query `PK = U#u, begins_with(SK, DRAFT#)`",
			func(p process) error {
				orphans, err := p.publisher.Orphans(ctx, user)
				return whole(err, len(orphans), 0)
			}},
	}
}

// writes are the patterns that make revisions.
func (s *shelf) writes(t *testing.T) []pattern {
	ctx := t.Context()
	title := "another title"
	edit := func(p process, ops ...values.Operation) error {
		head, err := s.head()
		if err != nil {
			return err
		}
		_, err = p.values.Commit(ctx, user, values.Commit{
			ParentRevID: head, Message: "m", Source: values.SourceDailyUpdate, Operations: ops,
		})
		return err
	}
	draft := "PK = U#u, SK = DRAFT#VALUES#<revId>"
	return []pattern{
		{"a commit to the tree, up to a hundred actions", "`POST /v1/values/revisions`",
			readTree + "<br>Transact `" + moveTree + "`", func(p process) error {
				return edit(p, values.Operation{Kind: values.OpUpdate, NodeID: s.drv, Title: &title})
			}},
		{"a plan with to-dos that it had not", "`POST /v1/plans/{date}/revisions`",
			readPlan + "<br>" + readActions + "<br>Transact `" + movePlan + "`", func(p process) error {
				_, err := p.plans.Commit(ctx, user, day, plan.Commit{
					ParentRevID: s.planned[1], Reason: plan.ReasonMiddayReplan, Plan: s.plan(3),
				})
				return err
			}},
		{"a completion", "`POST /v1/plans/{date}/complete`",
			readPlan + "<br>" + readTree + "<br>Transact `" + movePlan + "; " + moveTree + "`", func(p process) error {
				_, err := p.plans.Complete(ctx, user, day, s.acts[0], "", 0)
				return err
			}},
		{"a rollover", "`POST /v1/plans/{date}/rollover`", readPlan + "<br>Get `PK = U#u#PLAN#<date>, SK = HEAD`<br>" +
			readActions + "<br>Transact `" + newPlan + "`", func(p process) error {
			r, err := p.plans.Rollover(ctx, user, day, "", 0)
			s.Len(r.Carried, 2)
			return err
		}},
		{"a rollback of a plan", "`POST /v1/plans/{date}/rollback`",
			readPlan + "<br>" + readPlanned + "<br>Transact `" + movePlan + "`", func(p process) error {
				head, err := s.Get(ctx, today.HeadKey())
				s.NoError(err)
				s.calls, s.trips = nil, nil
				_, err = p.plans.Rollback(ctx, user, day, head.Str("headRevId"), s.planned[0], "", "")
				return err
			}},
		{"a larger commit to the tree", "`POST /v1/values/revisions`",
			readTree + "<br>Put `" + draft + "`<br>Load `PK = U#u#VALUES#<revId>`<br>Transact `" + moveTree + "; " + draft +
				" if status as read`", func(p process) error {
				var ops []values.Operation
				for range 120 {
					ops = append(ops, values.Operation{Kind: values.OpCreate, NodeType: values.Driver, Title: &title})
				}
				return edit(p, ops...)
			}},
		{"a pruning of the tree, by one revision", "`POST /v1/values/prune`",
			"Get `PK = U#u, SK = HEAD#VALUES`<br>Query `PK = U#u, begins_with(SK, REV#VALUES#)`<br>Transact `PK = U#u, SK = " +
				"REV#VALUES#<Z>#<revId> if present; " + draft + " if absent; PK = U#u, SK = HEAD#VALUES if headRevId as read`",
			func(p process) error {
				done, err := p.values.Prune(ctx, user, revision.Pruning{Keep: revision.Keep{Last: 4}})
				s.Equal(1, done.Revisions)
				return err
			}},
		{"a pruning of a plan, by one revision", "`POST /v1/plans/{date}/prune`",
			"Get `PK = U#u#PLAN#<date>, SK = HEAD`<br>Get `PK = U#u#PLAN#<date>, SK = HEAD`<br>Query `PK = U#u#PLAN#<date>, " +
				"begins_with(SK, REV#)`<br>Transact `PK = U#u#PLAN#<date>, SK = REV#<Z>#<revId> if present; PK = U#u, SK = " +
				"DRAFT#PLAN#<date>#<revId> if absent; PK = U#u#PLAN#<date>, SK = HEAD if rolledFromRevId as read; PK = " +
				"U#u#PLAN#<date>, SK = HEAD if headRevId as read`", func(p process) error {
				done, err := p.plans.Prune(ctx, user, day, revision.Pruning{Keep: revision.Keep{Last: 4}})
				s.Equal(1, done.Revisions)
				return err
			}},
		{"removal of what was pruned, of two revisions", "with each pruning",
			"Query `PK = U#u, begins_with(SK, DRAFT#)`<br>" + removedPlan + "<br>" + removedTree,
			func(p process) error {
				s.now = s.now.Add(revision.Patience)
				_, _, err := p.publisher.Sweep(ctx, user, 100)
				return err
			}},
	}
}

// head reads the tree's head without being counted.
func (s *shelf) head() (string, error) {
	base, err := s.p.values.Head(context.Background(), user)
	s.calls, s.trips = nil, nil
	return base.RevID, err
}
