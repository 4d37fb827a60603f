package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Endpoints serves what a user asks about endpoints beside their own attributes. It is safe for concurrent use.
type Endpoints struct {
	Outbox
	// Master returns the secret from which those of endpoints follow.
	Master func(context.Context) (Master, error)
	// NewID returns a new id for a message of a test.
	NewID func() string
}

// Delivery is a message to an endpoint and what became of it.
type Delivery struct {
	ID, Type, State, Reason string
	At                      time.Time // of the event
	NextAt                  time.Time // of the next attempt; zero for none
	Attempts                []Attempt // the last ten
}

// Attempt is one request and what came of it.
type Attempt struct {
	At     time.Time
	Status int64 // 0 for no answer
	Millis int64
	Text   string // how the answer begins, or why there was none
}

// Filter selects messages. A zero member selects all.
type Filter struct {
	State    string
	Type     string    // as in the types of an endpoint: task.* and * select several
	From, To time.Time // of the event, both inclusive
	IDs      []string
}

func (f Filter) matches(id outbox.ID, row item.Item) bool {
	return (f.State == "" || row.Str(attrState) == f.State) &&
		(f.Type == "" || areFor([]string{f.Type}, row.Str(attrType))) &&
		(f.From.IsZero() || !id.At.Before(f.From)) && (f.To.IsZero() || !id.At.After(f.To)) &&
		(len(f.IDs) == 0 || slices.Contains(f.IDs, id.Message))
}

// read reads at most so many messages of an endpoint, from a place on, and returns those that match, and the place of
// the rest; empty if there is none. A place is what a sort key has behind the prefix of the endpoint's messages.
func (e *Endpoints) read(
	ctx context.Context, of call, f Filter, q table.Query, place string, most int,
) (found []item.Item, rest string, err error) {
	prefix := outbox.MessagePrefix(of.Hook)
	q.Partition, q.Range, q.Limit = entity.UserPK(of.UserID), table.Range{Prefix: prefix}, min(most, page)
	if place != "" {
		q.Start = table.Position(item.Key{PK: q.Partition, SK: prefix + place}.Item())
	}
	read := 0
	for row, err := range table.Rows(ctx, e.Store, q, 0) {
		if err != nil {
			return nil, "", fmt.Errorf("read the messages: %w", err)
		}
		if read == most {
			return found, rest, nil
		}
		read++
		sk := row.Key().SK
		rest = sk[len(prefix):]
		if id, err := outbox.Parse(sk); err == nil && f.matches(id, row) {
			found = append(found, row)
		}
	}
	return found, "", nil
}

// CheckPlace reports whether a text is the place of a message.
func CheckPlace(place string) bool {
	id, err := outbox.Parse(outbox.MessagePrefix("whk_x") + place)
	return err == nil && id.Hook == "whk_x"
}

// List returns messages to an endpoint, the newest event first: of at most so many that are read from a place on.
func (e *Endpoints) List(
	ctx context.Context, user, hook string, f Filter, place string, most int,
) (page []Delivery, rest string, err error) {
	rows, rest, err := e.read(ctx, call{user, hook}, f, table.Query{Descending: true}, place, most)
	if err != nil {
		return nil, "", err
	}
	outs, err := e.outs(ctx, user, rows)
	if err != nil {
		return nil, "", err
	}
	for _, row := range rows {
		page = append(page, readDelivery(row, outs))
	}
	return page, rest, nil
}

