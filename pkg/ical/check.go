package ical

import (
	"errors"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// check checks a draft against the rules of its entity, so that a refusal names its component and does not come from
// the write. MASTER and INSTANCE have the fields of EVENT and more.
func (m *mapper) check(d *Draft) error {
	kind := d.Kind
	if kind == entity.TypeMaster || kind == entity.TypeInstance {
		kind = product.TypeEvent
	}
	t := m.types.ByName(kind)
	merged, errs := t.Merge(nil, d.Fields)
	if len(errs) > 0 {
		return entity.Invalid(errs)
	}
	// The owner, the id and the time do not affect whether the fields are valid.
	const anyone = "x"
	merged[product.AttrICalUID] = item.String(d.UID)
	it := t.NewItem(anyone, ID(t.IDPrefix, anyone, d.UID, 0), merged, time.Unix(0, 0), item.Item{})
	err := entity.Invalid(t.Validate(it))
	var invalid *entity.ValidationError
	if errors.As(err, &invalid) {
		return invalid
	}
	return err
}
