package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/series"
	"nexus/pkg/table"
)

const (
	// MaxExceptions bounds the occurrences of a series that differ from it at one time.
	MaxExceptions = 500
	// MaxInstances bounds the dates of a series on which anything was ever changed, whether undone or not.
	MaxInstances = 5000
	// maxInstancePages bounds the pages read of them; one has 1 MB, and the largest instance about 50 KB.
	maxInstancePages = 300
	// maxTidied is the number of instances that one transaction writes: the largest of that number fit into 4 MB.
	maxTidied = 48
	// maxReplaced is the number of instances that are deleted in the transaction that replaces their series, each with
	// its KEPT row.
	maxReplaced = 23
)

func (s *Service) masterType() *entity.Type   { return s.registry.ByName(entity.TypeMaster) }
func (s *Service) instanceType() *entity.Type { return s.registry.ByName(entity.TypeInstance) }

// checkSeries refuses a reference that no series can have.
func (c call) checkSeries(masterID string) (entity.Ref, error) {
	ref, err := c.check(c.masterType(), masterID)
	var missing *NotFoundError
	if errors.As(err, &missing) {
		missing.Ref.Type = entity.TypeMaster
	}
	return ref, err
}

// instances returns the rows of a series' instances, including undone ones.
func (c call) instances(ctx context.Context, masterID string) ([]item.Item, error) {
	q := table.Query{Partition: entity.UserPK(c.user), Range: table.Range{Prefix: entity.InstancePrefix(masterID)}}
	rows, err := table.All(ctx, c.store, q, maxInstancePages)
	if err != nil {
		return nil, fmt.Errorf("read the instances of %s: %w", masterID, err)
	}
	return rows, nil
}

// countInstances counts those rows, which costs less than reading them.
func (c call) countInstances(ctx context.Context, masterID string) (int, error) {
	n, err := c.store.Count(ctx, table.Query{
		Partition: entity.UserPK(c.user), Range: table.Range{Prefix: entity.InstancePrefix(masterID)},
	})
	if err != nil {
		return 0, fmt.Errorf("count the instances of %s: %w", masterID, err)
	}
	return n, nil
}

// open returns a series for questions about dates, which do not depend on a reader's zone.
func open(master item.Item, instances ...item.Item) (*series.Series, error) {
	s, err := series.New(master, time.UTC, instances...)
	if err != nil {
		return nil, errors.Join(entity.Invalid([]entity.FieldError{{
			Pointer: "/" + product.AttrRRule,
			Detail:  "cannot be read as it is stored, in the zone of the series: give another one",
		}}), err)
	}
	return s, nil
}

// exceptionsAt tests that no instance of the series was written since its master was read: each write of a valid one
// adds to exceptionsVersion in the same transaction.
func exceptionsAt(master item.Item) table.Test {
	if v := master[product.AttrExceptionsVersion]; v != nil {
		return table.Equal(product.AttrExceptionsVersion, v)
	}
	return table.Missing(product.AttrExceptionsVersion)
}

// unchanged is the condition that neither the series nor an instance of it was written since the master was read.
func unchanged(master item.Item) table.Condition {
	return table.Exists(table.Equal(entity.AttrVersion, item.Int(master.Int(entity.AttrVersion))), exceptionsAt(master))
}

// isUndone reports whether a row belongs to an occurrence whose exception was undone.
func isUndone(row item.Item) bool {
	return row.Str(entity.AttrType) == entity.TypeInstance && !row.Has(product.AttrModifiedFields)
}

// undone returns the remainder of an undone instance.
func (c call) undone(row item.Item) item.Item { return product.Undone(c.user, row, c.now) }

// firstInstance returns the row of an occurrence that differs from its series from now on. Until now it had the
// series' version, so its own versions begin after that. Of two writers that change it under the version of the series
// only the first succeeds.
func (c call) firstInstance(master item.Item, id string, fields item.Item) item.Item {
	it := c.instanceType().NewItem(c.user, id, fields, c.now, nil)
	it[entity.AttrVersion] = item.Int(master.Int(entity.AttrVersion) + 1)
	return it
}

// nextInstance returns a changed row. The occurrence of an undone one had the sum of its version and the series', so
// it continues after that.
func (c call) nextInstance(master, row, after item.Item) item.Item {
	it := c.instanceType().NextVersion(entity.ByUser, c.user, row, after, c.now, nil)
	if !row.Has(product.AttrModifiedFields) {
		it[entity.AttrVersion] = item.Int(row.Int(entity.AttrVersion) + master.Int(entity.AttrVersion) + 1)
	}
	return it
}

