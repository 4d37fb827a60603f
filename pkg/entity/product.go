package entity

import "fmt"

// Product returns the registry of the product's own entity types.
func Product() *Registry {
	r, err := ProductWith()
	if err != nil {
		panic(fmt.Sprintf("entity: %v", err)) // the product's own types are wrong: a programmer's mistake
	}
	return r
}

// ProductWith returns the registry of the product's own entity types and more of another product.
func ProductWith(more ...*Type) (*Registry, error) {
	return NewRegistry(append([]*Type{Event(), Master(), Instance(), Task(), Reminder(), Note(), UserMeta()}, more...)...)
}
