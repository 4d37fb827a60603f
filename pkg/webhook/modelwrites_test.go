package webhook_test

import (
	"context"
	"fmt"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// write writes an item, and the stream has its record.
func (w *history) write() {
	id := itemIDs[w.r.IntN(len(itemIDs))]
	before := w.items[id]
	ch := change.Change{
		Type: taskType, User: user, Ref: entity.Ref{Type: "TASK", ID: id}, Created: w.now.Truncate(time.Second), Old: before,
		Key: entity.ItemKey(user, entity.Ref{Type: "TASK", ID: id}), Sequence: fmt.Sprint(len(w.stream)),
	}
	e := &event{owed: map[string]bool{}}
	switch n := w.r.IntN(10); {
	case before == nil:
		ch.Kind, ch.Version, e.typ = change.Inserted, w.gone[id]+1, "task.created"
		ch.New = w.image(ch, "TODO")
	case n == 0:
		ch.Kind, ch.Version, e.typ = change.Removed, before.Int("version")+1, "task.deleted"
	case n == 1:
		ch.Kind, ch.Version, e.typ = change.Expired, before.Int("version")+1, "task.expired"
	case n == 2: // bookkeeping
		ch.Kind, ch.Version = change.Modified, before.Int("version")
		ch.New = before.Clone()
		ch.New["ttl"] = item.Int(w.now.Unix())
	case n < 5:
		ch.Kind, ch.Version, e.typ = change.Modified, before.Int("version")+1, "task.completed"
		ch.New = w.image(ch, "COMPLETED")
		if before.Str("status") == "COMPLETED" {
			e.typ = "task.updated"
		}
	default:
		ch.Kind, ch.Version, e.typ = change.Modified, before.Int("version")+1, "task.updated"
		ch.New = w.image(ch, before.Str("status"))
	}
	w.items[id] = ch.New
	if ch.New == nil {
		delete(w.items, id)
		w.gone[id] = ch.Version
	}
	e.Change = ch
	w.stream = append(w.stream, e)
}

func (w *history) image(of change.Change, status string) item.Item {
	it := of.Key.Item()
	it["entityType"], it["taskId"], it["version"] = item.String("TASK"), item.String(of.Ref.ID), item.Int(of.Version)
	it["title"], it["status"] = item.String(fmt.Sprintf("title %d <&>", w.r.IntN(1000))), item.String(status)
	return it
}

// user does something with an endpoint.
func (w *history) user() {
	id := hookIDs[w.r.IntN(len(hookIDs))]
	before := w.endpoint(id)
	var after item.Item
	switch n := w.r.IntN(10); {
	case before == nil && w.secrets[id] != nil:
		return // no id comes again
	case before == nil:
		fields := item.Item{
			"url": item.String(w.newAddress()), "types": item.Strings([]string{"*", "task.*", "task.updated"}[w.r.IntN(3)]),
			"ordering": item.String([]string{"parallel", "fifo"}[w.r.IntN(2)]), "status": item.String("ACTIVE"),
			"content": item.String([]string{"thin", "full"}[w.r.IntN(2)]), "generation": item.Int(1),
		}
		made := webhookType.NewItem(user, id, fields, w.now, nil)
		w.direct(func() { w.NoError(w.store.Put(context.Background(), table.Put{Item: made})) })
		w.secrets[id] = []secret{{w.master.KeysOf(user, made), w.now}}
		w.disabled[id] = false
		return
	case n < 2:
		w.direct(func() { w.NoError(w.store.Delete(context.Background(), table.Delete{Key: hookKey(id)})) })
		w.disabled[id] = true
		w.happened(change.Removed, before, nil)
		return
	case n < 6 && before.Str("status") == "DISABLED":
		after = before.Clone()
		after["status"] = item.String("ACTIVE")
	case n < 3:
		after = before.Clone()
		after["status"] = item.String("DISABLED")
		w.disabled[id] = true
	case n < 4:
		after = before.Clone()
		after["url"] = item.String(w.newAddress())
	default:
		after = before.Clone()
		after["generation"] = item.Int(before.Int("generation") + 1)
		after.SetTime("rotatedAt", w.now)
	}
	next := webhookType.NextVersion(entity.ByUser, user, before, after, w.now, nil)
	w.direct(func() { w.NoError(w.store.Put(context.Background(), table.Put{Item: next})) })
	if next.Int("generation") > before.Int("generation") {
		w.secrets[id] = append(w.secrets[id], secret{w.master.KeysOf(user, next), w.now})
	}
	w.happened(change.Modified, before, next)
}

// happened puts the record of an endpoint into the stream.
func (w *history) happened(kind change.Kind, before, after item.Item) {
	id := before.Str("webhookId")
	w.stream = append(w.stream, &event{owed: map[string]bool{}, Change: change.Change{
		Kind: kind, Type: webhookType, User: user, Ref: entity.Ref{Type: "WEBHOOK", ID: id}, Key: hookKey(id), Old: before,
		New: after, Version: before.Int("version") + 1, Created: w.now.Truncate(time.Second),
		Sequence: fmt.Sprint(len(w.stream)),
	}})
}
