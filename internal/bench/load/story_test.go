package load_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// step is one thing that a user does to an item of theirs.
type step struct {
	item string
	act  func(it item.Item) // nil removes the item
	body map[string]any     // of an item that is made
}

func set(name, value string) func(item.Item) {
	return func(it item.Item) { it[name] = item.String(value) }
}

func link(targets ...string) func(item.Item) {
	return func(it item.Item) {
		links := entity.LinksOf(it)
		for _, id := range targets {
			links = append(links, entity.Link{Target: entity.Ref{Type: product.TypeNote, ID: id}})
		}
		entity.SetLinks(it, links)
	}
}

// story lists the steps of one user in a day: 20 changes of seven items, a series with two exceptions among them. About
// half of the changes count for the statistics, a third for the links.
var story = []step{
	{item: "task_1", body: itemBody(0, base).Body, act: link("note_1", "note_2")},
	{item: "task_1", act: set(entity.AttrTitle, "another title")},
	{item: "evt_1", body: itemBody(5, base).Body, act: link("note_1")},
	{item: "note_1", body: itemBody(3, base).Body, act: link("note_2", "note_3", "note_4")},
	{item: "note_1", act: link("note_5")},
	{item: "mst_1", body: weekly(), act: link("note_1")},
	{item: "inst_20260609_1", act: link("note_1", "note_2")},
	{item: "mst_1", act: func(it item.Item) { it[product.AttrHasExceptions] = item.Bool(true) }},
	{item: "inst_20260616_1", act: set(entity.AttrStatus, product.StatusCancelled)},
	{item: "task_1", act: set(entity.AttrStatus, product.StatusInProgress)},
	{item: "task_1", act: func(it item.Item) {
		it[entity.AttrStatus] = item.String(product.StatusCompleted)
		it.SetTime(product.AttrCompletedAt, base.Add(time.Hour))
	}},
	{item: "evt_1", act: func(it item.Item) {
		it.SetTime(product.AttrStartUtc, base.Add(2*time.Hour))
		it.SetTime(product.AttrEndUtc, base.Add(3*time.Hour))
	}},
	{item: "rem_1", body: itemBody(2, base).Body},
	{item: "rem_1", act: set(entity.AttrTitle, "another title")},
	{item: "note_1", act: set(entity.AttrTitle, "another title")},
	{item: "evt_1"},
	{item: "mst_1", act: set(product.AttrRRule, "FREQ=WEEKLY;COUNT=30")},
	{item: "note_2", body: itemBody(3, base).Body},
	{item: "task_2", body: itemBody(1, base.AddDate(0, 0, 3)).Body},
	{item: "note_2"},
}

func weekly() map[string]any {
	d, _ := recurring(base, 0)
	body := maps.Clone(d.Body)
	body["startUtc"], body["endUtc"] = base.Add(33*time.Hour).Format(time.RFC3339),
		base.Add(34*time.Hour).Format(time.RFC3339)
	body["reminderMinutes"] = []int{10}
	return body
}

// changesOf are the changes that a user's story makes, in its order.
func changesOf(tb testing.TB, owner string) []change.Change {
	tb.Helper()
	registry := product.Registry()
	items := map[string]item.Item{}
	out := make([]change.Change, 0, len(story))
	for _, s := range story {
		before := items[s.item]
		c := change.Change{Type: registry.ByID(s.item), User: owner, Old: before, Created: base}
		switch {
		case before == nil:
			c.Kind, c.New = change.Inserted, firstOf(tb, c.Type, owner, s, items)
		case s.act == nil:
			c.Kind = change.Removed
		default:
			after := before.Clone()
			s.act(after)
			c.Kind, c.New = change.Modified, c.Type.NextVersion(entity.ByUser, owner, before, after, base.Add(time.Minute), nil)
		}
		items[s.item] = c.New
		image := c.New
		if image == nil {
			image = before
			c.Version = 1
		}
		c.Version += image.Int(entity.AttrVersion)
		c.Key, c.Ref = image.Key(), c.Type.Ref(image)
		out = append(out, c)
	}
	return out
}

func firstOf(tb testing.TB, t *entity.Type, owner string, s step, items map[string]item.Item) (it item.Item) {
	tb.Helper()
	if t.Name == entity.TypeInstance {
		masterID, date, err := entity.ParseInstanceID(s.item)
		require.NoError(tb, err)
		it = exceptionRow(owner, items[masterID], exceptionDoc{Date: date, Body: map[string]any{"title": "for once"}})
	} else {
		it = document{Type: t.Name, Body: s.body}.created(tb, owner, strings.TrimPrefix(s.item, t.IDPrefix+"_"), base)
	}
	if s.act != nil {
		s.act(it)
	}
	return it
}

// order says in which order the changes of many users come out of a stream.
type order struct {
	name string
	// place returns where in the stream the step of a user stands.
	place func(user, step, users int) int
}

var orders = []order{
	{"all-users-at-once", func(user, step, users int) int { return step*users + user }},
	{"one-user-after-another", func(user, step, _ int) int { return user*len(story) + step }},
}

// streamOf is every user's story, in the order.
func streamOf(tb testing.TB, o order, users int) []change.Change {
	tb.Helper()
	out := make([]change.Change, users*len(story))
	for u := range users {
		for i, c := range changesOf(tb, fmt.Sprintf("user_%d", u)) {
			out[o.place(u, i, users)] = c
		}
	}
	return out
}
