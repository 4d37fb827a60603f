package entity

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"nexus/pkg/item"
)

// AppendJSON appends the item as clients see it: the type's fields in their order, without keys and bookkeeping;
// floating times without offset.
func (t *Type) AppendJSON(dst []byte, it item.Item) []byte {
	dst = append(dst, '{')
	dst = t.AppendMembers(dst, it)
	return append(dst, '}')
}

// AppendMembers is [Type.AppendJSON] without the braces, for answers that add members of their own.
func (t *Type) AppendMembers(dst []byte, it item.Item) []byte {
	return appendItem(dst, t.Fields, it)
}

// AppendMembersOf is [Type.AppendMembers] of an item that is not made: it asks for the value of each field, nil for
// none.
func (t *Type) AppendMembersOf(dst []byte, value func(name string, origin Origin) item.Value) []byte {
	return appendMembers(dst, t.Fields, value)
}

func appendItem(dst []byte, fields []Field, it item.Item) []byte {
	return appendMembers(dst, fields, func(name string, _ Origin) item.Value { return it[name] })
}

func appendMembers(dst []byte, fields []Field, value func(name string, origin Origin) item.Value) []byte {
	first := true
	for i := range fields {
		f := &fields[i]
		if f.Origin == Hidden {
			continue
		}
		v := value(f.Name, f.Origin)
		if v == nil {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(append(append(dst, '"'), f.Name...), '"', ':') // a word: nothing to escape
		switch {
		case f.Kind == Object:
			inner, _ := v.(item.Map)
			dst = append(dst, '{')
			dst = appendItem(dst, f.Fields, item.Item(inner))
			dst = append(dst, '}')
		case f.Kind == Instant && f.Zone != "" && value(f.Zone, FromClient) == nil:
			reading, _ := v.(item.String)
			dst = appendString(dst, strings.TrimSuffix(string(reading), "Z"))
		default:
			dst = appendValue(dst, v)
		}
	}
	return dst
}

func appendValue(dst []byte, v item.Value) []byte {
	switch v := v.(type) {
	case item.String:
		return appendString(dst, string(v))
	case item.Number:
		return append(dst, v...)
	case item.Bool:
		return strconv.AppendBool(dst, bool(v))
	case item.StringSet:
		members := []string(v)
		if !slices.IsSorted(members) {
			members = slices.Sorted(slices.Values(members))
		}
		return appendList(dst, members, appendString)
	case item.NumberSet:
		numbers := []string(v)
		if !slices.IsSortedFunc(numbers, compareWhole) {
			numbers = slices.Clone(numbers)
			slices.SortFunc(numbers, compareWhole)
		}
		return appendList(dst, numbers, func(dst []byte, s string) []byte { return append(dst, s...) })
	case item.List:
		return appendList(dst, v, appendValue)
	case item.Map:
		dst = append(dst, '{')
		for i, name := range sortedNames(v) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendString(dst, name), ':')
			dst = appendValue(dst, v[name])
		}
		return append(dst, '}')
	default: // Null; binary values occur in no entity
		return append(dst, "null"...)
	}
}

func compareWhole(a, b string) int {
	x, _ := strconv.ParseInt(a, 10, 64)
	y, _ := strconv.ParseInt(b, 10, 64)
	return int(x - y)
}

func appendList[T any](dst []byte, list []T, element func([]byte, T) []byte) []byte {
	dst = append(dst, '[')
	for i, e := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = element(dst, e)
	}
	return append(dst, ']')
}

// plain says which bytes JSON takes unescaped.
var plain = func() (set [256]bool) {
	for c := range utf8.RuneSelf {
		set[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return set
}()

const hexDigits = "0123456789abcdef"

// appendString quotes s for JSON (RFC 8259 §7): the quote, the backslash and control characters are escaped; invalid
// UTF-8, which no validated item has, becomes U+FFFD. No character that a text may have takes more than twice its
// bytes, so that a page of 1 MB fits into an answer.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for {
		n := plainLength(s)
		dst = append(dst, s[:n]...)
		if s = s[n:]; s == "" {
			return append(dst, '"')
		}
		switch c := s[0]; {
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(s)
			dst, s = utf8.AppendRune(dst, r), s[size:]
			continue
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
		}
		s = s[1:]
	}
}

// plainLength counts the leading bytes that JSON takes unescaped.
func plainLength(s string) int {
	for i := range len(s) {
		if !plain[s[i]] {
			return i
		}
	}
	return len(s)
}