// outs returns the rows OUT# of those messages that are pending, by the messages' ids.
func (e *Endpoints) outs(ctx context.Context, user string, messages []item.Item) (map[outbox.ID]item.Item, error) {
	var keys []item.Key
	for _, row := range messages {
		if id, err := outbox.Parse(row.Key().SK); err == nil && row.Str(attrState) == StatePending {
			keys = append(keys, outbox.OutKey(user, id))
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	rows, err := e.Store.Peek(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read what is to be sent: %w", err)
	}
	outs := map[outbox.ID]item.Item{}
	for _, row := range rows {
		if id, err := outbox.Parse(row.Key().SK); err == nil {
			outs[id] = row
		}
	}
	return outs, nil
}

func readDelivery(row item.Item, outs map[outbox.ID]item.Item) Delivery {
	id, _ := outbox.Parse(row.Key().SK)
	d := Delivery{
		ID: id.Message, Type: row.Str(attrType), State: row.Str(attrState), Reason: row.Str(attrReason), At: id.At,
	}
	log := row[attrLog]
	if out := outs[id]; d.State == StatePending && out != nil {
		log = out[attrLog]
		d.NextAt, _ = out.Time(attrNextAt)
	}
	list, _ := log.(item.List)
	for _, v := range list {
		inner, _ := v.(item.Map)
		one := item.Item(inner)
		a := Attempt{Status: one.Int(logStatus), Millis: one.Int(logMillis), Text: one.Str(logText)}
		a.At, _ = one.Time(logAt)
		d.Attempts = append(d.Attempts, a)
	}
	return d
}

const (
	// MaxRead is the number of messages that one call of [Endpoints.Redeliver] reads.
	MaxRead = 1000
	// movedAtOnce is the number of messages that one transaction makes pending.
	movedAtOnce = 50
)

// Redeliver has messages that are done or dead sent again, and returns how many: of at most [MaxRead] that are read
// from a place on. A dry run counts alone.
func (e *Endpoints) Redeliver(
	ctx context.Context, user, hook string, f Filter, place string, isDry bool,
) (n int, rest string, err error) {
	of := call{user, hook}
	rows, rest, err := e.read(ctx, of, f, table.Query{Eventual: true}, place, MaxRead)
	if err != nil {
		return 0, "", err
	}
	rows = slices.DeleteFunc(rows, func(row item.Item) bool { return row.Str(attrState) == StatePending })
	if isDry {
		return len(rows), rest, nil
	}
	soon, err := e.announce(ctx, of)
	if err != nil {
		return 0, "", err
	}
	var failed error
	for some := range slices.Chunk(rows, movedAtOnce) {
		var moved int
		if moved, failed = e.move(ctx, user, some); failed != nil {
			break
		}
		n += moved
	}
	// Those that were moved, and perhaps those of a transaction without an answer, are due in any case.
	return n, rest, errors.Join(failed, e.wake(ctx, of, soon))
}

// move makes messages pending, each in its state as it was read. It leaves out those that have changed since. No row
// OUT# is as one before was, so that the outcome of an earlier attempt does not count.
func (e *Endpoints) move(ctx context.Context, user string, rows []item.Item) (moved int, err error) {
	again := e.NewID()
	for len(rows) > 0 {
		var actions []table.Action
		for _, row := range rows {
			id, err := outbox.Parse(row.Key().SK)
			if err != nil {
				return 0, err
			}
			out := outRow(user, id, e.Now())
			out[attrAgain] = item.String(again)
			if log, ok := row[attrLog]; ok { // a user sees the attempts of before, too
				out[attrLog] = log
			}
			actions = append(actions, table.Update{
				Key: row.Key(), Set: item.Item{attrState: item.String(StatePending)},
				Remove: []string{entity.AttrTTL, attrReason, attrLog},
				If:     table.Exists(table.Equal(attrState, row[attrState])),
			}, table.Put{Item: out})
		}
		err := e.Store.Transact(ctx, actions...)
		var failed *table.ConditionError
		if !errors.As(err, &failed) {
			return len(rows), err
		}
		left := rows[:0:0]
		for i, row := range rows {
			if _, has := failed.At(2 * i); !has {
				left = append(left, row)
			}
		}
		rows = left
	}
	return 0, nil
}

// Test sends a message to an endpoint by which its user tries it, and returns the message's id.
func (e *Endpoints) Test(ctx context.Context, user, hook string) (id string, err error) {
	now := e.Now().UTC().Truncate(time.Second)
	m := message{user: user, typ: TypeTest, id: outbox.ID{Hook: hook, At: now, Message: messageID(hook, e.NewID())}}
	m.body = appendText(append(appendBegin(nil, TypeTest, now), `"id":`...), hook)
	m.body = append(m.body, `}}`...)
	return m.id.Message, e.submit(ctx, m)
}

// Find returns an endpoint of a user; nil if there is none.
func (e *Endpoints) Find(ctx context.Context, user, hook string) (item.Item, error) {
	return e.hook(ctx, call{user, hook})
}
