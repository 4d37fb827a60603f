package simulate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"nexus/pkg/entity/repository"
	"nexus/pkg/port"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
)

// useRepository lets a user commit, prune, roll over, delete or read a repository.
func (h *history) useRepository(user string) {
	if h.mixture.former != nil {
		return // no filter lets heads pass to that release
	}
	s := h.oracle.users[user]
	for range 1 + h.luck.IntN(4) {
		if h.isAway(user) {
			return
		}
		switch n := h.luck.IntN(20); {
		case n < 9:
			h.commitHead(s)
		case n < 10:
			h.forgetNodes(s)
		case n < 12:
			h.begin(h.prune(s))
		case n < 14:
			h.begin(h.rollOver(s))
		case n < 15:
			h.begin(h.deletePlan(s))
		case n < 16:
			h.begin(h.sweepPruned(s))
		default:
			h.begin(h.readRevision(s))
		}
	}
}

// commitHead makes a revision of a user's values or of a day's plan. It takes place at once.
func (h *history) commitHead(s *userState) {
	if h.limits != nil && !h.isAway(s.user) {
		h.commitOverHTTP(s)
		return
	}
	var err error
	if tree := s.repositoryOf(repository.Address{User: s.user}); h.luck.one(2) || len(s.nodes) == 0 {
		_, err = h.direct.Values.Commit(noContext, s.user, values.Commit{
			ParentRevID: tree.head, Message: "m", Source: values.SourceDailyUpdate, Operations: h.someEdits(s),
		})
	} else {
		at := repository.Address{User: s.user, Date: h.someDay(s)}
		_, err = h.direct.Plans.Commit(noContext, s.user, at.Date, plan.Commit{
			ParentRevID: s.repositoryOf(at).head, Reason: plan.ReasonMorningPlan, Plan: s.somePlan(h),
		})
	}
	h.absorb(nil)
	h.note("%s commits: %v", s.user, err)
	if err != nil {
		h.violate("I14", s.user, "head", "a commit is answered %v", err)
		return
	}
	h.happened["head committed"]++
}

// someDay is a day with a plan, or any of the next days.
func (h *history) someDay(s *userState) string {
	if dates := s.dates(); len(dates) > 0 && h.luck.one(2) {
		return dates[h.luck.IntN(len(dates))]
	}
	return h.now.AddDate(0, 0, h.luck.IntN(pick(h.luck, 3, 85))).Format(time.DateOnly)
}

// someEdits are operations on the user's tree: a driver first, then an action with a word of its own, or the end of
// one.
func (h *history) someEdits(s *userState) []values.Operation {
	if len(s.nodes) == 0 {
		s.driver = "drv_" + h.newID()
		s.nodes = append(s.nodes, &knownNode{id: s.driver, word: h.newWord(s)})
		return []values.Operation{create(s.driver, values.Driver, s.nodes[0].word, "")}
	}
	if i := 1 + h.luck.IntN(len(s.nodes)); i < len(s.nodes) && !s.nodes[i].deleted && h.luck.one(2) {
		s.nodes[i].deleted = true
		return []values.Operation{{Kind: values.OpDelete, NodeID: s.nodes[i].id}}
	}
	n := &knownNode{id: "act_" + h.newID(), word: h.newWord(s)}
	s.nodes = append(s.nodes, n)
	return []values.Operation{create(n.id, values.Action, n.word, s.driver)}
}

func create(id string, t values.NodeType, word, parent string) values.Operation {
	title, notes := "title "+word, "notes "+word
	return values.Operation{
		Kind: values.OpCreate, NodeID: id, NodeType: t, Title: &title, Notes: &notes, ParentID: parent,
	}
}

// newWord is a word that nothing else contains.
func (h *history) newWord(s *userState) string {
	return fmt.Sprintf("word-%s-%d-", s.user, len(s.nodes))
}

// somePlan is a plan of some actions that are not deleted.
func (s *userState) somePlan(h *history) plan.Plan {
	var p plan.Plan
	for _, n := range s.nodes[1:] {
		if !n.deleted && h.luck.one(2) && len(p.Todos) < 5 {
			p.Todos = append(p.Todos, plan.Todo{ActionID: n.id, Classification: plan.Other})
		}
	}
	return p
}

