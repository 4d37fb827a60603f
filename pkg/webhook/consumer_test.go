package webhook_test

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strconv"
	"testing"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/webhook"
)

func TestConsumer_putsAMessageOfEachEventOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.hook(hook1)
	f.hook(hook2, "content", "full")
	ch := f.task("task_a", 3)
	for range 3 {
		f.apply(ch)
	}
	rows := f.rows(outbox.RowMessage)
	f.Len(rows, 2)
	sum := sha256.Sum256([]byte(hook1 + "#task_a#3#task.updated"))
	id := "msg_" + base32.StdEncoding.EncodeToString(sum[:])[:26]
	f.Equal("MSG#"+hook1+"#2030-03-01T12:00:00Z#000000000003#"+id, rows[0].Key().SK)
	f.Equal(`{"type":"task.updated","timestamp":"2030-03-01T12:00:00Z",`+
		`"data":{"id":"task_a","entityType":"TASK","version":3}}`, rows[0].Str("body"))
	f.JSONEq(`{"type":"task.updated","timestamp":"2030-03-01T12:00:00Z","data":{"id":"task_a","entityType":"TASK",
		"taskId":"task_a","title":"Water the plants","status":"TODO","version":3}}`, rows[1].Str("body"))
	f.work()
	f.Len(f.got, 2)
	f.Equal(id, f.got[0].id)
	f.Equal(rows[0].Str("body"), f.got[0].body)
	f.Equal(strconv.FormatInt(f.now.Unix(), 10), f.got[0].stamp)
	f.Empty(f.rows(outbox.RowOut))
	for _, row := range f.rows(outbox.RowMessage) {
		f.Equal("done", row.Str("state"))
		f.Equal(f.now.Add(30*24*time.Hour).Unix(), row.Int("ttl"))
	}
	f.apply(ch)
	f.work()
	f.Len(f.got, 2, "a record that comes again sends nothing")
}

func TestConsumer_tellsOfARemovalWithTheItemAsItWas(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.hook(hook1, "content", "full")
	ch := f.task("task_a", 4)
	ch.Kind, ch.Old, ch.New = change.Removed, f.task("task_a", 3).New, nil
	f.apply(ch)
	f.JSONEq(`{"type":"task.deleted","timestamp":"2030-03-01T12:00:00Z","data":{"id":"task_a","entityType":"TASK",
		"taskId":"task_a","title":"Water the plants","status":"TODO","version":4}}`, f.message().Str("body"))
}

func TestConsumer_namesEventsByWhatHappened(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.hook(hook1)
	image := func(version int64, members ...string) item.Item {
		it := f.task("task_a", version).New
		for i := 0; i < len(members); i += 2 {
			it[members[i]] = item.String(members[i+1])
		}
		return it
	}
	made := func(kind change.Kind, before, after item.Item) change.Change {
		ch := f.task("task_a", 2)
		ch.Kind, ch.Old, ch.New = kind, before, after
		return ch
	}
	for _, c := range []struct {
		ch   change.Change
		want string
	}{
		{made(change.Inserted, nil, image(1)), "task.created"},
		{made(change.Inserted, nil, image(5, "restoredAt", "2030-03-01T11:00:00Z")), "task.restored"},
		{made(change.Modified, image(1), image(2)), "task.updated"},
		{made(change.Modified, image(1), image(2, "status", "COMPLETED")), "task.completed"},
		{made(change.Modified, image(2), image(2)), ""},
		{made(change.Removed, image(1), nil), "task.deleted"},
		{made(change.Expired, image(1), nil), "task.expired"},
	} {
		for _, row := range f.rows("MSG") {
			f.NoError(f.store.Delete(t.Context(), table.Delete{Key: row.Key()}))
		}
		f.apply(c.ch)
		rows := f.rows("MSG")
		if c.want == "" {
			f.Empty(rows)
			continue
		}
		f.Len(rows, 1, c.want)
		f.Equal(c.want, rows[0].Str("type"))
	}
}

