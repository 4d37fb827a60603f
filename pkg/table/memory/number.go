package memory

import (
	"fmt"
	"strconv"
	"strings"

	"nexus/pkg/item"
	"nexus/pkg/table"
	"nexus/pkg/text"
)

// Bounds of DynamoDB's number type: 38 significant digits, magnitudes from 1E-130 to 9.99...E+125.
const (
	maxDigits   = 38
	minExponent = -130
	maxExponent = 125
)

// canonical returns the number as plain decimal text without redundant sign, zeros or point. Two numbers are equal
// exactly if their texts are.
func canonical(n item.Number) (item.Number, error) {
	if isPlainInteger(string(n)) {
		return n, nil
	}
	refused := func(why string) (item.Number, error) {
		return "", fmt.Errorf("%w: number %q %s", table.ErrInvalid, clip(string(n)), why)
	}
	text, exponentText, hasExponent := strings.Cut(strings.ToLower(string(n)), "e")
	exponent := 0
	if hasExponent {
		var err error
		if exponent, err = strconv.Atoi(exponentText); err != nil || len(exponentText) > 5 {
			return refused("is malformed")
		}
	}
	negative := strings.HasPrefix(text, "-")
	if negative || strings.HasPrefix(text, "+") {
		text = text[1:]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	digits := whole + fraction
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return refused("is malformed")
	}
	// The number is 0.digits x 10^point.
	point := len(whole) + exponent
	significant := strings.TrimLeft(digits, "0")
	point -= len(digits) - len(significant)
	significant = strings.TrimRight(significant, "0")
	switch {
	case significant == "":
		return "0", nil
	case len(significant) > maxDigits:
		return refused("has more than 38 significant digits")
	case point-1 > maxExponent || point-1 < minExponent:
		return refused("is out of range")
	}
	plain := place10(significant, point)
	if negative {
		plain = "-" + plain
	}
	return item.Number(plain), nil
}

// isPlainInteger reports whether the text is a whole number in canonical form, which nearly every number is.
func isPlainInteger(s string) bool {
	if s == "0" {
		return true
	}
	s = strings.TrimPrefix(s, "-")
	if s == "" || len(s) > maxDigits || s[0] == '0' {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// place10 writes 0.digits x 10^point without an exponent.
func place10(digits string, point int) string {
	switch {
	case point <= 0:
		return "0." + strings.Repeat("0", -point) + digits
	case point >= len(digits):
		return digits + strings.Repeat("0", point-len(digits))
	default:
		return digits[:point] + "." + digits[point:]
	}
}

// compareNumbers orders two canonical numbers by value.
func compareNumbers(a, b item.Number) int {
	x, xNegative := strings.CutPrefix(string(a), "-")
	y, yNegative := strings.CutPrefix(string(b), "-")
	switch {
	case xNegative && yNegative:
		x, y = y, x
	case xNegative:
		return -1
	case yNegative:
		return 1
	}
	xWhole, xFraction, _ := strings.Cut(x, ".")
	yWhole, yFraction, _ := strings.Cut(y, ".")
	if len(xWhole) != len(yWhole) {
		return len(xWhole) - len(yWhole)
	}
	if c := strings.Compare(xWhole, yWhole); c != 0 {
		return c
	}
	return strings.Compare(xFraction, yFraction)
}

// clip keeps an error message short for any input.
func clip(s string) string { return text.Clip(s, 64) }
