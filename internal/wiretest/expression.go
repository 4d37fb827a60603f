package wiretest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Bounds of expressions (Amazon DynamoDB Developer Guide, "Quotas", "Expression parameters").
const (
	maxExpression    = 4 << 10
	maxOperators     = 300
	maxOperands      = 100 // of IN
	maxPlaceholder   = 255
	maxSubstitutions = 2 << 20
)

// words may stand in an expression in addition to placeholders and signs (the same guide, "Condition and filter
// expressions, operators, and functions" and "Using update expressions"). Anything else is a literal attribute name,
// and may be one of the several hundred reserved words.
var words = []string{
	"AND", "OR", "NOT", "BETWEEN", "IN", "SET", "REMOVE", "ADD", "DELETE",
	"attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains", "size", "if_not_exists",
	"list_append",
}

// expressions are the expressions of a request or of an action in a transaction.
var expressions = []string{
	"ConditionExpression", "UpdateExpression", "FilterExpression", "KeyConditionExpression", "ProjectionExpression",
}

var (
	token       = regexp.MustCompile(`[#:]?[A-Za-z0-9_]+|<=|>=|<>|[=<>+-]`)
	placeholder = regexp.MustCompile(`^[#:][A-Za-z0-9_]+$`)
	// targetEnd parts the changes of an update expression: each begins with its attribute, before a sign of equality or
	// alone.
	targetEnd = regexp.MustCompile(`,| REMOVE |^REMOVE |^SET `)
)

// checkExpressions returns the faults of the expressions of in, and of the placeholders that they use.
func checkExpressions(path string, in map[string]any) []string {
	var found []string
	used := map[string]bool{}
	for _, kind := range expressions {
		value, there := in[kind]
		if !there {
			continue
		}
		expression, _ := value.(string)
		found = append(found, checkExpression(path+kind, expression, used)...)
	}
	total := 0
	for _, group := range []struct{ name, sign string }{
		{"ExpressionAttributeNames", "#"}, {"ExpressionAttributeValues", ":"},
	} {
		value, there := in[group.name]
		defined, _ := value.(map[string]any)
		if there && len(defined) == 0 {
			found = append(found, path+group.name+" is empty")
		}
		for _, name := range slices.Sorted(maps.Keys(defined)) {
			if !strings.HasPrefix(name, group.sign) || !placeholder.MatchString(name) || len(name) > maxPlaceholder {
				found = append(found, fmt.Sprintf("%s%s has the name %q", path, group.name, name))
			}
			if !used[name] {
				found = append(found, fmt.Sprintf("%s%s defines %s, which nothing uses", path, group.name, name))
			}
			delete(used, name)
			attribute, _ := defined[name].(string)
			total += len(name) + len(attribute) + sizeOf(defined[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		found = append(found, fmt.Sprintf("%s%s is used and not defined", path, name))
	}
	return append(found, atMost(maxSubstitutions, total, "bytes", path+"substitutions have")...)
}

func checkExpression(path, expression string, used map[string]bool) []string {
	var found []string
	if expression == "" || len(expression) > maxExpression {
		found = append(found, fmt.Sprintf("%s has %d bytes, want 1 to %d", path, len(expression), maxExpression))
	}
	operators := 0
	for _, word := range token.FindAllString(expression, -1) {
		switch {
		case strings.HasPrefix(word, "#"), strings.HasPrefix(word, ":"):
			used[word] = true
		case strings.ContainsAny(word, "=<>+-"), slices.Contains(words, word):
			operators++
		default:
			found = append(found, fmt.Sprintf("%s has %q in the open", path, word))
		}
	}
	found = append(found, atMost(maxOperators, operators, "operators and functions", path+" has")...)
	if strings.Contains(expression, " IN ") {
		found = append(found, atMost(maxOperands, strings.Count(expression, ",")+1, "operands of IN", path+" has")...)
	}
	return found
}

// attributesOf returns the attribute names that an expression uses.
func attributesOf(in map[string]any, kind string) []string {
	expression, _ := in[kind].(string)
	names, _ := in["ExpressionAttributeNames"].(map[string]any)
	var out []string
	for _, word := range token.FindAllString(expression, -1) {
		if name, ok := names[word].(string); ok {
			out = append(out, name)
		}
	}
	return out
}
