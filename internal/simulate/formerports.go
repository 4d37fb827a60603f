//go:build predecessor

package simulate

import (
	"context"

	"nexus/pkg/bus"
	"nexus/pkg/entity"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
	oldblob "nexus/predecessor/blob"
	oldbus "nexus/predecessor/bus"
	oldentity "nexus/predecessor/entity"
	oldschedule "nexus/predecessor/schedule"
	oldtable "nexus/predecessor/table"
)

// oldStore is the store as the other release asks it.
type oldStore struct{ store table.Store }

var _ oldtable.Store = oldStore{}

// Get implements the other release's store, as all methods here do.
func (s oldStore) Get(ctx context.Context, key oldentity.Key) (oldentity.Item, error) {
	it, err := s.store.Get(ctx, entity.Key(key))
	return toOld(it), toOldError(err)
}

func (s oldStore) BatchGet(ctx context.Context, keys []oldentity.Key) ([]oldentity.Item, error) {
	asked := make([]entity.Key, len(keys))
	for i, key := range keys {
		asked[i] = entity.Key(key)
	}
	rows, err := s.store.BatchGet(ctx, asked)
	return allToOld(rows), toOldError(err)
}

func (s oldStore) Query(ctx context.Context, q oldtable.Query) (oldtable.Page, error) {
	page, err := s.store.Query(ctx, fromOldQuery(q))
	return oldtable.Page{Items: allToOld(page.Items), Next: oldtable.Position(toOld(entity.Item(page.Next)))}, toOldError(err)
}

func (s oldStore) Count(ctx context.Context, q oldtable.Query) (int, error) {
	n, err := s.store.Count(ctx, fromOldQuery(q))
	return n, toOldError(err)
}

func (s oldStore) Put(ctx context.Context, p oldtable.Put) error {
	return toOldError(s.store.Put(ctx, table.Put{Item: fromOld(p.Item), If: fromOldCondition(p.If)}))
}

func (s oldStore) Update(ctx context.Context, u oldtable.Update) (oldentity.Item, error) {
	it, err := s.store.Update(ctx, fromOldUpdate(u))
	return toOld(it), toOldError(err)
}

func (s oldStore) Delete(ctx context.Context, d oldtable.Delete) error {
	return toOldError(s.store.Delete(ctx, table.Delete{Key: entity.Key(d.Key), If: fromOldCondition(d.If)}))
}

func (s oldStore) Transact(ctx context.Context, actions ...oldtable.Action) error {
	asked := make([]table.Action, len(actions))
	for i, action := range actions {
		switch a := action.(type) {
		case oldtable.Put:
			asked[i] = table.Put{Item: fromOld(a.Item), If: fromOldCondition(a.If)}
		case oldtable.Update:
			asked[i] = fromOldUpdate(a)
		case oldtable.Delete:
			asked[i] = table.Delete{Key: entity.Key(a.Key), If: fromOldCondition(a.If)}
		case oldtable.Check:
			asked[i] = table.Check{Key: entity.Key(a.Key), If: fromOldCondition(a.If)}
		}
	}
	return toOldError(s.store.Transact(ctx, asked...))
}

func (s oldStore) Load(ctx context.Context, rows []oldentity.Item) error {
	asked := make([]entity.Item, len(rows))
	for i, row := range rows {
		asked[i] = fromOld(row)
	}
	return toOldError(s.store.Load(ctx, asked))
}

func fromOldUpdate(u oldtable.Update) table.Update {
	return table.Update{Key: entity.Key(u.Key), Set: fromOld(u.Set), Remove: u.Remove, If: fromOldCondition(u.If)}
}

func fromOldCondition(c oldtable.Condition) table.Condition {
	out := table.Condition{OrNoRow: c.OrNoRow, Row: table.RowState(c.Row)}
	for _, t := range c.Tests {
		out.Tests = append(out.Tests, table.Test{Op: table.Operator(t.Op), Attr: t.Attr, Value: fromOldValue(t.Value)})
	}
	return out
}

func fromOldQuery(q oldtable.Query) table.Query {
	return table.Query{
		Index: entity.Index(q.Index), Partition: q.Partition, Range: table.Range(q.Range), AnyTag: q.AnyTag, AnyTagOr: q.AnyTagOr,
		Limit: q.Limit, Descending: q.Descending, Start: table.Position(fromOld(oldentity.Item(q.Start))),
	}
}

// oldScheduler is the scheduler as the other release asks it.
type oldScheduler struct{ scheduler schedule.Scheduler }

var _ oldschedule.Scheduler = oldScheduler{}

func (s oldScheduler) Put(ctx context.Context, in oldschedule.Schedule) error {
	return toOldError(s.scheduler.Put(ctx, schedule.Schedule(in)))
}

func (s oldScheduler) Delete(ctx context.Context, name string) error {
	return toOldError(s.scheduler.Delete(ctx, name))
}

// oldBus is the bus as the other release asks it.
type oldBus struct{ bus bus.Bus }

var _ oldbus.Bus = oldBus{}

func (b oldBus) Publish(ctx context.Context, events ...oldbus.Event) error {
	asked := make([]bus.Event, len(events))
	for i, e := range events {
		asked[i] = bus.Event(e)
	}
	return toOldError(b.bus.Publish(ctx, asked...))
}

// oldBlobs is an object store as the other release asks it.
type oldBlobs struct{ kept blobPort }

var _ oldblob.Store = oldBlobs{}

func (b oldBlobs) Put(ctx context.Context, name string, body []byte) error {
	return toOldError(b.kept.Put(ctx, name, body))
}

func (b oldBlobs) Get(ctx context.Context, name string) ([]byte, error) {
	body, err := b.kept.Get(ctx, name)
	return body, toOldError(err)
}

func (b oldBlobs) Delete(ctx context.Context, name string) error {
	return toOldError(b.kept.Delete(ctx, name))
}

func (b oldBlobs) List(ctx context.Context, prefix string, limit int, after string) ([]string, error) {
	names, err := b.kept.List(ctx, prefix, limit, after)
	return names, toOldError(err)
}
