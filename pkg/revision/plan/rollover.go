package plan

import (
	"context"
	"errors"
	"time"

	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/revision"
	"nexus/pkg/revision/values"
)

// Rollover is the outcome for the next day's plan.
type Rollover struct {
	// Next is the next day's plan as it is now.
	Next Base
	// Carried are the actions whose to-dos were appended to it; empty if nothing changed.
	Carried []string
	// Left are the to-dos that were not carried because of their actions' present state in the values tree.
	Left []Left
	// Replayed says that the rollover had been carried out before under the same idempotency key.
	Replayed bool
}

// Left is an unfinished to-do that is not carried over, because its action cannot be planned again.
type Left struct {
	ActionID string     `json:"actionId"`
	Reason   LeftReason `json:"reason"`
}

// LeftReason is the action's state in the values tree.
type LeftReason string

// Reasons for which a to-do is not carried.
const (
	LeftCompleted LeftReason = "completed" // in the tree, or in another day's plan and so in the tree
	LeftArchived  LeftReason = "archived"
	LeftDeleted   LeftReason = "deleted"
	LeftMissing   LeftReason = "missing" // a rollback restored a tree that did not have it yet
)

// Rollover appends the day's unfinished to-dos to the next day's plan, in their order and with their classification,
// and leaves the day's own plan unchanged. It does not carry actions that the values tree has since completed,
// archived or deleted, and lists them. Repeating it changes nothing: the next day's head names the revision that was
// rolled over. Its unfinished to-dos are not carried a second time, even if they were removed from the next day's plan
// since. A [*revision.NotFoundError] if the day has no plan, a [*revision.RuleError] if the next day's has no room.
//
// The retention is that of [revision.Receipt].
func (s *Service) Rollover(
	ctx context.Context, user, date, idempotencyKey string, retention time.Duration,
) (Rollover, error) {
	at, err := repositoryOf(user, date)
	if err != nil {
		return Rollover{}, err
	}
	nextDay, err := dayAfter(at)
	if err != nil {
		return Rollover{}, err
	}
	var out Rollover
	receipt := revision.Receipt{Key: idempotencyKey, Retention: retention, Request: []any{"RolloverPlan", date}}
	revIDs, replayed, err := s.plans.Write(ctx, user, receipt, false,
		func(ctx context.Context) ([]*revision.Prepared, error) {
			from, err := s.plans.Current(ctx, at)
			if err != nil {
				return nil, err
			}
			if out.Next, err = s.plans.Open(ctx, nextDay); err != nil {
				return nil, err
			}
			out.Carried, out.Left = nil, nil
			todos, err := s.unfinished(ctx, from, out.Next)
			if err != nil {
				return nil, err
			}
			if todos, out.Left, err = s.stillOpen(ctx, user, todos); err != nil || len(todos) == 0 {
				return nil, err
			}
			return s.carry(&out, from, todos)
		})
	if out.Replayed = replayed; err == nil && replayed {
		out.Carried, out.Left = nil, nil // of an attempt that lost to its twin
		out.Next, err = s.plans.Current(ctx, nextDay)
		err = revision.PrunedSince(err, revIDs[0])
	}
	if err != nil {
		return Rollover{}, err
	}
	return out, nil
}

func dayAfter(at repository.Address) (repository.Address, error) {
	day, err := item.ParseDate(at.Date)
	if err != nil {
		return at, err
	}
	at.Date = item.FormatDate(day.AddDate(0, 0, 1))
	return at, at.Check()
}

// unfinished returns the to-dos to be carried: those not done, not in the next plan, and not carried before.
func (s *Service) unfinished(ctx context.Context, from, next Base) ([]Todo, error) {
	if next.Head.RolledFromRevID == from.Head.RevID {
		return nil, nil
	}
	var carried Plan
	if next.Head.RolledFromRevID != "" {
		var err error
		if carried, err = s.carried(ctx, from.Repository, next); err != nil {
			return nil, err
		}
	}
	var todos []Todo
	for _, t := range from.State.Todos {
		i := carried.todo(t.ActionID)
		again := i >= 0 && !carried.Todos[i].Done()
		if !t.Done() && !again && next.State.todo(t.ActionID) < 0 {
			todos = append(todos, t)
		}
	}
	return todos, nil
}

