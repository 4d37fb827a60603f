package memory

import (
	"fmt"
	"slices"
	"strings"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// normal returns the condition with its numbers in the table's form.
func normal(c table.Condition) (table.Condition, error) {
	if err := c.Validate(); err != nil {
		return c, err
	}
	if c.Row < table.AnyRow || c.Row > table.RowMissing {
		return c, fmt.Errorf("%w: row state %d", table.ErrInvalid, c.Row)
	}
	for i, t := range c.Tests {
		if t.Attr == "" || t.Op < table.OpEqual || t.Op > table.OpMissing {
			return c, fmt.Errorf("%w: test %d of %q", table.ErrInvalid, t.Op, clip(t.Attr))
		}
		n, ok := t.Value.(item.Number)
		if !ok {
			continue
		}
		plain, err := canonical(n)
		if err != nil {
			return c, err
		}
		if plain != n {
			c.Tests = slices.Clone(c.Tests)
			c.Tests[i].Value = plain
		}
	}
	return c, nil
}

// holds reports whether a normal condition holds for the row, nil if there is none.
func holds(c table.Condition, r *row) bool {
	if r == nil && c.OrNoRow {
		return true
	}
	if (c.Row == table.RowExists && r == nil) || (c.Row == table.RowMissing && r != nil) {
		return false
	}
	for _, t := range c.Tests {
		var v item.Value
		if r != nil {
			v = r.item[t.Attr]
		}
		if !passes(t, v) {
			return false
		}
	}
	return true
}

func passes(t table.Test, v item.Value) bool {
	switch t.Op {
	case table.OpMissing:
		return v == nil
	case table.OpEqual:
		return v != nil && item.Equal(v, t.Value)
	case table.OpLess:
		switch bound := t.Value.(type) {
		case item.String:
			text, ok := v.(item.String)
			return ok && strings.Compare(string(text), string(bound)) < 0
		case item.Number:
			n, ok := v.(item.Number)
			return ok && compareNumbers(n, bound) < 0
		}
	}
	return false
}
