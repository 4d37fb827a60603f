package projection_test

import (
	"context"
	"fmt"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// noteCreated is the stream's record of a new note.
func noteCreated(id string, at time.Time, tags ...string) change.Change {
	typ, fields := product.Note(), item.Item{entity.AttrTitle: item.String("a note")}
	fields.Set(entity.AttrTags, item.Strings(tags...))
	it := typ.NewItem("ann", id, fields, at, nil)
	return change.Change{Type: typ, User: "ann", Ref: typ.Ref(it), Key: it.Key(), New: it, Version: 1, Created: at}
}

// Count a user's items by type. The stream delivers the record twice, and the note counts once.
func ExampleNewOwnSum() {
	ctx, at := context.Background(), time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	clock := func() time.Time { return at }
	store := memory.New(clock, memory.Options{})

	byType := projection.NewOwnSum("bytype", "b1", func(t *entity.Type, _ item.Item) projection.Amounts {
		return projection.Amounts{Add: map[string]int64{t.Name: 1}}
	})
	consumer := projection.NewConsumer(byType, store, clock)
	record := noteCreated("note_1", at)
	for range 2 {
		outcome := consumer.Apply(ctx, []change.Change{record})[0]
		fmt.Println("done before:", outcome.Already, "error:", outcome.Err)
	}

	row, err := store.Get(ctx, entity.SumKey("ann", "bytype"))
	fmt.Println(row.Map("sum").Int("NOTE"), err)
	// Output:
	// done before: false error: <nil>
	// done before: true error: <nil>
	// 1 <nil>
}

// Keep one row for each tag of each item, so that the items of a tag can be listed.
func ExampleNewRows() {
	ctx, at := context.Background(), time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	clock := func() time.Time { return at }
	store := memory.New(clock, memory.Options{})

	byTag := projection.NewRows(projection.RowsSpec{
		Name: "bytag", Revision: "b1",
		Edges: func(_ *entity.Type, it item.Item) []string { return it.Strings(entity.AttrTags) },
		Row: func(user string, source entity.Ref, tag string) item.Item {
			return item.Key{PK: entity.UserPK(user), SK: "TAGGED#" + source.Type + "#" + source.ID + "#" + tag}.Item()
		},
		Prefix: func(typeName string) string { return "TAGGED#" + typeName + "#" },
	})
	consumer := projection.NewConsumer(byTag, store, clock)
	fmt.Println(consumer.Apply(ctx, []change.Change{noteCreated("note_1", at, "home", "garden")})[0].Err)

	page, err := store.Query(ctx, table.Query{
		Partition: entity.UserPK("ann"), Range: table.Range{Prefix: "TAGGED#"}, Limit: 10,
	})
	for _, row := range page.Items {
		fmt.Println(row.Key().SK)
	}
	fmt.Println(err)
	// Output:
	// <nil>
	// TAGGED#NOTE#note_1#garden
	// TAGGED#NOTE#note_1#home
	// <nil>
}
