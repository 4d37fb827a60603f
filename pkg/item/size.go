package item

import "strings"

// containerBytes counts the bytes that DynamoDB adds for a list or map. Each member costs one more.
const containerBytes = 3

// Size returns the bytes that DynamoDB counts for an item: the names of the attributes and their values. DynamoDB
// limits and bills items by it (Amazon DynamoDB Developer Guide, "DynamoDB item sizes and formats").
func Size(it Item) int {
	total := 0
	for name, v := range it {
		total += len(name) + sizeOfValue(v)
	}
	return total
}

func sizeOfValue(v Value) int {
	switch v := v.(type) {
	case String:
		return len(v)
	case Number:
		return sizeOfNumber(string(v))
	case Binary:
		return len(v)
	case StringSet:
		return sum(v, func(s string) int { return len(s) })
	case NumberSet:
		return sum(v, sizeOfNumber)
	case BinarySet:
		return sum(v, func(b []byte) int { return len(b) })
	case List:
		return containerBytes + len(v) + sum(v, sizeOfValue)
	case Map:
		return containerBytes + len(v) + Size(Item(v))
	}
	return 1 // Bool and Null
}

// sizeOfNumber counts one byte for two significant digits, one for the number, and one for a minus sign. Leading and
// trailing zeros are not significant, in any position of the point or exponent.
func sizeOfNumber(n string) int {
	digits, negative := strings.CutPrefix(n, "-")
	digits, _, _ = strings.Cut(strings.ToLower(digits), "e")
	digits = strings.TrimPrefix(strings.Replace(digits, ".", "", 1), "+")
	size := 1 + (len(strings.Trim(digits, "0"))+1)/2
	if negative {
		size++
	}
	return size
}

func sum[E any](members []E, size func(E) int) int {
	total := 0
	for _, m := range members {
		total += size(m)
	}
	return total
}
