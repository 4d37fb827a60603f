package table_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// A write under a version that has passed changes nothing. The error brings the row that stands in its way.
func ExampleExists() {
	ctx := context.Background()
	store := memory.New(func() time.Time { return time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC) }, memory.Options{})
	key := item.Key{PK: entity.UserPK("ann"), SK: "COUNTER"}
	row := key.Item()
	row["v"] = item.Int(7)
	fmt.Println(store.Put(ctx, table.Put{Item: row, If: table.NotExists()}))

	write := func(expected int64) error {
		_, err := store.Update(ctx, table.Update{
			Key: key, Set: item.Item{"v": item.Int(expected + 1)},
			If: table.Exists(table.Equal("v", item.Int(expected))),
		})
		return err
	}
	fmt.Println(write(7))
	var failed *table.ConditionError
	fmt.Println(errors.As(write(7), &failed), failed.Failures[0].Old.Int("v"))
	// Output:
	// <nil>
	// <nil>
	// true 8
}
