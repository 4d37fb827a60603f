package main

import (
	"context"
	"sync"
	"time"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// counter counts requests, and holds each answer back for a while.
type counter struct {
	table.Store
	delay    time.Duration
	mu       sync.Mutex
	requests int
}

func (c *counter) hold(ctx context.Context) error {
	c.mu.Lock()
	c.requests++
	c.mu.Unlock()
	timer := time.NewTimer(c.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *counter) Get(ctx context.Context, key item.Key) (item.Item, error) {
	if err := c.hold(ctx); err != nil {
		return nil, err
	}
	return c.Store.Get(ctx, key)
}

func (c *counter) BatchGet(ctx context.Context, keys []item.Key) ([]item.Item, error) {
	if err := c.hold(ctx); err != nil {
		return nil, err
	}
	return c.Store.BatchGet(ctx, keys)
}

func (c *counter) Query(ctx context.Context, q table.Query) (table.Page, error) {
	if err := c.hold(ctx); err != nil {
		return table.Page{}, err
	}
	return c.Store.Query(ctx, q)
}

// watch is a store that knows for how long at least one request was under way.
type watch struct {
	table.Store
	mu       sync.Mutex
	underway int
	since    time.Time
	total    time.Duration
}

// busy is that time since the last call.
func (w *watch) busy() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	total := w.total
	w.total = 0
	return total
}

func (w *watch) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.underway++; w.underway == 1 {
		w.since = time.Now()
	}
}

func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.underway--; w.underway == 0 {
		w.total += time.Since(w.since)
	}
}

func (w *watch) Get(ctx context.Context, key item.Key) (item.Item, error) {
	w.begin()
	defer w.end()
	return w.Store.Get(ctx, key)
}

func (w *watch) BatchGet(ctx context.Context, keys []item.Key) ([]item.Item, error) {
	w.begin()
	defer w.end()
	return w.Store.BatchGet(ctx, keys)
}

func (w *watch) Query(ctx context.Context, q table.Query) (table.Page, error) {
	w.begin()
	defer w.end()
	return w.Store.Query(ctx, q)
}
