package verify

import (
	"context"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// stagedFor is how long an exception may wait for its series: a split writes the exceptions of the new one first, and
// every command is faster than that.
const stagedFor = 10 * time.Minute

// homeless is the reason why an exception has no series.
type homeless int

const (
	hasSeries homeless = iota
	neverHad           // its series was never written, or was lost
	deleted            // its user deleted the series, and it remained
)

// knownMaster is the series that was read last: its exceptions are adjacent.
type knownMaster struct {
	key   item.Key
	state homeless
}

// seriesOf returns why an exception has no series.
func (r *run) seriesOf(ctx context.Context, g group) (item.Key, homeless, error) {
	masterID, _, err := entity.ParseInstanceID(g.id)
	if err != nil {
		return item.Key{}, hasSeries, err
	}
	key := entity.ItemKey(g.user, entity.Ref{Type: entity.TypeMaster, ID: masterID})
	if r.master.key == key {
		return key, r.master.state, nil
	}
	gone := entity.GoneKey(g.user, masterID)
	rows, err := r.rows(ctx, []item.Key{key, gone})
	if err != nil {
		return key, hasSeries, err
	}
	state := neverHad
	switch {
	case rows[key] != nil:
		state = hasSeries
	case rows[gone] != nil:
		state = deleted
	}
	r.master = knownMaster{key, state}
	return key, state, nil
}

// checkException finds exceptions without a series: no reader sees them, but they are in the indexes, and their links
// count.
func (r *run) checkException(ctx context.Context, g group) ([]Difference, error) {
	if g.item == nil || g.typ.Name != entity.TypeInstance {
		return nil, nil
	}
	_, state, err := r.seriesOf(ctx, g)
	if err != nil {
		return nil, err
	}
	d := Difference{Kind: Exception, User: g.user, Key: g.item.Key().String()}
	switch written, ok := g.item.Time(entity.AttrUpdatedAt); {
	case state == deleted:
		d.Is, d.ShouldBe = "an exception of a series that was deleted", "no row"
	case state == neverHad && g.item.Has(product.AttrModifiedFields) && (!ok || r.Now().Sub(written) > stagedFor):
		d.Is, d.ShouldBe = "an exception without a series", "undone"
	default:
		return nil, nil
	}
	return []Difference{d}, nil
}

// clearException completes the interrupted command. An exception of a deleted series is deleted: its id is never used
// again. Its KEPT row goes in the same transaction. Any other is undone, since a repeated split may still need its
// row, and continues to count from its version.
func (r *run) clearException(ctx context.Context, g group) error {
	master, state, err := r.seriesOf(ctx, g)
	if err != nil || state == hasSeries {
		return err
	}
	asRead := table.AtVersion(g.item.Int(entity.AttrVersion))
	actions := []table.Action{table.Check{Key: master, If: table.NotExists()}}
	if state == deleted {
		key := g.item.Key()
		actions = append(actions, table.Delete{Key: key, If: asRead}, table.Delete{Key: entity.KeptKey(key)})
	} else {
		actions = append(actions, table.Diff(g.item, product.Undone(g.user, g.item, r.Now()), asRead))
	}
	if err := r.Store.Transact(ctx, actions...); err != nil {
		return fmt.Errorf("clear %s: %w", g.item.Key(), err)
	}
	return nil
}