func TestConsumer_tellsThoseAloneThatAsk(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.now = f.now.Add(300 * time.Millisecond)
	f.hook(hook1)
	ch := f.task("task_a", 1)
	for _, c := range []struct {
		types  string
		status string
		at     time.Duration
		told   bool
	}{
		{"*", "ACTIVE", 0, true}, {"task.*", "ACTIVE", 0, true}, {"task.created", "ACTIVE", 0, true},
		{"task.updated", "ACTIVE", 0, false}, {"note.*", "ACTIVE", 0, false}, {"*", "DISABLED", 0, false},
		{"*", "ACTIVE", -time.Second, false},
	} {
		hook := f.read(hook1).Clone()
		hook["types"], hook["status"] = item.Strings(c.types), item.String(c.status)
		f.NoError(f.store.Put(t.Context(), table.Put{Item: hook}))
		one := ch
		one.Created = ch.Created.Add(c.at)
		f.apply(one)
		rows := f.rows("MSG")
		f.Equal(c.told, len(rows) == 1, "%+v", c)
		for _, row := range append(rows, f.rows("OUT")...) {
			f.NoError(f.store.Delete(t.Context(), table.Delete{Key: row.Key()}))
		}
	}
	old := f.task("task_old", 1)
	hook := f.read(hook1).Clone()
	hook["types"], hook["status"] = item.Strings("*"), item.String("ACTIVE")
	hook["createdAt"] = item.String("2020-01-01T00:00:00Z")
	f.NoError(f.store.Put(t.Context(), table.Put{Item: hook}))
	old.Created = f.now.Add(-29*24*time.Hour - time.Minute).Truncate(time.Second)
	f.apply(old)
	f.Equal("late", f.message().Str("reason"))
	f.Equal("dead", f.message().Str("state"))
	f.Empty(f.rows("OUT"))
}

func TestWorker_putsAMessageOfAReminderOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.hook(hook1, "content", "full")
	detail := []byte(`{"deliveryId":"d1","userId":"ann","occurredAt":"2030-03-01T12:00:00Z","itemType":"TASK",
		"itemId":"task_a","title":"Call","occurrenceUtc":"2030-03-01T12:10:00Z","dueUtc":"2030-03-01T12:00:00Z"}`)
	for range 2 {
		f.NoError(f.worker.HandleReminder(t.Context(), detail))
	}
	f.work()
	f.Len(f.got, 1)
	f.JSONEq(`{"type":"reminder.due","timestamp":"2030-03-01T12:00:00Z","data":{"id":"task_a","entityType":"TASK",
		"deliveryId":"d1","occurrenceUtc":"2030-03-01T12:10:00Z","dueUtc":"2030-03-01T12:00:00Z",
		"title":"Call"}}`, f.got[0].body)
	f.Contains(f.message().Key().SK, "#000000000000#msg_")
	for _, bad := range []string{"", "{}", `{"deliveryId":"d","userId":"a#b","occurredAt":"2030-03-01T12:00:00Z"}`} {
		var refused *webhook.CallError
		f.ErrorAs(f.worker.HandleReminder(t.Context(), []byte(bad)), &refused)
	}
}

func TestConsumer_setsSchedulesOfWhichNoneTakesThePlaceOfOneThatWasNotCalled(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.hook(hook1)
	began := f.now
	for n := int64(0); ; n++ {
		f.LessOrEqual(f.now.Sub(began), 4*time.Minute)
		f.apply(f.task(fmt.Sprintf("task_%d", n), 1))
		f.invoked = nil
		if one, due := f.schedules.Take(f.now); due {
			f.NoError(f.worker.Work(t.Context(), one.Payload))
			f.NotEmpty(f.got)
			return
		}
		f.now = f.now.Add(20 * time.Second)
	}
}

func TestConsumer_costsAUserWithoutEndpointsOneUnitABatch(t *testing.T) {
	t.Parallel()
	f := setup(t)
	var units float64
	calls := map[string]int{}
	f.box.Store = memory.New(func() time.Time { return f.now }, memory.Options{Observer: func(c table.Consumption) {
		units += c.ReadUnits + c.WriteUnits
		calls[c.Op]++
	}})
	other := f.task("task_c", 1)
	other.User = "bob"
	bookkeeping := f.task("task_d", 2)
	bookkeeping.User, bookkeeping.Old = "carl", bookkeeping.New
	f.apply(f.task("task_a", 1), f.task("task_b", 1), f.task("task_a", 2), other, bookkeeping)
	f.InDelta(2, units, 0, "ann and bob")
	f.Equal(map[string]int{"Query": 2}, calls)
	_, any := f.schedules.Next()
	f.False(any)
	f.Empty(f.invoked)
}

