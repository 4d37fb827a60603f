package plan

import (
	"context"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/revision"
)

// Rollover is what became of the next day's plan.
type Rollover struct {
	// Next is the next day's plan as it is now.
	Next Base
	// Carried are the actions whose to-dos were appended to it; none if nothing was to be changed.
	Carried []string
	// Replayed says that the rollover had been carried out before under the same idempotency key.
	Replayed bool
}

// Rollover appends the day's unfinished to-dos to the next day's plan, in their order and with their classification, and
// leaves the day's own plan as it is. Repeating it changes nothing: the next day's head names the revision that was rolled
// over, and what was unfinished in it is not carried a second time, even if it was taken out of the next day's plan since.
// A [*revision.NotFoundError] if the day has no plan, a [*revision.RuleError] if the next day's has no room.
func (s *Service) Rollover(ctx context.Context, user, date, idempotencyKey string) (Rollover, error) {
	at, err := of(user, date)
	if err != nil {
		return Rollover{}, err
	}
	nextDay, err := dayAfter(at)
	if err != nil {
		return Rollover{}, err
	}
	var out Rollover
	receipt := revision.Receipt{Key: idempotencyKey, Request: []any{"RolloverPlan", date}}
	_, out.Replayed, err = s.plans.Write(ctx, user, receipt, false, func(ctx context.Context) ([]*revision.Prepared, error) {
		from, err := s.plans.Current(ctx, at)
		if err != nil {
			return nil, err
		}
		if out.Next, err = s.plans.Open(ctx, nextDay); err != nil {
			return nil, err
		}
		carried, err := s.unfinished(ctx, from, out.Next)
		if err != nil || len(carried) == 0 {
			out.Carried = nil
			return nil, err
		}
		prepared, err := s.carry(&out, from, carried)
		return []*revision.Prepared{prepared}, err
	})
	if err == nil && out.Replayed {
		out.Next, err = s.plans.Current(ctx, nextDay)
	}
	if err != nil {
		return Rollover{}, err
	}
	return out, nil
}

func dayAfter(at entity.Repository) (entity.Repository, error) {
	day, err := entity.ParseDate(at.Date)
	if err != nil {
		return at, err
	}
	at.Date = entity.FormatDate(day.AddDate(0, 0, 1))
	return at, at.Check()
}

// unfinished returns the to-dos to be carried: those not done, not in the next plan, and not carried before.
func (s *Service) unfinished(ctx context.Context, from, next Base) ([]Todo, error) {
	if next.Head.RolledFromRevID == from.Head.RevID {
		return nil, nil
	}
	var carried Plan
	if next.Head.RolledFromRevID != "" {
		before, err := s.plans.Revision(ctx, from.Repository, next.Head.RolledFromRevID)
		if err != nil {
			return nil, err
		}
		carried = before.State
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

// carry prepares the next day's plan with the to-dos behind its own.
func (s *Service) carry(out *Rollover, from Base, todos []Todo) (*revision.Prepared, error) {
	plan := out.Next.State.clone()
	out.Carried = nil
	for _, t := range todos {
		t.Order = len(plan.Todos) + 1
		plan.Todos = append(plan.Todos, t)
		out.Carried = append(out.Carried, t.ActionID)
	}
	var broken revision.Violations
	if len(plan.Todos) > MaxTodos {
		broken.Add(RuleTooManyTodos, "", "", "the next day's plan has at most %d to-dos and would have %d", MaxTodos, len(plan.Todos))
		return nil, broken.Err()
	}
	return s.prepare(&out.Next, plan, revision.Change[Plan]{
		Source: ReasonRollover, Message: "rolled over from " + from.Repository.Date, RolledFromRevID: from.Head.RevID,
	}), nil
}

// prepare makes a revision of the plan, and of base what it will be once the revision is the present one.
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
