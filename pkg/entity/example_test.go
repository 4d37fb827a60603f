package entity_test

import (
	"fmt"

	"nexus/pkg/entity"
	"nexus/pkg/product"
)

// book is an entity type of another product: all that the commands, the queries and the API need to know of it.
func book() *entity.Type {
	return &entity.Type{
		Name: "BOOK", IDAttr: "bookId", IDPrefix: "book", Plural: "books",
		Fields: entity.Common("bookId",
			entity.Field{Name: entity.AttrTitle, Kind: entity.Text, Required: true, Min: 1, Max: 20, Doc: "As on the cover."},
		),
	}
}

// A registry takes types as data and refuses two that claim the same name. A type checks a document by its fields.
func ExampleNewRegistry() {
	registry, err := entity.NewRegistry(book(), product.Note(), product.UserMeta())
	fmt.Println(registry.ByName("BOOK").Plural, err)

	typ := registry.ByName("BOOK")
	_, wrong := typ.Parse(map[string]any{"title": 7, "pages": true})
	for _, field := range wrong {
		fmt.Println(field.Pointer, field.Detail)
	}
	_, err = entity.NewRegistry(book(), book())
	fmt.Println(err)
	// Output:
	// books <nil>
	// /title must be a text
	// /pages is not a known field
	// entity type BOOK: name, id prefix "book" or path "books" is taken
}
