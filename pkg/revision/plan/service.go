package plan

import (
	"context"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/revision"
	"nexus/pkg/revision/values"
)

// Service manages the daily plans of all users. It is safe for concurrent use.
type Service struct {
	plans *revision.Repository[Plan]
	tree  *values.Service
	newID func() string
	now   func() time.Time
}

// New returns a service. It uses the service of the values trees, to whose actions the to-dos refer. That service, the
// clock and the source of new UUIDv4 in lower case must be those of the publisher's configuration. It panics if a part
// is missing, which is a mistake in the program.
func New(p *revision.Publisher, tree *values.Service, now func() time.Time, newID func() string) *Service {
	if tree == nil || now == nil || newID == nil {
		panic("plan: a part is missing")
	}
	return &Service{revision.New(p, shape()), tree, newID, now}
}

type (
	// Revision is a commit with its plan.
	Revision = revision.Revision[Plan]
	// Result is the revision that a write made.
	Result = revision.Result[Plan]
	// Base is a day's present plan with the head that names it.
	Base = revision.Base[Plan]
)

func repositoryOf(user, date string) (repository.Address, error) {
	at := repository.Address{User: user, Date: date}
	if date == "" {
		return at, fmt.Errorf("%w: a plan has a date", entity.ErrID)
	}
	return at, at.Check()
}

// Repository returns the repository of all plans, and its address for a user's day: for what reads and writes whole
// histories.
func (s *Service) Repository(user, date string) (*revision.Repository[Plan], repository.Address) {
	return s.plans, repository.Address{User: user, Date: date}
}

// Current returns the day's present plan, or a [*revision.NotFoundError]. One Get and one Query. Dates are YYYY-MM-DD;
// any other text, here and below, is refused with [entity.ErrID].
func (s *Service) Current(ctx context.Context, user, date string) (Base, error) {
	at, err := repositoryOf(user, date)
	if err != nil {
		return Base{}, err
	}
	return s.plans.Current(ctx, at)
}

// Revision returns any revision of the day's history, or a [*revision.NotFoundError]. One Get and one Query.
func (s *Service) Revision(ctx context.Context, user, date, revID string) (Revision, error) {
	at, err := repositoryOf(user, date)
	if err != nil {
		return Revision{}, err
	}
	return s.plans.Revision(ctx, at, revID)
}

// History returns a page of the day's log, newest first. One Query. See [revision.Repository.History].
func (s *Service) History(ctx context.Context, user, date string, limit int, before string) (revision.Page, error) {
	at, err := repositoryOf(user, date)
	if err != nil {
		return revision.Page{}, err
	}
	return s.plans.History(ctx, at, limit, before)
}

// AsOf returns the plan of the day that was the present one at the instant. Two Queries and a Get.
func (s *Service) AsOf(ctx context.Context, user, date string, instant time.Time) (Revision, error) {
	at, err := repositoryOf(user, date)
	if err != nil {
		return Revision{}, err
	}
	return s.plans.AsOf(ctx, at, instant)
}

// Diff returns the difference between one revision of the day's plan and another. Two Gets and two Queries.
func (s *Service) Diff(ctx context.Context, user, date, from, to string) (Diff, error) {
	a, err := s.Revision(ctx, user, date, from)
	if err != nil {
		return Diff{}, err
	}
	b, err := s.Revision(ctx, user, date, to)
	if err != nil {
		return Diff{}, err
	}
	return Compare(a.State, b.State), nil
}

// Commit is a new revision of a day's plan.
type Commit struct {
	ParentRevID string
	Message     string // may be empty
	Reason      string
	Plan        Plan
	// IdempotencyKey makes a repetition harmless; empty for none. Retention is that of [revision.Receipt].
	IdempotencyKey string
	Retention      time.Duration
}

// Commit makes a revision: the morning's plan, a replan, or any other. Errors are those of [revision.Publisher.Write],
// and a [*revision.RuleError] with everything that is wrong. Beyond the reads of every commit, new to-dos cost one Get
// and one BatchGet of their actions.
func (s *Service) Commit(ctx context.Context, user, date string, c Commit) (Result, error) {
	at, err := repositoryOf(user, date)
	if err != nil {
		return Result{}, err
	}
	return s.plans.Commit(ctx, revision.Request[Plan]{
		Repository: at, ParentRevID: c.ParentRevID, Message: c.Message, Source: c.Reason,
		Receipt: revision.Receipt{
			Key: c.IdempotencyKey, Retention: c.Retention,
			Request: []any{"CommitPlan", date, c.ParentRevID, c.Message, c.Reason, c.Plan},
		},
		Build: func(ctx context.Context, parent Plan, now time.Time) (Plan, error) {
			actions, err := s.actions(ctx, user, parent, c.Plan)
			if err != nil {
				return Plan{}, err
			}
			var broken revision.Violations
			s.plans.CheckCommit(&broken, c.Message, c.Reason)
			plan := s.checked(&broken, at, parent, c.Plan, now, actions)
			return plan, broken.Err()
		},
	})
}

// checked completes a plan and records every rule that it breaks.
func (s *Service) checked(
	broken *revision.Violations, at repository.Address, parent, next Plan, now time.Time, actions map[string]values.Node,
) Plan {
	next = next.clone()
	day, err := item.ParseDate(at.Date)
	if err != nil {
		panic("plan: " + err.Error()) // the address was checked
	}
	c := &checker{Violations: broken, plan: &next, before: parent, day: day, now: now, actions: actions, newID: s.newID}
	c.check()
	next.sort()
	return next
}

// actions reads the nodes of the tree that new to-dos name, as far as a plan has room for them.
func (s *Service) actions(ctx context.Context, user string, parent, next Plan) (map[string]values.Node, error) {
	var ids []string
	for _, t := range next.Todos {
		if parent.todo(t.ActionID) < 0 && len(ids) < MaxTodos {
			ids = append(ids, t.ActionID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return s.tree.Nodes(ctx, user, ids)
}

// Rollback makes a revision whose plan is that of an earlier one of the day, row for row.
func (s *Service) Rollback(
	ctx context.Context, user, date, parentRevID, revID, message, idempotencyKey string,
) (Result, error) {
	at, err := repositoryOf(user, date)
	if err != nil {
		return Result{}, err
	}
	return s.plans.Rollback(ctx, at, parentRevID, revID, message, revision.Receipt{
		Key: idempotencyKey, Request: []any{"RollbackPlan", date, parentRevID, revID, message},
	})
}