// forgetNodes has a user forget all deleted nodes.
func (h *history) forgetNodes(s *userState) {
	var ops []values.Operation
	for _, n := range s.nodes {
		if n.deleted && !n.forgotten {
			n.forgotten = true
			ops = append(ops, values.Operation{Kind: values.OpForget, NodeID: n.id})
		}
	}
	if len(ops) == 0 {
		return
	}
	_, err := h.direct.Values.Commit(noContext, s.user, values.Commit{
		ParentRevID: s.repositoryOf(repository.Address{User: s.user}).head, Message: "m", Source: values.SourceDailyUpdate,
		Operations: ops,
	})
	h.absorb(nil)
	if err != nil {
		h.violate("I14", s.user, "forget", "is answered %v", err)
	}
	h.happened["node forgotten"]++
}

// keepSome is a line below which a history is pruned.
func (h *history) keepSome() revision.Keep {
	if h.luck.one(3) {
		return revision.Keep{Since: h.now.Add(-time.Duration(h.luck.IntN(72)) * time.Hour)}
	}
	return revision.Keep{Last: 1 + h.luck.IntN(3)}
}

// prune shortens the history of the values or of a plan.
func (h *history) prune(s *userState) *worker {
	keep, date := h.keepSome(), ""
	if h.luck.one(2) {
		date = h.someDay(s)
	}
	return h.keeping(s, "prunes "+date, func(ctx context.Context) error {
		if date == "" {
			_, err := h.keeper.Values.Prune(ctx, s.user, revision.Pruning{Keep: keep})
			return err
		}
		_, err := h.keeper.Plans.Prune(ctx, s.user, date, revision.Pruning{Keep: keep})
		return err
	})
}

func (h *history) rollOver(s *userState) *worker {
	date := h.someDay(s)
	return h.keeping(s, "rolls over "+date, func(ctx context.Context) error {
		_, err := h.keeper.Plans.Rollover(ctx, s.user, date, "", 0)
		return err
	})
}

// deletePlan has a user delete a plan, often one whose next day has a plan, too, and may name it.
func (h *history) deletePlan(s *userState) *worker {
	date, dates := h.someDay(s), s.dates()
	before := slices.DeleteFunc(slices.Clone(dates), func(date string) bool {
		day, err := time.Parse(time.DateOnly, date)
		return err != nil || !slices.Contains(dates, day.AddDate(0, 0, 1).Format(time.DateOnly))
	})
	if len(before) > 0 && h.luck.one(2) {
		date = before[h.luck.IntN(len(before))]
	}
	return h.keeping(s, "deletes the plan of "+date, func(ctx context.Context) error {
		_, err := h.keeper.Plans.Delete(ctx, s.user, date, "")
		return err
	})
}

// sweepPruned is one user's part of the job, for a user who keeps a few days, or everything.
func (h *history) sweepPruned(s *userState) *worker {
	days, at := h.luck.IntN(3), h.now
	return h.keeping(s, "has the job done", func(ctx context.Context) error {
		_, err := h.keeper.Plans.PruneAll(ctx, s.user, days, at)
		return err
	})
}

// keeping is a request about repositories. Its only answers are that another was faster, that there is nothing, or that
// the next day names it. No request but a read of an earlier revision finds that anything was pruned.
func (h *history) keeping(s *userState, what string, do func(ctx context.Context) error) *worker {
	w := &worker{kind: commanding, name: s.user + " " + what}
	var err error
	w.finished = func() {
		h.note("%s: %v", w.name, err)
		var (
			missing *revision.NotFoundError
			named   *revision.NamedError
			rules   *revision.RuleError
			away    *awayError
		)
		switch {
		case errors.As(err, &away):
		case err == nil, isPassing(err), port.IsOutage(err):
		case errors.As(err, &missing), errors.As(err, &rules):
		case errors.As(err, &named):
			h.happened["plan that the next day names"]++
		default:
			h.violate("I14", s.user, what, "is answered %v", err)
		}
	}
	return h.start(w, func(ctx context.Context) {
		if err = h.admit(ctx, s.user); err == nil {
			err = do(ctx)
		}
	}, s.user)
}

