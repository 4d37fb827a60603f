package projection

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// text returns the contribution in its canonical form: the JSON of package encoding/json, whose keys are sorted, byte by
// byte. The zero Amounts has none. Each record asks for it twice, so it is written without reflection.
func (a Amounts) text() string {
	if len(a.Add) == 0 && len(a.Max) == 0 && a.Open == "" {
		return ""
	}
	out := make([]byte, 0, 128)
	member := func(name string) {
		if len(out) == 0 {
			out = append(out, '{')
		} else {
			out = append(out, ',')
		}
		out = append(appendText(out, name), ':')
	}
	if len(a.Add) > 0 {
		member("add")
		out = appendMap(out, a.Add, func(out []byte, n int64) []byte { return strconv.AppendInt(out, n, 10) })
	}
	if len(a.Max) > 0 {
		member("max")
		out = appendMap(out, a.Max, appendText)
	}
	if a.Open != "" {
		member("open")
		out = appendText(out, a.Open)
	}
	return string(append(out, '}'))
}

func appendMap[V any](out []byte, of map[string]V, appendMember func([]byte, V) []byte) []byte {
	separator := byte('{')
	for _, name := range slices.Sorted(maps.Keys(of)) {
		out = append(out, separator)
		out = append(appendText(out, name), ':')
		out = appendMember(out, of[name])
		separator = ','
	}
	return append(out, '}')
}

// appendText appends the text in quotes. What package encoding/json escapes, and what is not ASCII, is left to it.
func appendText(out []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, _ := json.Marshal(text) // a text has no error
			return append(out, quoted...)
		}
	}
	out = append(append(out, '"'), text...)
	return append(out, '"')
}
