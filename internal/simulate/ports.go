package simulate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"nexus/pkg/blob"
	"nexus/pkg/bus"
	busmemory "nexus/pkg/bus/memory"
	"nexus/pkg/consume"
	"nexus/pkg/deploy/access"
	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/register"
	"nexus/pkg/table"
)

// storeName is the store among the ports.
const storeName = "store"

// storePort is the workers' view of the table, with the rights of the functions that run them.
type storePort struct {
	h      *history
	rights rights
}

var _ table.Store = storePort{}

// storeCall makes one call. It checks the rows that the call names against the worker's users (I9).
func storeCall[T any](h *history, op string, writes []table.Action, keys []item.Key, do func() (T, error)) (T, error) {
	var none T
	f := h.call(storeName, op)
	h.trespass(op, keys)
	if w := h.current; w != nil {
		if w.readOnly && len(writes) > 0 {
			h.violate("I10", "", w.name, "writes, and was to look alone")
		}
		if err := h.strike(w, op, writes); err != nil {
			return none, err
		}
	}
	if f == failBefore {
		return none, fmt.Errorf("%s: %w", op, h.storeError(op))
	}
	if w := h.current; w != nil && w.unrest != nil {
		h.disturb(w, writes)
	}
	v, err := do()
	if h.hooks != nil && len(writes) > 0 && areOfHooks(keys) {
		h.absorb(h.current) // so that the judge sees one write at a time
	}
	h.after(f)
	if f == failAfter {
		return none, fmt.Errorf("%s: %w", op, table.ErrUnavailable)
	}
	return v, err
}

// trespass reports a worker that touches rows of a user outside its work.
func (h *history) trespass(op string, keys []item.Key) {
	w := h.current
	if w == nil {
		return
	}
	for _, key := range keys {
		if w.allowed[key.PK] {
			continue
		}
		row := key
		if row.SK == "" { // a query, maybe of a repository's partition
			row.SK = repository.HeadPrefix()
		}
		owner := userOf(row)
		if line, _ := register.FindRow(key.PK, key.SK); line.Owner == register.NoUser || isOfAccounts(key) {
			continue
		}
		if owner != "" && w.allowed[entity.UserPK(owner)] { // of a repository's partition, too
			continue
		}
		h.violate("I9", owner, key.String(), "%s by %s", op, w.name)
	}
}

func (p storePort) Get(ctx context.Context, key item.Key) (item.Item, error) {
	p.require(access.GetItem, table.Base, key)
	return storeCall(p.h, "Get", nil, []item.Key{key}, func() (item.Item, error) {
		p.h.watch.read(key.SK)
		return p.h.store.Get(ctx, key)
	})
}

func (p storePort) BatchGet(ctx context.Context, keys []item.Key) ([]item.Item, error) {
	p.require(access.BatchGetItem, table.Base, keys...)
	op := "BatchGet"
	if isOfAccounts(keys[0]) {
		op = asking
	}
	return storeCall(p.h, op, nil, keys, func() ([]item.Item, error) { return p.h.store.BatchGet(ctx, keys) })
}

func (p storePort) Peek(ctx context.Context, keys []item.Key) ([]item.Item, error) {
	p.require(access.BatchGetItem, table.Base, keys...)
	lagging := p.h.laggingState
	if !isOfAccounts(keys[0]) { // a fence bears it
		if !areOfSums(keys) {
			p.mayLag()
		}
		lagging = p.h.lagging
	}
	return storeCall(p.h, "Peek", nil, keys, func() ([]item.Item, error) {
		rows, err := p.h.store.Peek(ctx, keys)
		return lagging(keys, rows), err
	})
}

func (p storePort) Query(ctx context.Context, q table.Query) (table.Page, error) {
	p.require(access.Query, q.Index, item.Key{PK: q.Partition})
	if q.Index != table.Base || q.Eventual {
		p.mayLag()
	}
	return storeCall(p.h, "Query", nil, []item.Key{{PK: q.Partition}}, func() (table.Page, error) {
		page, err := p.h.store.Query(ctx, q)
		p.h.watch.read(q.Range.Prefix)
		if q.Eventual {
			page.Items = p.h.laggingPage(q, page)
		}
		return page, err
	})
}

// mayLag reports a worker that decides on a read which may lag.
func (p storePort) mayLag() {
	if w := p.h.current; w != nil && w.kind != commanding && w.kind != serving && w.kind != erasing &&
		w.kind != telling {
		p.h.violate("I10", "", w.name, "decides on a read that may lag")
	}
}

func (p storePort) Count(ctx context.Context, q table.Query) (int, error) {
	p.require(access.Query, q.Index, item.Key{PK: q.Partition})
	return storeCall(p.h, "Count", nil, []item.Key{{PK: q.Partition}},
		func() (int, error) { return p.h.store.Count(ctx, q) })
}

func (p storePort) Put(ctx context.Context, in table.Put) error {
	p.require(access.PutItem, table.Base, in.Target())
	_, err := storeCall(p.h, "Put", []table.Action{in}, []item.Key{in.Target()},
		func() (struct{}, error) { return struct{}{}, p.h.store.Put(ctx, in) })
	p.h.noteWriters(in.Target(), err)
	return err
}

func (p storePort) Update(ctx context.Context, u table.Update) (item.Item, error) {
	p.require(access.UpdateItem, table.Base, u.Key)
	return storeCall(p.h, "Update", []table.Action{u}, []item.Key{u.Key},
		func() (item.Item, error) { return p.h.store.Update(ctx, u) })
}