// readRevision reads the present tree, any revision, or that of an instant: it is whole, or it was pruned.
func (h *history) readRevision(s *userState) *worker {
	at := repository.Address{User: s.user}
	r := s.repositoryOf(at)
	instant := h.now.Add(-2*time.Minute - time.Duration(h.luck.IntN(100))*time.Hour)
	how, revID, want := h.luck.IntN(3), "", r.asOf(instant)
	if len(r.line) > 0 {
		revID = r.line[h.luck.IntN(len(r.line))].revID
	}
	w := &worker{kind: serving, name: s.user + " reads the tree", readOnly: true}
	var got values.Revision
	var err error
	w.finished = func() {
		var (
			missing *revision.NotFoundError
			gone    *revision.PrunedError
		)
		switch rows := len(got.State.Nodes) + len(got.State.Edges); {
		case errors.As(err, &gone) && how > 0 && r.wasPruned:
			h.happened["read of what was pruned"]++
		case errors.As(err, &missing) && (len(r.line) == 0 || how == 2 && want == "" || revID == ""):
		case err != nil && (isPassing(err) || port.IsOutage(err)):
		case err != nil:
			h.violate("I14", s.user, got.RevID, "a read of the tree (%d) is answered %v", how, err)
		case rows != r.sizes[got.RevID]:
			h.violate("I14", s.user, got.RevID, "is read with %d rows and has %d", rows, r.sizes[got.RevID])
		case how == 1 && got.RevID != revID, how == 2 && got.RevID != want:
			h.violate("I14", s.user, got.RevID, "is read in the place of %s or %s", revID, want)
		}
	}
	return h.start(w, func(ctx context.Context) {
		switch {
		case how == 0 || revID == "":
			var base values.Base
			base, err = h.keeper.Values.Current(ctx, s.user)
			got.RevID, got.State = base.Head.RevID, base.State
			how = 0
		case how == 1:
			got, err = h.keeper.Values.Revision(ctx, s.user, revID)
		default:
			got, err = h.keeper.Values.AsOf(ctx, s.user, instant)
		}
	}, s.user)
}

// forgetAll has every user forget what is deleted, and prune everything.
func (h *history) forgetAll() {
	for _, user := range h.users {
		s := h.oracle.users[user]
		h.forgetNodes(s)
		_, err := h.direct.Plans.PruneAll(noContext, user, 1, h.now.AddDate(1, 0, 0))
		h.absorb(nil)
		if err != nil {
			h.violate("I14", user, "prune", "is answered %v", err)
		}
	}
}

// checkForgotten removes what was pruned, once no reader can be at it, and checks that no forgotten word is left.
func (h *history) checkForgotten() {
	h.now = h.now.Add(revision.Patience)
	for _, user := range h.users {
		if _, err := h.direct.Plans.PruneAll(noContext, user, 0, h.now); err != nil {
			h.violate("I14", user, "prune", "is answered %v", err)
		}
	}
	h.absorb(nil)
	all := slices.DeleteFunc(h.everything(), func(one placed) bool { return isOfExports(one.name) })
	for _, user := range h.users {
		s := h.oracle.users[user]
		for _, n := range s.nodes {
			if where := placeOf(all, n.word); n.forgotten && where != "" {
				h.violate("I14", user, n.id, "was forgotten, and its word is in %s", where)
			} else if !n.forgotten && where == "" {
				h.violate("I14", user, n.id, "has lost its words")
			}
		}
		for _, date := range s.dates() {
			s.checkRepository(h, repository.Address{User: user, Date: date})
		}
	}
}

// dates are those of the user's plans.
func (s *userState) dates() []string {
	var dates []string
	for ref := range s.heads {
		if ref.Type == planHead {
			dates = append(dates, ref.ID)
		}
	}
	slices.Sort(dates)
	return dates
}
