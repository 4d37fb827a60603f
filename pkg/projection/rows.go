package projection

import (
	"context"
	"slices"

	"nexus/pkg/change"
	"nexus/pkg/table"
)

// rowsEngine applies changes to a set of rows: it puts new ones and deletes removed ones, in one transaction with the
// ledger row.
type rowsEngine struct {
	ledger
	spec *RowsSpec
}

func (s *RowsSpec) engine(l ledger) engine { return &rowsEngine{l, s} }

func (r *rowsEngine) apply(ctx context.Context, batch []change.Change) []change.Outcome {
	moves := r.fold(batch, r.now())
	for shared := range rounds(moves, sizeInRows, func(open []*move) {
		r.readPresent(ctx, open, checkForm)
		for _, m := range unfinished(open) {
			m.effects = r.spec.actions(m)
		}
	}) {
		r.commit(ctx, shared)
	}
	return r.outcomes(batch, moves)
}

// sizeInRows returns how many actions a move has in a transaction.
func sizeInRows(_ []*move, m *move) int { return 1 + len(m.effects) }

// commit tries to apply the moves in one transaction.
func (r *rowsEngine) commit(ctx context.Context, moves []*move) {
	var effects []action
	for _, m := range moves {
		effects = append(effects, m.effects...)
	}
	r.transact(ctx, moves, r.now(), effects, checkForm)
}

// actions returns the writes that take the rows of an item from one contribution to another.
func (s *RowsSpec) actions(m *move) []action {
	before, after := edgesOf(m.from), edgesOf(m.to)
	var actions []action
	for _, edge := range after {
		if !slices.Contains(before, edge) {
			actions = append(actions, table.Put{Item: s.Row(m.user, m.ref, edge)})
		}
	}
	for _, edge := range before {
		if !slices.Contains(after, edge) {
			if key, ok := s.keyOf(m.user, m.ref, edge); ok {
				actions = append(actions, table.Delete{Key: key})
			}
		}
	}
	return actions
}