// The cost of webhooks is reckoned from these units: see package cost.
func TestWorker_costsTheUnitsThatArePinned(t *testing.T) {
	t.Parallel()
	f := setup(t)
	var reads, writes float64
	f.store = memory.New(func() time.Time { return f.now }, memory.Options{Observer: func(c table.Consumption) {
		reads, writes = reads+c.ReadUnits, writes+c.WriteUnits
	}})
	f.box.Store = f.store
	c := f.worker.Config
	c.Store = f.store
	f.worker = webhook.NewWorker(c)
	f.hook(hook1)
	f.apply(f.task("task_a", 1))
	f.work()
	for f.next() {
	}
	f.Len(f.got, 1)
	reads, writes = 0, 0 // the lane is there, as for all messages but the first

	f.apply(f.task("task_a", 2))
	f.work()
	f.Len(f.got, 2)
	f.InDelta(9, reads, 0, "reads until it is sent")
	f.InDelta(10, writes, 0, "writes until it is sent")
	reads, writes = 0, 0
	for f.next() {
	}
	f.InDelta(2, reads, 0, "reads of the schedule's call")
	f.InDelta(0, writes, 0, "writes of the schedule's call")
}

// The stream of a replica does not say that TTL removed an item: that its user did not delete it does.
func TestConsumer_tellsOfAnExpiryInAnotherRegionAsOne(t *testing.T) {
	t.Parallel()
	for want, isDeleted := range map[string]bool{"task.expired": false, "task.deleted": true} {
		f := setup(t)
		f.hook(hook1)
		removal := f.task("task_a", 2)
		removal.Kind, removal.Old, removal.New = change.Removed, removal.New, nil
		removal.Old["version"], removal.Old["ttl"] = item.Int(1), item.Int(f.now.Unix()-60)
		if isDeleted {
			f.put(entity.GoneKey(user, "task_a").Item())
		}
		f.apply(removal)
		f.Equal(want, f.message().Str("type"))
	}
}

func TestWorker_putsNothingAboutAReminderOfAUserWhoIsGone(t *testing.T) {
	t.Parallel()
	f := setup(t, func(c *webhook.Config) {
		c.IsGone = func(context.Context, string) (bool, error) { return true, nil }
	})
	f.hook(hook1)
	detail := fmt.Sprintf(`{"deliveryId":"d1","userId":%q,"occurredAt":%q}`, user, item.FormatInstant(f.now))
	f.NoError(f.worker.HandleReminder(t.Context(), []byte(detail)))
	f.Empty(f.rows(outbox.RowMessage))
	f.Empty(f.invoked)
}

// dying dies after its last transaction, and lets time pass after each before.
type dying struct {
	table.Store
	left int
	pass func()
}

func (d *dying) Transact(ctx context.Context, actions ...table.Action) error {
	if err := d.Store.Transact(ctx, actions...); err != nil {
		return err
	}
	if d.left--; d.left == 0 {
		panic("killed")
	}
	d.pass()
	return nil
}

func TestConsumer_sendsWhatItHadPutAlsoIfTheEndpointAsksForOtherEventsNow(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.hook(hook1)
	records := []change.Change{f.task("task_a", 1), f.task("task_b", 1)}
	box := f.box
	box.Store = &dying{f.store, len(records), func() {
		f.True(f.next())
		f.Len(f.got, 1)
	}}
	f.Panics(func() { webhook.NewConsumer(box, 1).Apply(t.Context(), records) })
	f.Len(f.rows(outbox.RowOut), 1)
	other := f.read(hook1).Clone()
	other["types"] = item.Strings("note.created")
	f.put(other)
	f.apply(records...)
	f.Empty(f.invoked)
	f.True(f.next())
	f.Len(f.got, 2)
	f.Empty(f.rows(outbox.RowOut))
}
