package change

import (
	"strings"

	"nexus/pkg/entity"
)

// containerBytes is what DynamoDB counts for a list or map besides its members, each of which costs one more.
const containerBytes = 3

// sizeOf returns the bytes that DynamoDB counts for an item (Amazon DynamoDB Developer Guide, DynamoDB item sizes and
// formats), which is what SizeBytes of a stream record sums up.
func sizeOf(it entity.Item) int {
	total := 0
	for name, v := range it {
		total += len(name) + sizeOfValue(v)
	}
	return total
}

func sizeOfValue(v entity.Value) int {
	switch v := v.(type) {
	case entity.String:
		return len(v)
	case entity.Number:
		return sizeOfNumber(string(v))
	case entity.StringSet:
		return sum(v, func(s string) int { return len(s) })
	case entity.NumberSet:
		return sum(v, sizeOfNumber)
	case entity.List:
		return containerBytes + len(v) + sum(v, sizeOfValue)
	case entity.Map:
		return containerBytes + len(v) + sizeOf(entity.Item(v))
	case entity.Binary:
		return len(v)
	case entity.BinarySet:
		return sum(v, func(b []byte) int { return len(b) })
	}
	return 1 // BOOL and NULL
}

// sizeOfNumber counts one byte for two significant digits, one for the number, and one for a minus sign.
func sizeOfNumber(n string) int {
	digits, negative := strings.CutPrefix(n, "-")
	significant := len(strings.Trim(strings.Replace(digits, ".", "", 1), "0"))
	size := 1 + (significant+1)/2
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
