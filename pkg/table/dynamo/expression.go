package dynamo

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// expression collects the placeholders of one request. Names and values enter an expression only through it, so that
// neither a reserved word nor a client's input can change its meaning.
type expression struct {
	names  map[string]string // placeholder -> attribute name
	values map[string]types.AttributeValue
	known  map[string]string // attribute name -> placeholder
}

// name returns the placeholder of an attribute.
func (x *expression) name(attr string) string {
	if placeholder, ok := x.known[attr]; ok {
		return placeholder
	}
	if x.names == nil {
		x.names, x.known = map[string]string{}, map[string]string{}
	}
	placeholder := "#n" + strconv.Itoa(len(x.names))
	x.names[placeholder], x.known[attr] = attr, placeholder
	return placeholder
}

// value returns the placeholder of a value.
func (x *expression) value(v item.Value) (string, error) {
	av, err := toAttribute(v, 0)
	if err != nil {
		return "", fmt.Errorf("%w: %w", table.ErrInvalid, err)
	}
	if x.values == nil {
		x.values = map[string]types.AttributeValue{}
	}
	placeholder := ":v" + strconv.Itoa(len(x.values))
	x.values[placeholder] = av
	return placeholder, nil
}

// condition returns the text of a condition; nil if it always holds.
func (x *expression) condition(c table.Condition) (*string, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	var all []string
	switch c.Row {
	case table.AnyRow:
	case table.RowExists:
		all = append(all, x.rowExists())
	case table.RowMissing:
		all = append(all, x.rowMissing())
	default:
		return nil, fmt.Errorf("%w: row state %d", table.ErrInvalid, c.Row)
	}
	for _, t := range c.Tests {
		text, err := x.test(t)
		if err != nil {
			return nil, fmt.Errorf("condition on %s: %w", t.Attr, err)
		}
		all = append(all, text)
	}
	if len(all) == 0 {
		return nil, nil
	}
	text := strings.Join(all, " AND ")
	if c.OrNoRow {
		text = x.rowMissing() + " OR " + text // AND binds first
	}
	return &text, nil
}

// always returns a condition that holds for any row. A check must have a condition. It is worth sending even so,
// because it makes the transaction conflict with others on that row.
func (x *expression) always() *string {
	text := x.rowExists() + " OR " + x.rowMissing()
	return &text
}

// rowExists tests the partition key, which every row has.
func (x *expression) rowExists() string { return "attribute_exists(" + x.name(item.AttrPK) + ")" }

func (x *expression) rowMissing() string {
	return "attribute_not_exists(" + x.name(item.AttrPK) + ")"
}

func (x *expression) test(t table.Test) (string, error) {
	var operator string
	switch t.Op {
	case table.OpMissing:
		return "attribute_not_exists(" + x.name(t.Attr) + ")", nil
	case table.OpEqual:
		operator = " = "
	case table.OpLess:
		operator = " < "
	default:
		return "", fmt.Errorf("%w: operator %d", table.ErrInvalid, t.Op)
	}
	v, err := x.value(t.Value)
	if err != nil {
		return "", err
	}
	return x.name(t.Attr) + operator + v, nil
}

// update returns the text of an update's changes, in the order of their names so that equal updates send equal
// requests.
func (x *expression) update(u table.Update) (*string, error) {
	if err := checkChanges(u); err != nil {
		return nil, err
	}
	var sets, removes, clauses []string
	for _, attr := range slices.Sorted(maps.Keys(u.Set)) {
		v, err := x.value(u.Set[attr])
		if err != nil {
			return nil, fmt.Errorf("set %s: %w", attr, err)
		}
		sets = append(sets, x.name(attr)+" = "+v)
	}
	for _, attr := range slices.Sorted(slices.Values(u.Remove)) {
		removes = append(removes, x.name(attr))
	}
	if len(sets) > 0 {
		clauses = append(clauses, "SET "+strings.Join(sets, ", "))
	}
	if len(removes) > 0 {
		clauses = append(clauses, "REMOVE "+strings.Join(removes, ", "))
	}
	text := strings.Join(clauses, " ")
	return &text, nil
}

// checkChanges refuses an update that names the row's key, one attribute twice, or none. So does the service, except
// that outside a transaction it accepts an update of none.
func checkChanges(u table.Update) error {
	named := make(map[string]bool, len(u.Set)+len(u.Remove))
	for _, attr := range slices.Concat(slices.Collect(maps.Keys(u.Set)), u.Remove) {
		switch {
		case attr == "":
			return fmt.Errorf("%w: an attribute without a name", table.ErrInvalid)
		case attr == item.AttrPK || attr == item.AttrSK:
			return fmt.Errorf("%w: an update cannot change the row's key", table.ErrInvalid)
		case named[attr]:
			return fmt.Errorf("%w: %s is named twice in an update", table.ErrInvalid, attr)
		}
		named[attr] = true
	}
	if len(named) == 0 {
		return fmt.Errorf("%w: an update of no attribute", table.ErrInvalid)
	}
	return nil
}
