package change

import (
	"encoding/base64"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"nexus/pkg/entity"
)

// maxNesting is how deep DynamoDB nests lists and maps (Amazon DynamoDB Developer Guide, Quotas).
const maxNesting = 32

// image reads the attributes of a row.
func (r *reader) image() (entity.Item, error) {
	it := make(entity.Item, r.attributes)
	if err := r.attributesInto(it, 0); err != nil {
		return nil, err
	}
	r.attributes = len(it)
	return it, nil
}

func (r *reader) attributesInto(it entity.Item, nesting int) error {
	if err := r.begin(jsontext.KindBeginObject); err != nil {
		return err
	}
	for r.more() {
		name, err := r.name()
		if err != nil {
			return fmt.Errorf("attribute name: %w", err)
		}
		v, err := r.attribute(nesting)
		if err != nil {
			return fmt.Errorf("attribute %.80q: %w", name, err)
		}
		before := len(it)
		if it[name] = v; len(it) == before {
			return fmt.Errorf("attribute %.80q: comes twice", name)
		}
	}
	return r.end()
}

// attribute reads a value with its type: an object of exactly one member.
func (r *reader) attribute(nesting int) (entity.Value, error) {
	if nesting > maxNesting {
		return nil, fmt.Errorf("nested more than %d deep", maxNesting)
	}
	if err := r.begin(jsontext.KindBeginObject); err != nil {
		return nil, err
	}
	if !r.more() {
		return nil, fmt.Errorf("no type")
	}
	kind, err := r.name()
	if err != nil {
		return nil, err
	}
	v, err := r.typed(kind, nesting)
	if err != nil {
		return nil, err
	}
	if r.more() {
		return nil, fmt.Errorf("more than one type")
	}
	return v, r.end()
}

func (r *reader) typed(kind string, nesting int) (entity.Value, error) {
	switch kind {
	case "S":
		s, err := r.text()
		return entity.String(s), err
	case "N":
		s, err := r.text()
		return entity.Number(s), err
	case "BOOL":
		b, err := r.flag()
		return entity.Bool(b), err
	case "NULL":
		_, err := r.flag()
		return entity.Null{}, err
	case "SS":
		set, err := list(r, r.text)
		return entity.StringSet(set), err
	case "NS":
		set, err := list(r, r.text)
		return entity.NumberSet(set), err
	case "L":
		members, err := list(r, func() (entity.Value, error) { return r.attribute(nesting + 1) })
		return entity.List(members), err
	case "M":
		it := entity.Item{}
		err := r.attributesInto(it, nesting+1)
		return entity.Map(it), err
	case "B":
		b, err := r.binary()
		return entity.Binary(b), err
	case "BS":
		set, err := list(r, r.binary)
		return entity.BinarySet(set), err
	}
	return nil, fmt.Errorf("unknown type %.20q", kind)
}

func (r *reader) flag() (bool, error) {
	v, err := r.value()
	if err != nil {
		return false, err
	}
	switch v.Kind() {
	case jsontext.KindTrue:
		return true, nil
	case jsontext.KindFalse:
		return false, nil
	}
	return false, fmt.Errorf("want true or false, have %v", v.Kind())
}

func (r *reader) binary() ([]byte, error) {
	s, err := r.text()
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(s)
}

// list reads an array; the result of an empty one is not nil.
func list[E any](r *reader, member func() (E, error)) ([]E, error) {
	if err := r.begin(jsontext.KindBeginArray); err != nil {
		return nil, err
	}
	out := []E{}
	for r.more() {
		m, err := member()
		if err != nil {
			return nil, fmt.Errorf("member %d: %w", len(out), err)
		}
		out = append(out, m)
	}
	return out, r.end()
}
