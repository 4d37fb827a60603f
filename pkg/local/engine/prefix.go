package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
)

// afterPrefix sorts after every possible continuation of a prefix in a key: the last code point, which no key
// contains.
const afterPrefix = "\U0010FFFF"

var beginsWith = regexp.MustCompile(`begins_with\s*\(\s*([#\w]+)\s*,\s*(:\w+)\s*\)`)

// exactPrefix replaces a query for sort keys with a prefix by one for the keys between the prefix and its end: the
// engine's begins_with ignores case. Filters compare exactly and stay unchanged.
func exactPrefix(content []byte) ([]byte, error) {
	if !bytes.Contains(content, []byte("begins_with")) {
		return content, nil
	}
	var fields map[string]json.RawMessage
	var condition string
	var values map[string]map[string]any
	if err := decodeExact(content, &fields); err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	if err := decodeExact(fields["KeyConditionExpression"], &condition); err != nil {
		return nil, fmt.Errorf("key condition of a query: %w", err)
	}
	match := beginsWith.FindStringSubmatch(condition)
	if match == nil {
		return content, nil
	}
	if err := decodeExact(fields["ExpressionAttributeValues"], &values); err != nil {
		return nil, fmt.Errorf("values of a query: %w", err)
	}
	attribute, low := match[1], match[2]
	prefix, ok := values[low]["S"].(string)
	if !ok {
		return content, nil
	}
	high := low + "_end"
	values[high] = map[string]any{"S": prefix + afterPrefix}
	condition = beginsWith.ReplaceAllLiteralString(condition, attribute+" BETWEEN "+low+" AND "+high)
	var err error
	if fields["KeyConditionExpression"], err = json.Marshal(condition); err != nil {
		return nil, fmt.Errorf("key condition of a query: %w", err)
	}
	if fields["ExpressionAttributeValues"], err = json.Marshal(values); err != nil {
		return nil, fmt.Errorf("values of a query: %w", err)
	}
	return json.Marshal(fields)
}
