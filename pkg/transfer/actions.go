package transfer

import (
	"context"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// withoutAsked returns an item as its cold copy has it: nothing was asked for.
func withoutAsked(it item.Item) item.Item {
	it = it.Clone()
	delete(it, product.AttrDueSetAt)
	return it
}

// actions returns the writes of things, and for each action the position of its thing; below 0 for that of a series.
func (r *run) actions(ctx context.Context, things []thing) (actions []table.Action, of []int, err error) {
	if len(things) > 0 && things[0].of != "" {
		counted, err := r.seriesOf(ctx, things[0].of)
		if err != nil || counted == nil {
			return nil, nil, err // the user has deleted the series
		}
		actions, of = append(actions, *counted), append(of, -1)
	}
	for i, t := range things {
		for j, row := range t.puts {
			put := table.Put{Item: row}
			if j == 0 {
				put.If = table.NotExists()
			}
			actions, of = append(actions, put), append(of, i)
		}
		for _, key := range t.absent {
			actions, of = append(actions, table.Check{Key: key, If: table.NotExists()}), append(of, i)
		}
	}
	return actions, of, nil
}

// seriesOf returns the change of a series that counts a write of its exceptions; nil if there is none any more.
func (r *run) seriesOf(ctx context.Context, masterID string) (*table.Update, error) {
	key := entity.ItemKey(r.user, entity.Ref{Type: entity.TypeMaster, ID: masterID})
	series, err := table.Find(ctx, r.Store, key)
	if err != nil || series == nil {
		return nil, err
	}
	counted := table.Missing(product.AttrExceptionsVersion)
	if v := series[product.AttrExceptionsVersion]; v != nil {
		counted = table.Equal(product.AttrExceptionsVersion, v)
	}
	return &table.Update{
		Key: key,
		Set: item.Item{
			product.AttrHasExceptions:     item.Bool(true),
			product.AttrExceptionsVersion: item.Int(series.Int(product.AttrExceptionsVersion) + 1),
		},
		If: table.Exists(table.Equal(entity.AttrVersion, series[entity.AttrVersion]), counted),
	}, nil
}

// without returns the things but those of which a row is there already. The failure of a series only means that it is
// read again. The first action is the count's.
func without(things []thing, failed *table.ConditionError, of []int) []thing {
	there := map[int]bool{}
	for _, f := range failed.Failures {
		there[of[f.Index-1]] = true
	}
	var left []thing
	for i, t := range things {
		if !there[i] {
			left = append(left, t)
		}
	}
	return left
}