// carried returns the plan that was rolled over last. It is in the log as long as the next day's head names it. If it
// is not, the head names another one by now, and the rollover starts again. The release before names a revision without
// a check that it was not pruned in that moment: what it carried is not known, and counts as nothing.
func (s *Service) carried(ctx context.Context, from repository.Address, next Base) (Plan, error) {
	before, err := s.plans.Revision(ctx, from, next.Head.RolledFromRevID)
	var (
		missing *revision.NotFoundError
		pruned  *revision.PrunedError
	)
	if !errors.As(err, &missing) && !errors.As(err, &pruned) {
		return before.State, err
	}
	head, err := s.plans.Head(ctx, next.Repository)
	if err == nil && head.RolledFromRevID != next.Head.RolledFromRevID {
		err = revision.ErrOutdated
	}
	return Plan{}, err
}

// stillOpen divides to-dos by whether their actions are open in the present tree. One Get and one BatchGet.
func (s *Service) stillOpen(ctx context.Context, user string, todos []Todo) (open []Todo, left []Left, err error) {
	if len(todos) == 0 {
		return nil, nil, nil
	}
	ids := make([]string, len(todos))
	for i, t := range todos {
		ids[i] = t.ActionID
	}
	nodes, err := s.tree.Nodes(ctx, user, ids)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range todos {
		if reason := whyLeft(nodes, t.ActionID); reason != "" {
			left = append(left, Left{t.ActionID, reason})
			continue
		}
		open = append(open, t)
	}
	return open, left, nil
}

// whyLeft returns why an action is not carried; empty for one that is still to be done.
func whyLeft(nodes map[string]values.Node, actionID string) LeftReason {
	switch n, ok := nodes[actionID]; {
	case !ok:
		return LeftMissing
	case n.Deleted():
		return LeftDeleted
	case !n.CompletedAt.IsZero():
		return LeftCompleted
	case n.Archived:
		return LeftArchived
	}
	return ""
}

// carry prepares the next day's plan with the to-dos after its own.
func (s *Service) carry(out *Rollover, from Base, todos []Todo) ([]*revision.Prepared, error) {
	plan := out.Next.State.clone()
	for _, t := range todos {
		t.Order = len(plan.Todos) + 1
		plan.Todos = append(plan.Todos, t)
		out.Carried = append(out.Carried, t.ActionID)
	}
	var broken revision.Violations
	if len(plan.Todos) > MaxTodos {
		broken.Add(RuleTooManyTodos, "", "", "the next day's plan has at most %d to-dos and would have %d", MaxTodos,
			len(plan.Todos))
		return nil, broken.Err()
	}
	return []*revision.Prepared{s.prepare(&out.Next, plan, revision.Change[Plan]{
		Source: ReasonRollover, Message: "rolled over from " + from.Repository.Date,
		RolledFrom: from.Repository, RolledFromRevID: from.Head.RevID,
	})}, nil
}

// prepare makes a revision of the plan, and updates base to the state after its publication.
func (s *Service) prepare(base *Base, plan Plan, c revision.Change[Plan]) *revision.Prepared {
	c.State = plan
	prepared := s.plans.Prepare(*base, s.plans.When(base.Head), c)
	made := prepared.Commit()
	base.Head.RevID, base.Head.RevTs, base.State = made.RevID, made.RevTs, plan
	base.Head.UpdatedAt = s.now().UTC().Truncate(time.Second)
	if c.RolledFromRevID != "" {
		base.Head.RolledFromRevID = c.RolledFromRevID
	}
	return prepared
}
