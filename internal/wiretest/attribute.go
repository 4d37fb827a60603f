package wiretest

import (
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a value (Amazon DynamoDB Developer Guide, "Supported data types and naming rules" and "Quotas").
const (
	maxDepth        = 32
	maxDigits       = 38
	lowestExponent  = -130
	highestExponent = 125
	maxNameBytes    = 64<<10 - 1
)

// checkAttribute returns the faults of an attribute value in its JSON form: one member that names its type.
func checkAttribute(path string, value map[string]any, depth int) []string {
	if len(value) != 1 {
		return []string{fmt.Sprintf("%s has %d types, want exactly one", path, len(value))}
	}
	if depth > maxDepth {
		return []string{fmt.Sprintf("%s is nested deeper than %d", path, maxDepth)}
	}
	for kind, content := range value {
		return checkContent(path, kind, content, depth)
	}
	return nil
}

func checkContent(path, kind string, content any, depth int) []string {
	switch content := content.(type) {
	case string:
		switch kind {
		case "S":
			return nil
		case "N":
			return checkDecimal(path, content)
		case "B":
			return checkBinary(path, content)
		}
	case bool:
		if kind == "BOOL" || kind == "NULL" && content {
			return nil
		}
	case []any:
		switch kind {
		case "SS", "NS", "BS":
			return checkSet(path, kind, content)
		case "L":
			var found []string
			for i, element := range content {
				found = append(found, checkNested(fmt.Sprintf("%s[%d]", path, i), element, depth)...)
			}
			return found
		}
	case map[string]any:
		if kind == "M" {
			var found []string
			for _, name := range slices.Sorted(maps.Keys(content)) {
				found = append(found, checkName(path, name)...)
				found = append(found, checkNested(path+"."+name, content[name], depth)...)
			}
			return found
		}
	}
	return []string{fmt.Sprintf("%s has type %s and the content %v", path, kind, content)}
}

func checkNested(path string, element any, depth int) []string {
	value, ok := element.(map[string]any)
	if !ok {
		return []string{path + " is no attribute value"}
	}
	return checkAttribute(path, value, depth+1)
}

func checkName(path, name string) []string {
	if name == "" || len(name) > maxNameBytes {
		return []string{fmt.Sprintf("%s has an attribute name of %d bytes, want 1 to %d", path, len(name), maxNameBytes)}
	}
	return nil
}

func checkBinary(path, content string) []string {
	if _, err := base64.StdEncoding.DecodeString(content); err != nil {
		return []string{path + " is not in base64"}
	}
	return nil
}

var decimal = regexp.MustCompile(`^[+-]?(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$`)

// checkDecimal checks a number: up to 38 significant digits, and from 1E-130 to 9.9...E+125 away from zero.
func checkDecimal(path, number string) []string {
	parts := decimal.FindStringSubmatch(number)
	if parts == nil || parts[1]+parts[2] == "" {
		return []string{fmt.Sprintf("%s is no number: %q", path, number)}
	}
	digits := strings.TrimLeft(parts[1]+parts[2], "0")
	if digits == "" {
		return nil
	}
	exponent, _ := strconv.Atoi(parts[3]) // at most nine digits, or none
	magnitude := exponent + len(digits) - len(parts[2]) - 1
	var found []string
	if significant := strings.TrimRight(digits, "0"); len(significant) > maxDigits {
		found = append(found,
			fmt.Sprintf("%s has %d significant digits, at most %d are kept", path, len(significant), maxDigits))
	}
	if magnitude < lowestExponent || magnitude > highestExponent {
		found = append(found,
			fmt.Sprintf("%s is a number of magnitude %d, want %d to %d", path, magnitude, lowestExponent, highestExponent))
	}
	return found
}

func checkSet(path, kind string, elements []any) []string {
	if len(elements) == 0 {
		return []string{path + " is an empty set"}
	}
	var found []string
	seen := map[any]bool{}
	for i, element := range elements {
		member, ok := element.(string)
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case !ok:
			found = append(found, at+" is no text")
		case seen[member]:
			found = append(found, fmt.Sprintf("%s repeats %q", at, member))
		case kind == "NS":
			found = append(found, checkDecimal(at, member)...)
		case kind == "BS":
			found = append(found, checkBinary(at, member)...)
		}
		seen[member] = true
	}
	return found
}

// sizeOf returns the size that DynamoDB counts for a value (Amazon DynamoDB Developer Guide, "DynamoDB item sizes and
// formats"). For a number it is an upper bound.
func sizeOf(value any) int {
	attribute, _ := value.(map[string]any)
	total := 0
	for kind, content := range attribute {
		switch content := content.(type) {
		case string:
			switch kind {
			case "N":
				total += len(content)/2 + 2
			case "B":
				total += base64.StdEncoding.DecodedLen(len(content))
			default:
				total += len(content)
			}
		case bool:
			total++
		case []any:
			for _, element := range content {
				if member, isSet := element.(string); isSet {
					total += len(member)
				} else {
					total += 1 + sizeOf(element)
				}
			}
			total += 3
		case map[string]any:
			total += 3 + len(content) + itemSize(content)
		}
	}
	return total
}

func itemSize(item map[string]any) int {
	total := 0
	for name, value := range item {
		total += len(name) + sizeOf(value)
	}
	return total
}