func (p storePort) Delete(ctx context.Context, d table.Delete) error {
	p.require(access.DeleteItem, table.Base, d.Key)
	_, err := storeCall(p.h, "Delete", []table.Action{d}, []item.Key{d.Key},
		func() (struct{}, error) { return struct{}{}, p.h.store.Delete(ctx, d) })
	return err
}

func (p storePort) Transact(ctx context.Context, actions ...table.Action) error {
	keys := make([]item.Key, len(actions))
	for i, a := range actions {
		keys[i] = a.Target()
		p.require(actionOf(a), table.Base, keys[i])
	}
	_, err := storeCall(p.h, "Transact", actions, keys, func() (struct{}, error) {
		return struct{}{}, p.h.store.Transact(ctx, actions...)
	})
	return err
}

func (p storePort) Load(ctx context.Context, rows []item.Item) error {
	keys := make([]item.Key, len(rows))
	for i, row := range rows {
		keys[i] = row.Key()
	}
	p.require(access.BatchWriteItem, table.Base, keys...)
	_, err := storeCall(p.h, "Load", []table.Action{}, keys, func() (struct{}, error) {
		return struct{}{}, p.h.store.Load(ctx, rows)
	})
	return err
}

// Walk implements [table.Walker]. The rows are those of the instant in which it begins.
func (p storePort) Walk(ctx context.Context, segment, total int, visit func(item.Item) error) error {
	rows, err := storeCall(p.h, "Walk", nil, nil, func() (rows []item.Item, err error) {
		err = p.h.store.Walk(ctx, segment, total, func(row item.Item) error {
			rows = append(rows, row)
			return nil
		})
		return rows, err
	})
	for _, row := range rows {
		if err := visit(row); err != nil {
			return err
		}
	}
	return err
}

// blobPort is the workers' view of an object store.
type blobPort struct {
	h    *history
	kept blob.Purger
}

func blobCall[T any](h *history, op, name string, do func() (T, error)) (T, error) {
	var none T
	f := h.call("blob", op)
	if w := h.current; w != nil && strings.HasPrefix(name, "archive/") {
		if owner := strings.SplitN(name, "/", 3)[1]; !w.users[owner] {
			h.violate("I9", owner, name, "object %s by %s", op, w.name)
		}
	}
	if f == failBefore {
		return none, fmt.Errorf("%s %s: %w", op, name, blob.ErrThrottled)
	}
	v, err := do()
	h.after(f)
	if f == failAfter {
		return none, fmt.Errorf("%s %s: %w", op, name, blob.ErrUnavailable)
	}
	return v, err
}

func (p blobPort) Put(ctx context.Context, name string, body []byte) error {
	if w := p.h.current; w != nil && !w.dead && strings.HasPrefix(name, consume.ParkedPrefix) {
		if err := w.mayPark(name, body); err != nil {
			if p.h.junk[name] = p.h.refusedRecord(name, body); !p.h.junk[name] {
				p.h.violate("I8", "", name, "was parked, and %v: %.300s", err, body)
			}
		}
		if w.junk != nil && bytes.Contains(body, w.junk) {
			p.h.junk[name] = true
		}
	}
	if !p.h.parksUnowned(name) && !p.h.places.Object(name) {
		p.h.violate("I9", "", name, "is an object that the register does not know")
	}
	_, err := blobCall(p.h, "put", name, func() (struct{}, error) {
		if w := p.h.current; w != nil {
			w.copied = append(w.copied, name)
			p.h.copiedBy[name] = w
		}
		return struct{}{}, p.kept.Put(ctx, name, body)
	})
	return err
}

func (p blobPort) Get(ctx context.Context, name string) ([]byte, error) {
	return blobCall(p.h, "get", name, func() ([]byte, error) { return p.kept.Get(ctx, name) })
}

func (p blobPort) Delete(ctx context.Context, name string) error {
	_, err := blobCall(p.h, "delete", name, func() (struct{}, error) { return struct{}{}, p.kept.Delete(ctx, name) })
	return err
}

// Purge implements [blob.Purger]. What it removes is one user's alone (E3).
func (p blobPort) Purge(ctx context.Context, name string) (int, error) {
	return blobCall(p.h, "purge", name, func() (int, error) {
		before := p.h.objectsIn(p.kept, name)
		n, err := p.kept.Purge(ctx, name)
		p.h.checkPurged(p.kept, before)
		return n, err
	})
}

// Write implements [blob.Streamer].
func (p blobPort) Write(ctx context.Context, name string, fill func(to io.Writer) error) error {
	var body bytes.Buffer
	if err := fill(&body); err != nil {
		return err
	}
	return p.Put(ctx, name, body.Bytes())
}

// Open implements [blob.Streamer].
func (p blobPort) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	body, err := p.Get(ctx, name)
	return io.NopCloser(bytes.NewReader(body)), err
}

func (p blobPort) List(ctx context.Context, prefix string, limit int, after string) ([]string, error) {
	return blobCall(p.h, "list", prefix, func() ([]string, error) { return p.kept.List(ctx, prefix, limit, after) })
}

// newBus returns the workers' bus. Each event that reaches it is checked at once. Between the two questions of a call
// no other worker runs.
func newBus(h *history) *busmemory.Bus {
	var struck fault // of the present call
	return busmemory.New(func(events []bus.Event, after bool) error {
		if after {
			h.absorb(h.current)
			for _, e := range events {
				h.published(e)
			}
			if h.after(struck); struck == failAfter {
				return bus.ErrUnavailable
			}
			return nil
		}
		struck = h.call("bus", "publish")
		if w := h.current; w != nil && w.refusesEvent(events) {
			h.happened["event refused for good"]++
			return bus.ErrInvalid
		}
		if struck == failBefore {
			return bus.ErrThrottled
		}
		return nil
	})
}