// strip undoes instances whose dates the series has lost. They are invisible, so no reader depends on it; each is
// written under the version read. It may skip an instance that changed since, because that was stripped: a command
// that restores a series' dates first strips the instances of those dates.
func (c call) strip(ctx context.Context, rows []item.Item) error {
	return c.inChunks(ctx, rows, func(row item.Item) table.Action {
		return table.Diff(row, c.undone(row), table.AtVersion(row.Int(entity.AttrVersion)))
	})
}

// drop deletes the instances of a series that was deleted. It needs no version, because no command writes them any
// more. The KEPT row of an instance goes before it or with it: a crash leaves no such row without its instance.
func (c call) drop(ctx context.Context, masterID string) error {
	rows, err := c.instances(ctx, masterID)
	if err != nil {
		return err
	}
	var all []item.Item
	for _, row := range rows {
		if row.Has(product.AttrKept) {
			all = append(all, entity.KeptKey(row.Key()).Item())
		}
		all = append(all, row)
	}
	return c.inChunks(ctx, all, func(row item.Item) table.Action { return table.Delete{Key: row.Key()} })
}

func (c call) inChunks(ctx context.Context, rows []item.Item, action func(item.Item) table.Action) error {
	for chunk := range slices.Chunk(rows, maxTidied) {
		if err := c.tidyChunk(ctx, chunk, action); err != nil {
			return err
		}
	}
	return nil
}

// tidyChunk writes the rows whose condition holds, and leaves the others to the writer that changed them.
func (c call) tidyChunk(ctx context.Context, rows []item.Item, action func(item.Item) table.Action) error {
	var err error
	for n := range maxAttempts {
		if errors.Is(err, table.ErrConflict) && c.pause(ctx, n-1) != nil {
			break
		}
		actions := make([]table.Action, len(rows))
		for i, row := range rows {
			actions[i] = action(row)
		}
		err = c.store.Transact(ctx, actions...)
		var failed *table.ConditionError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &failed):
			var left []item.Item
			for i, row := range rows {
				if _, changed := failed.At(i); !changed {
					left = append(left, row)
				}
			}
			if rows = left; len(rows) == 0 {
				return nil
			}
		case !errors.Is(err, table.ErrConflict):
			return fmt.Errorf("tidy %s with %d more: %w", rows[0].Key(), len(rows)-1, err)
		}
	}
	return fmt.Errorf("tidy %d instances, given up: %w", len(rows), err)
}

// tidy finishes an interrupted command about a series: it undoes invisible instances, and deletes those of a deleted
// series. Without a GONE row a missing series may be one that a split is about to make.
func (c call) tidy(ctx context.Context, masterID string) error {
	masterKey := entity.ItemKey(c.user, entity.Ref{Type: entity.TypeMaster, ID: masterID})
	goneKey := entity.GoneKey(c.user, masterID)
	found, err := c.read(ctx, []item.Key{masterKey, goneKey})
	if err != nil {
		return err
	}
	master := found[masterKey]
	switch {
	case master == nil && found[goneKey] != nil:
		return c.drop(ctx, masterID)
	case master == nil || !master.Bool(product.AttrHasExceptions):
		return nil
	}
	rows, err := c.instances(ctx, masterID)
	if err != nil {
		return err
	}
	s, err := open(master, rows...)
	if err != nil {
		return err
	}
	return c.strip(ctx, s.Idle())
}

// finish ends a command about a series that commits first and tidies up afterwards. A repetition is answered by its
// receipt, or finds the series already changed or gone. The first run may have been interrupted in between, so a
// repetition tidies, too.
func (c call) finish(ctx context.Context, masterID string, res Result, err error) (Result, error) {
	var (
		stale   *StaleError
		missing *NotFoundError
	)
	again := err == nil && res.Replayed || errors.As(err, &stale) || errors.As(err, &missing) && missing.Pointer == ""
	if !again {
		return res, err
	}
	if tidying := c.tidy(ctx, masterID); tidying != nil {
		return Result{}, unfinished(tidying)
	}
	return res, err
}

// unfinished returns the error of a command that was committed and not tidied: it may have been carried out, and must
// be repeated.
func unfinished(err error) error {
	return fmt.Errorf("%w: %w", table.ErrUnavailable, err)
}
