package memory

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// maxDepth is DynamoDB's bound of the nesting of lists and maps.
const maxDepth = 32

// row is one image of a row. It is immutable: a write makes another.
type row struct {
	item item.Item
	size int
	// witness is a private copy of the item; nil without [Options.Witnessed].
	witness item.Item
}

// image returns the row's item, which the store shares with its readers; nil if there is no row.
func (r *row) image() item.Item {
	if r == nil {
		return nil
	}
	return r.item
}

// newRow makes a row of an admitted item, of which it takes ownership.
func (s *Store) newRow(it item.Item) (*row, error) {
	r := &row{item: it, size: item.Size(it)}
	if s.witnessed {
		r.witness = it.Clone()
	}
	if r.size > table.MaxItemBytes {
		return nil, fmt.Errorf("%w: row of %d bytes, at most %d", table.ErrInvalid, r.size, table.MaxItemBytes)
	}
	return r, table.CheckKeys(s.schema, it)
}

// checkKey refuses keys that no row can have.
func checkKey(key item.Key) error {
	if key.PK == "" || key.SK == "" {
		return fmt.Errorf("%w: empty part in key %q", table.ErrInvalid, clip(key.String()))
	}
	if len(key.PK) > table.MaxPKBytes || len(key.SK) > table.MaxSKBytes {
		return fmt.Errorf("%w: key %q is too long", table.ErrInvalid, clip(key.String()))
	}
	return nil
}

// admit returns a copy of the item as the table stores it: numbers in canonical form, nothing shared with the caller.
func admit(it item.Item) (item.Item, error) { return admitMap(it, 0) }

func admitMap(in item.Item, depth int) (item.Item, error) {
	out := make(item.Item, len(in))
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

func admitValue(v item.Value, depth int) (item.Value, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("%w: nested deeper than %d", table.ErrInvalid, maxDepth)
	}
	switch typed := v.(type) {
	case nil:
		return nil, fmt.Errorf("%w: no value", table.ErrInvalid)
	case item.String:
		return v, checkText(string(typed))
	case item.Number:
		n, err := canonical(typed)
		if n == typed {
			return v, err
		}
		return n, err
	case item.Bool, item.Null:
		return v, nil
	case item.List:
		out := make(item.List, len(typed))
		for i, e := range typed {
			admitted, err := admitValue(e, depth+1)
			if err != nil {
				return nil, err
			}
			out[i] = admitted
		}
		return out, nil
	case item.Map:
		out, err := admitMap(item.Item(typed), depth+1)
		return item.Map(out), err
	default:
		return admitBytes(v)
	}
}

// admitBytes admits the unnested values whose copy would otherwise share memory.
func admitBytes(v item.Value) (item.Value, error) {
	switch typed := v.(type) {
	case item.StringSet:
		for _, member := range typed {
			if err := checkText(member); err != nil {
				return nil, err
			}
		}
		return slices.Clone(typed), checkSet(typed)
	case item.NumberSet:
		out := make(item.NumberSet, len(typed))
		for i, member := range typed {
			n, err := canonical(item.Number(member))
			if err != nil {
				return nil, err
			}
			out[i] = string(n)
		}
		return out, checkSet(out)
	case item.Binary:
		return item.CloneValue(typed), nil
	case item.BinarySet:
		members := make([]string, len(typed))
		for i, member := range typed {
			members[i] = string(member)
		}
		return item.CloneValue(typed), checkSet(members)
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
