//go:build predecessor

package before

import (
	"context"

	"nexus/pkg/blob"
	"nexus/pkg/bus"
	"nexus/pkg/item"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
	oldblob "nexus/predecessor/blob"
	oldbus "nexus/predecessor/bus"
	oldentity "nexus/predecessor/entity"
	oldschedule "nexus/predecessor/schedule"
	oldtable "nexus/predecessor/table"
)

// Store is this release's store for the release before.
type Store struct{ Of table.Store }

var _ oldtable.Store = Store{}

// Get implements the store of the release before, as all methods of Store do.
func (s Store) Get(ctx context.Context, key oldentity.Key) (oldentity.Item, error) {
	it, err := s.Of.Get(ctx, item.Key(key))
	return ToItem(it), ToError(err)
}

func (s Store) BatchGet(ctx context.Context, keys []oldentity.Key) ([]oldentity.Item, error) {
	asked := make([]item.Key, len(keys))
	for i, key := range keys {
		asked[i] = item.Key(key)
	}
	rows, err := s.Of.BatchGet(ctx, asked)
	return toItems(rows), ToError(err)
}

func (s Store) Query(ctx context.Context, q oldtable.Query) (oldtable.Page, error) {
	page, err := s.Of.Query(ctx, fromQuery(q))
	return oldtable.Page{Items: toItems(page.Items), Next: oldtable.Position(ToItem(item.Item(page.Next)))}, ToError(err)
}

func (s Store) Count(ctx context.Context, q oldtable.Query) (int, error) {
	n, err := s.Of.Count(ctx, fromQuery(q))
	return n, ToError(err)
}

func (s Store) Put(ctx context.Context, p oldtable.Put) error {
	return ToError(s.Of.Put(ctx, table.Put{Item: FromItem(p.Item), If: fromCondition(p.If)}))
}

func (s Store) Update(ctx context.Context, u oldtable.Update) (oldentity.Item, error) {
	it, err := s.Of.Update(ctx, fromUpdate(u))
	return ToItem(it), ToError(err)
}

func (s Store) Delete(ctx context.Context, d oldtable.Delete) error {
	return ToError(s.Of.Delete(ctx, table.Delete{Key: item.Key(d.Key), If: fromCondition(d.If)}))
}

func (s Store) Transact(ctx context.Context, actions ...oldtable.Action) error {
	asked := make([]table.Action, len(actions))
	for i, action := range actions {
		switch a := action.(type) {
		case oldtable.Put:
			asked[i] = table.Put{Item: FromItem(a.Item), If: fromCondition(a.If)}
		case oldtable.Update:
			asked[i] = fromUpdate(a)
		case oldtable.Delete:
			asked[i] = table.Delete{Key: item.Key(a.Key), If: fromCondition(a.If)}
		case oldtable.Check:
			asked[i] = table.Check{Key: item.Key(a.Key), If: fromCondition(a.If)}
		}
	}
	return ToError(s.Of.Transact(ctx, asked...))
}

func (s Store) Load(ctx context.Context, rows []oldentity.Item) error {
	asked := make([]item.Item, len(rows))
	for i, row := range rows {
		asked[i] = FromItem(row)
	}
	return ToError(s.Of.Load(ctx, asked))
}

func fromUpdate(u oldtable.Update) table.Update {
	return table.Update{Key: item.Key(u.Key), Set: FromItem(u.Set), Remove: u.Remove, If: fromCondition(u.If)}
}

func fromCondition(c oldtable.Condition) table.Condition {
	out := table.Condition{OrNoRow: c.OrNoRow, Row: table.RowState(c.Row)}
	for _, t := range c.Tests {
		out.Tests = append(out.Tests, table.Test{Op: table.Operator(t.Op), Attr: t.Attr, Value: fromValue(t.Value)})
	}
	return out
}

func fromQuery(q oldtable.Query) table.Query {
	return table.Query{
		Index: table.Index(q.Index), Partition: q.Partition, Range: table.Range(q.Range), AnyTag: q.AnyTag,
		AnyTagOr: q.AnyTagOr, Limit: q.Limit, Descending: q.Descending,
		Start: table.Position(FromItem(oldentity.Item(q.Start))),
	}
}

// Scheduler is this release's scheduler for the release before.
type Scheduler struct{ Of schedule.Scheduler }

var _ oldschedule.Scheduler = Scheduler{}

func (s Scheduler) Put(ctx context.Context, in oldschedule.Schedule) error {
	return ToError(s.Of.Put(ctx, schedule.Schedule(in)))
}

func (s Scheduler) Delete(ctx context.Context, name string) error {
	return ToError(s.Of.Delete(ctx, name))
}

// Bus is this release's bus for the release before.
type Bus struct{ Of bus.Bus }

var _ oldbus.Bus = Bus{}

func (b Bus) Publish(ctx context.Context, events ...oldbus.Event) error {
	asked := make([]bus.Event, len(events))
	for i, e := range events {
		asked[i] = bus.Event(e)
	}
	return ToError(b.Of.Publish(ctx, asked...))
}

// Blobs is an object store of this release for the release before.
type Blobs struct{ Of blob.Store }

var _ oldblob.Store = Blobs{}

func (b Blobs) Put(ctx context.Context, name string, body []byte) error {
	return ToError(b.Of.Put(ctx, name, body))
}

func (b Blobs) Get(ctx context.Context, name string) ([]byte, error) {
	body, err := b.Of.Get(ctx, name)
	return body, ToError(err)
}

func (b Blobs) Delete(ctx context.Context, name string) error {
	return ToError(b.Of.Delete(ctx, name))
}

func (b Blobs) List(ctx context.Context, prefix string, limit int, after string) ([]string, error) {
	names, err := b.Of.List(ctx, prefix, limit, after)
	return names, ToError(err)
}
