package dynamo

import (
	"slices"
	"strconv"
	"strings"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// sameRow reports whether the stored row equals the row to write.
func sameRow(stored, intended item.Item) bool {
	return stored != nil && normalRow(stored).Equal(normalRow(intended))
}

// isUpdated reports whether the stored row is as the update leaves it.
func isUpdated(stored item.Item, u table.Update) bool {
	if stored == nil {
		return false
	}
	for name, v := range u.Set {
		if !item.Equal(normal(stored[name]), normal(v)) {
			return false
		}
	}
	return !slices.ContainsFunc(u.Remove, stored.Has)
}

func normalRow(it item.Item) item.Item {
	out := make(item.Item, len(it))
	for name, v := range it {
		out[name] = normal(v)
	}
	return out
}

// normal returns the value in a form that hides what the service may change: the text of numbers ("1.50" returns as
// "1.5") and the order of sets.
func normal(v item.Value) item.Value {
	switch v := v.(type) {
	case item.Number:
		return item.Number(normalNumber(string(v)))
	case item.NumberSet:
		out := make([]string, len(v))
		for i, n := range v {
			out[i] = normalNumber(n)
		}
		return item.NumberSet(out)
	case item.List:
		out := make(item.List, len(v))
		for i, e := range v {
			out[i] = normal(e)
		}
		return out
	case item.Map:
		return item.Map(normalRow(item.Item(v)))
	case item.BinarySet:
		out := slices.Clone(v)
		slices.SortFunc(out, slices.Compare)
		return out
	default:
		return v
	}
}

// normalNumber writes a decimal number as its significant digits and a power of ten, so that equal numbers have equal
// text. Text that is no number stays as it is.
func normalNumber(text string) string {
	mantissa, exponentText, hasExponent := strings.Cut(strings.ToLower(text), "e")
	exponent, err := 0, error(nil)
	if hasExponent {
		exponent, err = strconv.Atoi(exponentText)
	}
	unsigned, negative := strings.CutPrefix(mantissa, "-")
	if !negative {
		unsigned = strings.TrimPrefix(mantissa, "+")
	}
	whole, fraction, _ := strings.Cut(unsigned, ".")
	digits := whole + fraction
	if err != nil || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return text
	}
	exponent -= len(fraction)
	trimmed := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(trimmed)
	trimmed = strings.TrimLeft(trimmed, "0")
	if trimmed == "" {
		return "0"
	}
	out := trimmed + "e" + strconv.Itoa(exponent)
	if negative {
		out = "-" + out
	}
	return out
}
