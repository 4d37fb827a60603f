package memory

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"nexus/pkg/entity"
	"nexus/pkg/table"
)

// maxDepth is DynamoDB's bound of the nesting of lists and maps.
const maxDepth = 32

// row is one image of a row. It never changes once it is made: a write makes another.
type row struct {
	item entity.Item
	size int
	// witness is a copy of the item that nobody else has; nil without [Options.Witnessed].
	witness entity.Item
}

// image returns the row's item, which is the store's and its readers' in common; nil if there is no row.
func (r *row) image() entity.Item {
	if r == nil {
		return nil
	}
	return r.item
}

// newRow makes a row of an admitted item, which it keeps.
func (s *Store) newRow(it entity.Item) (*row, error) {
	r := &row{item: it, size: entity.Size(it)}
	if s.witnessed {
		r.witness = it.Clone()
	}
	if r.size > table.MaxItemBytes {
		return nil, fmt.Errorf("%w: row of %d bytes, at most %d", table.ErrInvalid, r.size, table.MaxItemBytes)
	}
	return r, table.CheckKeys(s.schema, it)
}

// checkKey refuses keys that no row can have.
func checkKey(key entity.Key) error {
	if key.PK == "" || key.SK == "" {
		return fmt.Errorf("%w: empty part in key %q", table.ErrInvalid, clip(key.String()))
	}
	if len(key.PK) > table.MaxPKBytes || len(key.SK) > table.MaxSKBytes {
		return fmt.Errorf("%w: key %q is too long", table.ErrInvalid, clip(key.String()))
	}
	return nil
}

// admit returns a copy of the item as the table stores it: numbers in canonical form, nothing shared with the caller.
func admit(it entity.Item) (entity.Item, error) { return admitMap(it, 0) }

func admitMap(in entity.Item, depth int) (entity.Item, error) {
	out := make(entity.Item, len(in))
	for name, v := range in {
		if name == "" {
			return nil, fmt.Errorf("%w: attribute without a name", table.ErrInvalid)
		}
		admitted, err := admitValue(v, depth)
		if err != nil {
			return nil, fmt.Errorf("attribute %s: %w", clip(name), err)
		}
		out[name] = admitted
	}
	return out, nil
}

func admitValue(v entity.Value, depth int) (entity.Value, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("%w: nested deeper than %d", table.ErrInvalid, maxDepth)
	}
	switch typed := v.(type) {
	case nil:
		return nil, fmt.Errorf("%w: no value", table.ErrInvalid)
	case entity.String:
		return v, checkText(string(typed))
	case entity.Number:
		n, err := canonical(typed)
		if n == typed {
			return v, err
		}
		return n, err
	case entity.Bool, entity.Null:
		return v, nil
	case entity.List:
		out := make(entity.List, len(typed))
		for i, e := range typed {
			admitted, err := admitValue(e, depth+1)
			if err != nil {
				return nil, err
			}
			out[i] = admitted
		}
		return out, nil
	case entity.Map:
		out, err := admitMap(entity.Item(typed), depth+1)
		return entity.Map(out), err
	default:
		return admitBytes(v)
	}
}

// admitBytes admits the values without nesting that a copy would share memory with.
func admitBytes(v entity.Value) (entity.Value, error) {
	switch typed := v.(type) {
	case entity.StringSet:
		for _, member := range typed {
			if err := checkText(member); err != nil {
				return nil, err
			}
		}
		return slices.Clone(typed), checkSet(typed)
	case entity.NumberSet:
		out := make(entity.NumberSet, len(typed))
		for i, member := range typed {
			n, err := canonical(entity.Number(member))
			if err != nil {
				return nil, err
			}
			out[i] = string(n)
		}
		return out, checkSet(out)
	case entity.Binary:
		return entity.CloneValue(typed), nil
	case entity.BinarySet:
		members := make([]string, len(typed))
		for i, member := range typed {
			members[i] = string(member)
		}
		return entity.CloneValue(typed), checkSet(members)
	}
	return nil, fmt.Errorf("%w: value of unknown type %T", table.ErrInvalid, v)
}

// checkSet refuses what DynamoDB refuses of a set: no members, or one twice.
func checkSet(members []string) error {
	if len(members) == 0 {
		return fmt.Errorf("%w: empty set", table.ErrInvalid)
	}
	sorted := slices.Sorted(slices.Values(members))
	if len(slices.Compact(sorted)) != len(members) {
		return fmt.Errorf("%w: set with a repeated member", table.ErrInvalid)
	}
	return nil
}

// checkText refuses text that would not survive the service's JSON.
func checkText(s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%w: text is not UTF-8", table.ErrInvalid)
	}
	return nil
}
