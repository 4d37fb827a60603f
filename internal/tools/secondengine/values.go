package main

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strings"
)

const (
	// mark stands for an empty text in the engine: it begins with the character that sorts before all others.
	mark = "\x00empty"
	// markOnWire is the mark in an answer, and binaryMark an empty binary's in base64.
	markOnWire = `"\u0000empty"`
	binaryMark = "AGVtcHR5"
	// pastPrefix sorts after every continuation of a prefix in a key.
	pastPrefix = "\U0010FFFF"
)

// keys are the attributes in which the service, too, refuses empty texts.
var keys = []string{
	"PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK", "GSI3PK", "GSI3SK", "GSI4PK", "GSI4SK",
}

// fill puts the mark in the place of each empty value of a request outside of keys, and returns how many there were.
func fill(in map[string]any) (n int) {
	condition, _ := in["KeyConditionExpression"].(string)
	for name, value := range in {
		values, _ := value.(map[string]any)
		if slices.Contains(keys, name) {
			continue
		}
		if name == "ExpressionAttributeValues" && condition != "" {
			values = maps.Clone(values)
			maps.DeleteFunc(values, func(placeholder string, _ any) bool { return strings.Contains(condition, placeholder) })
			value = values
		}
		n += fillValue(in, name, value)
	}
	return n
}

func fillValue(in map[string]any, name string, value any) (n int) {
	switch value := value.(type) {
	case string:
		if value == "" && len(in) == 1 && (name == "S" || name == "B") {
			in[name] = map[string]string{"S": mark, "B": binaryMark}[name]
			n++
		}
	case map[string]any:
		n += fill(value)
	case []any:
		for i, each := range value {
			switch each := each.(type) {
			case map[string]any:
				n += fill(each)
			case string:
				if each == "" && len(in) == 1 && (name == "SS" || name == "BS") {
					value[i] = map[string]string{"SS": mark, "BS": binaryMark}[name]
					n++
				}
			}
		}
	}
	return n
}

// empty is the inverse of fill, in an answer.
func empty(answer []byte) []byte {
	answer = bytes.ReplaceAll(answer, []byte(markOnWire), []byte(`""`))
	return bytes.ReplaceAll(answer, []byte(`"`+binaryMark+`"`), []byte(`""`))
}

var beginsWith = regexp.MustCompile(`begins_with\s*\(\s*([#\w]+)\s*,\s*(:\w+)\s*\)`)

// exactPrefix makes a query for sort keys with a prefix one for the keys from the prefix to its end.
func exactPrefix(in map[string]any) bool {
	condition, _ := in["KeyConditionExpression"].(string)
	match := beginsWith.FindStringSubmatch(condition)
	values, _ := in["ExpressionAttributeValues"].(map[string]any)
	if match == nil {
		return false
	}
	low, _ := values[match[2]].(map[string]any)
	prefix, ok := low["S"].(string)
	if !ok {
		return false
	}
	values[match[2]+"_end"] = map[string]any{"S": prefix + pastPrefix}
	in["KeyConditionExpression"] = beginsWith.ReplaceAllLiteralString(condition,
		match[1]+" BETWEEN "+match[2]+" AND "+match[2]+"_end")
	return true
}
