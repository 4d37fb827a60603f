package product

import (
	"fmt"

	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
)

// Registry returns the registry of the product's own entity types.
func Registry() *entity.Registry {
	r, err := RegistryWith()
	if err != nil {
		panic(fmt.Sprintf("product: %v", err)) // the product's own types are wrong: a programmer's mistake
	}
	return r
}

// RegistryWith returns the registry of the product's own entity types and more of another product.
func RegistryWith(more ...*entity.Type) (*entity.Registry, error) {
	return entity.NewRegistry(append([]*entity.Type{
		Event(), Master(), Instance(), Task(), Reminder(), Note(), outbox.Webhook(), UserMeta(),
	}, more...)...)
}
