// Package setting reads the settings of a stage: values as cdk.json has them, or as the command line has them, where
// they are texts.
//
// It promises that a value of a wrong form is noted as a fault. The caller has to look at the faults at the end.
package setting

import (
	"fmt"
	"strconv"
	"strings"
)

// Reader reads the values of a stage.
type Reader struct {
	Stage  string
	Values map[string]any
	// Wrong are the faults that were found.
	Wrong []error
}

// Refuse notes a fault of a setting if it is bad.
func (r *Reader) Refuse(bad bool, setting, reason string) {
	if bad {
		r.Wrong = append(r.Wrong, fmt.Errorf("stage %s: %s: %s", r.Stage, setting, reason))
	}
}

// Text reads a text; "" without one.
func (r *Reader) Text(setting string) string {
	switch v := r.Values[setting].(type) {
	case nil:
	case string:
		return v
	default:
		r.Refuse(true, setting, "want a text")
	}
	return ""
}

// List reads a list of texts; on the command line there are commas or spaces between.
func (r *Reader) List(setting string) []string {
	var out []string
	switch v := r.Values[setting].(type) {
	case nil:
	case string:
		out = strings.FieldsFunc(v, func(c rune) bool { return c == ',' || c == ' ' })
	case []any:
		for _, member := range v {
			text, ok := member.(string)
			r.Refuse(!ok || text == "", setting, "want texts")
			out = append(out, text)
		}
	default:
		r.Refuse(true, setting, "want a list")
	}
	return out
}

// Number reads a whole number; 0 without one.
func (r *Reader) Number(setting string) int {
	switch v := r.Values[setting].(type) {
	case nil:
	case float64:
		if v == float64(int(v)) {
			return int(v)
		}
		r.Refuse(true, setting, "want a whole number")
	case string:
		n, err := strconv.Atoi(v)
		r.Refuse(err != nil, setting, "want a whole number")
		return n
	default:
		r.Refuse(true, setting, "want a number")
	}
	return 0
}

// Numbers reads numbers by name: an object, or on the command line name=number with commas between.
func (r *Reader) Numbers(setting string) map[string]int {
	out := map[string]int{}
	switch v := r.Values[setting].(type) {
	case nil:
	case map[string]any:
		for name, number := range v {
			n, ok := number.(float64)
			r.Refuse(!ok || n != float64(int(n)), setting, name+": want a whole number")
			out[name] = int(n)
		}
	case string:
		for part := range strings.SplitSeq(v, ",") {
			name, digits, _ := strings.Cut(part, "=")
			n, err := strconv.Atoi(digits)
			r.Refuse(err != nil, setting, "want name=number, with commas between")
			out[name] = n
		}
	default:
		r.Refuse(true, setting, "want an object with numbers")
	}
	return out
}

// Flag reads whether something is so; it is not without a value.
func (r *Reader) Flag(setting string) bool {
	switch v := r.Values[setting].(type) {
	case nil:
	case bool:
		return v
	case string:
		b, err := strconv.ParseBool(v)
		r.Refuse(err != nil, setting, "want true or false")
		return b
	default:
		r.Refuse(true, setting, "want true or false")
	}
	return false
}
