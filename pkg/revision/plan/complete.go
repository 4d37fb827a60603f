package plan

import (
	"context"
	"time"

	"nexus/pkg/revision"
	"nexus/pkg/revision/values"
)

// Completion is the outcome for a plan and the values tree.
type Completion struct {
	// Plan and Values are as they are now.
	Plan   Base
	Values revision.Head
	// Action is the node of the tree.
	Action values.Node
	// PlanChanged and ValuesChanged say in which of them the completion made a revision; neither if the action was
	// already completed in both.
	PlanChanged, ValuesChanged bool
	// Replayed says that it had been carried out before under the same idempotency key.
	Replayed bool
}

// Complete completes an action in the day's plan and in the values tree, in one transaction over both heads. So a
// reader sees it done in one and open in the other only between two reads. Repeating it changes nothing. A
// [*revision.NotFoundError] if the plan has no to-do of the action, or the tree no such action. The retention is that
// of [revision.Receipt].
func (s *Service) Complete(
	ctx context.Context, user, date, actionID, idempotencyKey string, retention time.Duration,
) (Completion, error) {
	at, err := repositoryOf(user, date)
	if err != nil {
		return Completion{}, err
	}
	var out Completion
	receipt := revision.Receipt{
		Key: idempotencyKey, Retention: retention, Request: []any{"CompletePlan", date, actionID},
	}
	revIDs, replayed, err := s.plans.Write(ctx, user, receipt, false,
		func(ctx context.Context) ([]*revision.Prepared, error) {
			out = Completion{}
			if out.Plan, err = s.plans.Current(ctx, at); err != nil {
				return nil, err
			}
			tree, err := s.tree.Open(ctx, user)
			if err != nil {
				return nil, err
			}
			return s.completion(&out, tree, actionID)
		})
	if out.Replayed = replayed; err == nil && replayed {
		err = revision.PrunedSince(s.reread(ctx, &out, user, date, actionID), revIDs[0])
	}
	if err != nil {
		return Completion{}, err
	}
	return out, nil
}

// completion prepares the revisions of plan and tree, where the action is open.
func (s *Service) completion(out *Completion, tree values.Base, actionID string) ([]*revision.Prepared, error) {
	i := out.Plan.State.todo(actionID)
	if i < 0 {
		return nil, &revision.NotFoundError{Repository: out.Plan.Repository, What: "a to-do of this action"}
	}
	now := s.now().UTC().Truncate(time.Second)
	message := "completed " + actionID
	ofTree, action, err := s.tree.PrepareCompletion(tree, actionID, now, message)
	if err != nil {
		return nil, err
	}
	out.Action, out.Values = action, tree.Head
	var prepared []*revision.Prepared
	if !out.Plan.State.Todos[i].Done() {
		plan := out.Plan.State.clone()
		plan.Todos[i].CompletedAt = now
		prepared = append(prepared, s.prepare(&out.Plan, plan, revision.Change[Plan]{
			Source: ReasonCompletion, Message: message,
		}))
		out.PlanChanged = true
	}
	if ofTree != nil {
		made := ofTree.Commit()
		out.Values.RevID, out.Values.RevTs, out.Values.UpdatedAt = made.RevID, made.RevTs, now
		prepared = append(prepared, ofTree)
		out.ValuesChanged = true
	}
	return prepared, nil
}

// reread answers a repetition with the present state. An attempt that lost to its twin left its own in out.
func (s *Service) reread(ctx context.Context, out *Completion, user, date, actionID string) error {
	var err error
	*out = Completion{Replayed: true}
	if out.Plan, err = s.Current(ctx, user, date); err != nil {
		return err
	}
	if out.Values, err = s.tree.Head(ctx, user); err != nil {
		return err
	}
	nodes, err := s.tree.Nodes(ctx, user, []string{actionID})
	out.Action = nodes[actionID]
	return err
}
