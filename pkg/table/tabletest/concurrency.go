package tabletest

import (
	"errors"
	"fmt"
	"sync"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Bounds of the races below: small, so that they end soon on an engine over HTTP.
const (
	racers   = 6
	laps     = 8
	maxTries = 2000
)

func concurrencyCases() []testCase {
	return []testCase{
		{"conditional increments that race lose nothing", func(f *fixture) {
			f.put("a", item.Item{entity.AttrVersion: item.Int(0)})
			f.race(func(int) error {
				row, err := f.store.Get(f.ctx, f.key("a"))
				if err != nil {
					return err
				}
				version := row.Int(entity.AttrVersion)
				_, err = f.store.Update(f.ctx, table.Update{
					Key: f.key("a"), Set: item.Item{entity.AttrVersion: item.Int(version + 1)}, If: table.AtVersion(version),
				})
				return err
			})
			f.Equal(int64(racers*laps), f.get(f.key("a")).Int(entity.AttrVersion))
		}},
		{"transactions that race over two rows keep them in step", func(f *fixture) {
			f.put("a", item.Item{attrCount: item.Int(0)})
			f.put("b", item.Item{attrCount: item.Int(0)})
			f.race(func(int) error {
				row, err := f.store.Get(f.ctx, f.key("a"))
				if err != nil {
					return err
				}
				was, is := row[attrCount], item.Int(row.Int(attrCount)+1)
				return f.store.Transact(f.ctx,
					table.Update{Key: f.key("a"), Set: item.Item{attrCount: is}, If: table.Exists(table.Equal(attrCount, was))},
					table.Update{Key: f.key("b"), Set: item.Item{attrCount: is}, If: table.Exists(table.Equal(attrCount, was))},
				)
			})
			f.Equal(int64(racers*laps), f.get(f.key("a")).Int(attrCount))
			f.Equal(int64(racers*laps), f.get(f.key("b")).Int(attrCount))
		}},
		{"of creations that race exactly one succeeds", func(f *fixture) {
			var wins sync.Map
			f.race(func(racer int) error {
				row := f.row("a", item.Item{attrCount: item.Int(int64(racer))})
				err := f.store.Put(f.ctx, table.Put{Item: row, If: table.NotExists()})
				var failed *table.ConditionError
				if errors.As(err, &failed) {
					return nil
				}
				if err == nil {
					wins.Store(racer, true)
				}
				return err
			})
			n := 0
			wins.Range(func(any, any) bool { n++; return true })
			f.Equal(1, n)
			_, won := wins.Load(int(f.get(f.key("a")).Int(attrCount)))
			f.True(won)
		}},
	}
}

// race runs some goroutines that each make the step succeed a number of times; a failed condition or conflict is tried
// again.
func (f *fixture) race(step func(racer int) error) {
	f.t.Helper()
	failures := make(chan error, racers)
	var all sync.WaitGroup
	for racer := range racers {
		all.Go(func() {
			if err := lap(func() error { return step(racer) }); err != nil {
				failures <- err
			}
		})
	}
	all.Wait()
	close(failures)
	for err := range failures {
		f.NoError(err)
	}
}

func lap(step func() error) error {
	done := 0
	for range maxTries {
		err := step()
		var failed *table.ConditionError
		switch {
		case err == nil:
			if done++; done == laps {
				return nil
			}
		case errors.As(err, &failed), errors.Is(err, table.ErrConflict), errors.Is(err, table.ErrThrottled):
		default:
			return err
		}
	}
	return fmt.Errorf("%d of %d steps done in %d tries", done, laps, maxTries)
}
