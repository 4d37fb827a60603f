package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"nexus/pkg/archive"
	blobmemory "nexus/pkg/blob/memory"
	buslocal "nexus/pkg/bus/local"
	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/reminders"
)

// probe is a consumer and the items whose coming makes it do something.
type probe struct {
	name     string
	consumer func(c *crowd) (change.Consumer, error)
	make     func(i int) document
	finish   func(it item.Item)
}

var probes = []probe{
	{"stats", func(c *crowd) (change.Consumer, error) { return c.derive[0], nil },
		func(i int) document { return itemBody(0, soon(i)) }, func(item.Item) {}},
	{"links", func(c *crowd) (change.Consumer, error) { return c.derive[1], nil },
		func(i int) document { return itemBody(3, soon(i)) }, link("note_1", "note_2")},
	{"reminders", newReminders, func(i int) document { return itemBody(5, soon(i)) }, func(item.Item) {}},
	{"archive", newArchive, func(i int) document { return itemBody(2, soon(i)) }, func(it item.Item) {
		it[entity.AttrStatus] = item.String(product.StatusCompleted)
	}},
}

// soon is the time of the i-th item of a probe: to come.
func soon(i int) time.Time { return base.Add(time.Duration(i+1) * time.Hour) }

func newReminders(c *crowd) (change.Consumer, error) {
	bus, err := buslocal.New(buslocal.Config{})
	return reminders.New(reminders.Config{
		Store: c.store, Registry: c.registry, Scheduler: &timetable{}, Bus: bus, Now: now, Log: slog.New(slog.DiscardHandler),
	}), err
}

func newArchive(c *crowd) (change.Consumer, error) {
	bus, err := buslocal.New(buslocal.Config{})
	return archive.NewConsumer(
		archive.Config{Store: c.store, Registry: c.registry, Copies: blobmemory.New(nil), Bus: bus, Now: now}), err
}

// probe has the consumer follow new items of the users in turn, in batches.
func (c *crowd) probe(ctx context.Context, p probe, run scaleRun) (line, error) {
	consumer, err := p.consumer(c)
	if err != nil {
		return line{}, err
	}
	changes := make([]change.Change, 0, run.batches*run.batch)
	items := make([]item.Item, 0, cap(changes))
	for i := range cap(changes) {
		owner, d := c.users[i%len(c.users)], p.make(i)
		t := c.registry.Named(d.Type)
		it, err := created(t, owner, fmt.Sprintf("%s_%s%08d-%s", t.IDPrefix, p.name, i, owner), d.Body, base)
		if err != nil {
			return line{}, err
		}
		p.finish(it)
		items, changes = append(items, it), append(changes, c.created(owner, it))
	}
	if err := c.store.Load(ctx, items); err != nil {
		return line{}, err
	}
	before := c.meter.read()
	s, err := uncollected(func() error {
		for from := 0; from < len(changes); from += run.batch {
			if err := followed(ctx, consumer, changes[from:from+run.batch]); err != nil {
				return err
			}
		}
		return nil
	})
	return perUnit(p.name, len(changes), c.meter.read().since(before), s), err
}
