package revision_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// recorder keeps the key condition of every call, in the words of docs/repositories.md.
type recorder struct {
	table.Store
	calls []string
	// trips are the round trips that the adapter below says it made; those of one Load are one.
	mu    sync.Mutex
	trips []string
}

func (r *recorder) observe(u table.Consumption) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.trips); u.Op == "Load" && n > 0 && r.trips[n-1] == "Load" {
		return // which the service takes in parts
	}
	r.trips = append(r.trips, u.Op)
}

func (r *recorder) note(op, condition string) {
	r.calls = append(r.calls, op+" `"+named(condition)+"`")
}

func rowLabel(key item.Key) string { return "PK = " + key.PK + ", SK = " + key.SK }

func rangeLabel(q table.Query) string {
	text := "PK = " + q.Partition
	switch {
	case q.Range.Prefix != "":
		text += ", begins_with(SK, " + q.Range.Prefix + ")"
	case q.Range.From != "" || q.Range.To != "":
		text += ", SK BETWEEN " + q.Range.From + " AND " + q.Range.To
	}
	if q.Descending {
		text += ", newest first"
	}
	return text
}

// named puts names in the place of what differs from run to run.
func named(condition string) string {
	for _, is := range []struct{ pattern, name string }{
		{`U#` + user, "U#u"},
		{`PLAN#` + day[:7] + `-\d\d`, "PLAN#<date>"},
		{`rev_\w+`, "<revId>"},
		{`(drv|mil|act)_[0-9a-f-]{36}`, "<nodeId>"},
		{`\d{4}-\d\d-\d\dT[\d:]+Z`, "<Z>"},
	} {
		condition = regexp.MustCompile(is.pattern).ReplaceAllString(condition, is.name)
	}
	return condition
}

func (r *recorder) Get(ctx context.Context, key item.Key) (item.Item, error) {
	r.note("Get", rowLabel(key))
	return r.Store.Get(ctx, key)
}

func (r *recorder) BatchGet(ctx context.Context, keys []item.Key) ([]item.Item, error) {
	r.note("BatchGet", rowLabel(keys[0]))
	return r.Store.BatchGet(ctx, keys)
}

func (r *recorder) Query(ctx context.Context, q table.Query) (table.Page, error) {
	if q.Index != table.Base {
		return table.Page{}, fmt.Errorf("index %v: a repository needs none", q.Index)
	}
	r.note("Query", rangeLabel(q))
	return r.Store.Query(ctx, q)
}

func (r *recorder) Count(ctx context.Context, q table.Query) (int, error) {
	r.note("Count", rangeLabel(q))
	return r.Store.Count(ctx, q)
}

func (r *recorder) Put(ctx context.Context, p table.Put) error {
	r.note("Put", rowLabel(p.Item.Key()))
	return r.Store.Put(ctx, p)
}

func (r *recorder) Delete(ctx context.Context, d table.Delete) error {
	r.note("Delete", rowLabel(d.Key))
	return r.Store.Delete(ctx, d)
}

func (r *recorder) Load(ctx context.Context, rows []item.Item) error {
	r.note("Load", "PK = "+rows[0].Str(item.AttrPK))
	return r.Store.Load(ctx, rows)
}

// Transact notes the rows that a transaction has a condition on.
func (r *recorder) Transact(ctx context.Context, actions ...table.Action) error {
	var guarded []string
	for _, a := range actions {
		if condition, ok := conditionOf(a); ok {
			guarded = append(guarded, named(rowLabel(a.Target()))+" if "+condition)
		}
	}
	if len(guarded) == 0 {
		guarded = append(guarded, named("PK = "+actions[0].Target().PK))
	}
	r.calls = append(r.calls, "Transact `"+strings.Join(guarded, "; ")+"`")
	return r.Store.Transact(ctx, actions...)
}

func conditionOf(a table.Action) (string, bool) {
	var c table.Condition
	switch a := a.(type) {
	case table.Put:
		c = a.If
	case table.Update:
		c = a.If
	case table.Delete:
		c = a.If
	case table.Check:
		c = a.If
	}
	switch {
	case c.Row == table.RowMissing:
		return "absent", true
	case len(c.Tests) > 0:
		return c.Tests[0].Attr + " as read", true
	case c.Row == table.RowExists:
		return "present", true
	}
	return "", false
}
