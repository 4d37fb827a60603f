package item_test

import (
	"fmt"

	"nexus/pkg/item"
)

// What DynamoDB bills for a row: the names of its attributes and their values.
func ExampleSize() {
	fmt.Println(item.Size(item.Item{"ab": item.String("cde")}))
	fmt.Println(item.Size(item.Item{"PK": item.String("USER#ann"), "SK": item.String("NOTE#1"), "version": item.Int(12)}))
	// Output:
	// 5
	// 27
}
