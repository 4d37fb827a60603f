package dynamo

import (
	"slices"
	"strconv"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/table"
)

// sameRow says that the stored row is the one that was to be written.
func sameRow(stored, intended entity.Item) bool {
	return stored != nil && normalRow(stored).Equal(normalRow(intended))
}

// isUpdated says that the stored row looks as the update leaves it.
func isUpdated(stored entity.Item, u table.Update) bool {
	if stored == nil {
		return false
	}
	for name, v := range u.Set {
		if !entity.Equal(normal(stored[name]), normal(v)) {
			return false
		}
	}
	return !slices.ContainsFunc(u.Remove, stored.Has)
}

func normalRow(it entity.Item) entity.Item {
	out := make(entity.Item, len(it))
	for name, v := range it {
		out[name] = normal(v)
	}
	return out
}

// normal is the value with everything the service may change of it put into one form: the text of numbers ("1.50"
// comes back as "1.5") and the order of sets.
func normal(v entity.Value) entity.Value {
	switch v := v.(type) {
	case entity.Number:
		return entity.Number(normalNumber(string(v)))
	case entity.NumberSet:
		out := make([]string, len(v))
		for i, n := range v {
			out[i] = normalNumber(n)
		}
		return entity.NumberSet(out)
	case entity.List:
		out := make(entity.List, len(v))
		for i, e := range v {
			out[i] = normal(e)
		}
		return out
	case entity.Map:
		return entity.Map(normalRow(entity.Item(v)))
	case entity.BinarySet:
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
