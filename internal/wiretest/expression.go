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

// words returns what an expression may contain in addition to placeholders and signs (the same guide, "Condition and
// filter expressions, operators, and functions" and "Using update expressions"). Anything else is a literal attribute
// name, and may be one of the several hundred reserved words.
func words() []string {
	return []string{
		"AND", "OR", "NOT", "BETWEEN", "IN", "SET", "REMOVE", "ADD", "DELETE",
		"attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains", "size", "if_not_exists",
		"list_append",
	}
}

// expressions returns the expressions of a request or of an action in a transaction.
func expressions() []string {
	return []string{
		"ConditionExpression", "UpdateExpression", "FilterExpression", "KeyConditionExpression", "ProjectionExpression",
	}
}

func token() *regexp.Regexp { return regexp.MustCompile(`[#:]?[A-Za-z0-9_]+|<=|>=|<>|[=<>+-]`) }

// checkExpressions returns the faults of the expressions of in, and of the placeholders that they use.
func checkExpressions(path string, in map[string]any) []string {
	var found []string
	used := map[string]bool{}
	for _, kind := range expressions() {
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
		for _, placeholder := range slices.Sorted(maps.Keys(defined)) {
			if !regexp.MustCompile(`^`+group.sign+`[A-Za-z0-9_]+$`).MatchString(placeholder) ||
				len(placeholder) > maxPlaceholder {
				found = append(found, fmt.Sprintf("%s%s has the name %q", path, group.name, placeholder))
			}
			if !used[placeholder] {
				found = append(found, fmt.Sprintf("%s%s defines %s, which nothing uses", path, group.name, placeholder))
			}
			delete(used, placeholder)
			name, _ := defined[placeholder].(string)
			total += len(placeholder) + len(name) + sizeOf(defined[placeholder])
		}
	}
	for _, placeholder := range slices.Sorted(maps.Keys(used)) {
		found = append(found, fmt.Sprintf("%s%s is used and not defined", path, placeholder))
	}
	if total > maxSubstitutions {
		found = append(found,
			fmt.Sprintf("%ssubstitutions have %d bytes, at most %d are allowed", path, total, maxSubstitutions))
	}
	return found
}

func checkExpression(path, expression string, used map[string]bool) []string {
	var found []string
	if expression == "" || len(expression) > maxExpression {
		found = append(found, fmt.Sprintf("%s has %d bytes, want 1 to %d", path, len(expression), maxExpression))
	}
	operators := 0
	for _, word := range token().FindAllString(expression, -1) {
		switch {
		case strings.HasPrefix(word, "#"), strings.HasPrefix(word, ":"):
			used[word] = true
		case strings.ContainsAny(word, "=<>+-"), slices.Contains(words(), word):
			operators++
		default:
			found = append(found, fmt.Sprintf("%s has %q in the open", path, word))
		}
	}
	if operators > maxOperators {
		found = append(found,
			fmt.Sprintf("%s has %d operators and functions, at most %d are allowed", path, operators, maxOperators))
	}
	if operands := strings.Count(expression, ",") + 1; strings.Contains(expression, " IN ") && operands > maxOperands {
		found = append(found, fmt.Sprintf("%s has %d operands of IN, at most %d are allowed", path, operands, maxOperands))
	}
	return found
}

// attributesOf returns the attribute names that an expression uses.
func attributesOf(in map[string]any, kind string) []string {
	expression, _ := in[kind].(string)
	names, _ := in["ExpressionAttributeNames"].(map[string]any)
	var out []string
	for _, word := range token().FindAllString(expression, -1) {
		if name, ok := names[word].(string); ok {
			out = append(out, name)
		}
	}
	return out
}

// changed returns the attribute names that an update expression sets or removes: those before each sign of equality,
// and those in the clauses without one.
func changed(in map[string]any) []string {
	expression, _ := in["UpdateExpression"].(string)
	names, _ := in["ExpressionAttributeNames"].(map[string]any)
	var out []string
	for _, part := range regexp.MustCompile(`,| REMOVE |^REMOVE |^SET `).Split(expression, -1) {
		target, _, _ := strings.Cut(part, "=")
		if name, ok := names[strings.TrimSpace(target)].(string); ok {
			out = append(out, name)
		}
	}
	return out
}
