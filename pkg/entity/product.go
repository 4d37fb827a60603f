package entity

import "fmt"

// Product returns the registry of the product's own entity types.
func Product() *Registry {
	r, err := NewRegistry(Event(), Task(), Reminder(), Note(), UserMeta())
	if err != nil {
		panic(fmt.Sprintf("entity: %v", err)) // the product's own types are wrong: a programmer's mistake
	}
	return r
}
