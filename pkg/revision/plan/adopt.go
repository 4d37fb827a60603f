package plan

import (
	"slices"
	"time"

	"nexus/pkg/entity/repository"
	"nexus/pkg/revision"
	"nexus/pkg/revision/values"
)

// Adopted returns the plan of a revision from elsewhere as a commit on its parent would store it, and records every
// rule that a commit would break. Parent is the plan of the revision before it; nil if the history does not have that
// any more. Actions are the nodes of the values tree that to-dos may name. Violations point into the plan.
func (s *Service) Adopted(
	broken *revision.Violations, at repository.Address, parent *Plan, c revision.Commit, p Plan,
	actions map[string]values.Node,
) Plan {
	s.plans.CheckAdopted(broken, c)
	was := p
	if parent != nil {
		was = *parent
	}
	return s.checked(broken, at, was, p, c.RevTs, actions)
}

// Equal reports whether two plans have the same rows.
func (p Plan) Equal(other Plan) bool {
	return slices.EqualFunc(p.Todos, other.Todos, func(a, b Todo) bool {
		same := a.CompletedAt.Equal(b.CompletedAt)
		a.CompletedAt, b.CompletedAt = time.Time{}, time.Time{}
		return same && a == b
	}) && slices.EqualFunc(p.Blocks, other.Blocks, func(a, b Block) bool {
		same := a.StartTimeIso.Equal(b.StartTimeIso) && a.EndTimeIso.Equal(b.EndTimeIso)
		a.StartTimeIso, a.EndTimeIso = b.StartTimeIso, b.EndTimeIso
		return same && a == b
	})
}
