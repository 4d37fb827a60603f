package projection

import (
	"context"
	"errors"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// indexEngine applies changes to ledger rows alone: the row is the fact, so each change is one conditional write.
type indexEngine struct{ ledger }

func (s *IndexSpec) engine(l ledger) engine { return &indexEngine{l} }

func (x *indexEngine) apply(ctx context.Context, batch []change.Change) []change.Outcome {
	moves := x.fold(batch, x.now())
	for range maxRounds {
		open := unfinished(moves)
		if len(open) == 0 {
			break
		}
		x.readPresent(ctx, open, checkForm)
		for _, m := range unfinished(open) {
			if m.state == pending {
				x.put(ctx, m)
			}
		}
	}
	return x.outcomes(batch, moves)
}

// put writes a move's ledger row, and plans the move again if the row is not as expected.
func (x *indexEngine) put(ctx context.Context, m *move) {
	err := x.store.Put(ctx, table.Put{Item: x.ledgerRow(m, x.now()), If: m.condition()})
	var failed *table.ConditionError
	switch {
	case err == nil:
		m.state = done
	case errors.As(err, &failed):
		replanFailed(ctx, []*move{m}, failed, checkForm)
	default:
		fail([]*move{m}, err)
	}
}

// repairItem reads everything but the copy again, the ledger row first, then the item, and what an item left last.
func (x *indexEngine) repairItem(ctx context.Context, was Evidence) error {
	for range maxRounds {
		e, err := x.readEvidence(ctx, was)
		if err != nil {
			return err
		}
		if err := entity.CheckForm(e.Ledger, entity.AttrForm); err != nil {
			return err
		}
		m := x.repair(e)
		if m.isRight {
			return nil
		}
		err = x.store.Put(ctx, table.Put{Item: x.ledgerRow(&m.move, x.now()), If: m.condition()})
		var failed *table.ConditionError
		if !errors.As(err, &failed) && !errors.Is(err, table.ErrConflict) {
			return err
		}
	}
	return errContended
}

func (x *indexEngine) readEvidence(ctx context.Context, was Evidence) (Evidence, error) {
	e := Evidence{User: was.User, Type: was.Type, Ref: was.Ref}
	for _, one := range []struct {
		row *item.Item
		key item.Key
	}{
		{&e.Ledger, entity.LedgerKey(e.User, x.name, e.Ref.ID)}, {&e.Item, entity.ItemKey(e.User, e.Ref)},
		{&e.Gone, entity.GoneKey(e.User, e.Ref.ID)}, {&e.Cold, entity.ColdKey(e.User, e.Ref.ID)},
	} {
		var err error
		if *one.row, err = table.Find(ctx, x.store, one.key); err != nil {
			return e, err
		}
	}
	if was.Copy.Int(entity.AttrVersion) == e.Cold.Int(entity.AttrVersion) {
		e.Copy = was.Copy
	}
	return e, nil
}
