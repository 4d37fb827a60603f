package change

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"nexus/pkg/item"
)

// maxNesting is the deepest nesting of lists and maps in DynamoDB (Amazon DynamoDB Developer Guide, Quotas).
const maxNesting = 32

var (
	errNoType   = errors.New("no type")
	errTwoTypes = errors.New("more than one type")
)

// image reads the attributes of a row.
func (r *reader) image() (item.Item, error) {
	it := make(item.Item, r.last.size())
	r.last.rewind()
	err := r.eachMember(func() error {
		quoted, err := r.value()
		if err != nil {
			return err
		}
		name, before, ok := r.last.find(quoted)
		if !ok {
			if name, err = r.known(quoted); err != nil {
				return err
			}
		}
		v, err := r.attributeInto(it, name, before, 0)
		if err != nil {
			return err
		}
		r.last.add(name, v)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return it, nil
}

// attributesInto reads named attribute values.
func (r *reader) attributesInto(it item.Item, nesting int) error {
	return r.eachMember(func() error {
		name, err := r.name()
		if err != nil {
			return err
		}
		_, err = r.attributeInto(it, name, nil, nesting)
		return err
	})
}

// eachMember reads an object; read reads a member, name and value.
func (r *reader) eachMember(read func() error) error {
	if err := r.begin(jsontext.KindBeginObject); err != nil {
		return err
	}
	for r.more() {
		if err := read(); err != nil {
			return err
		}
	}
	return r.end()
}

func (r *reader) attributeInto(it item.Item, name string, before item.Value, nesting int) (item.Value, error) {
	v, err := r.attribute(before, nesting)
	if err != nil {
		return nil, fmt.Errorf("attribute %.80q: %w", name, err)
	}
	size := len(it)
	if it[name] = v; len(it) == size {
		return nil, fmt.Errorf("attribute %.80q: comes twice", name)
	}
	return v, nil
}

// attribute reads a value with its type, an object of exactly one member. before is a value that it may equal.
func (r *reader) attribute(before item.Value, nesting int) (item.Value, error) {
	if nesting > maxNesting {
		return nil, fmt.Errorf("nested more than %d deep", maxNesting)
	}
	if r.nextIs(stringPrefix) {
		text, err := r.plain(stringPrefix)
		if err != nil {
			return nil, err
		}
		if s, ok := before.(item.String); ok && sameText(text, string(s)) {
			return before, nil
		}
		s, err := unquote(text)
		return item.String(s), err
	}
	if r.nextIs(numberPrefix) {
		text, err := r.plain(numberPrefix)
		if err != nil {
			return nil, err
		}
		if n, ok := before.(item.Number); ok && sameText(text, string(n)) {
			return before, nil
		}
		s, err := unquote(text)
		return item.Number(s), err
	}
	if err := r.begin(jsontext.KindBeginObject); err != nil {
		return nil, err
	}
	if !r.more() {
		return nil, errNoType
	}
	kind, err := r.name()
	if err != nil {
		return nil, err
	}
	v, err := r.typed(kind, nesting)
	if err != nil {
		return nil, err
	}
	if r.more() {
		return nil, errTwoTypes
	}
	return v, r.end()
}

// Most attributes are strings or numbers without white space: then one read takes the whole value instead of four
// reads for its parts. Other spellings take the longer path.
const (
	stringPrefix = `{"S":"`
	numberPrefix = `{"N":"`
)

// nextIs compares the bytes of the next value with the prefix.
func (r *reader) nextIs(prefix string) bool {
	ahead := r.payload[r.json.InputOffset():]
	return len(ahead) > len(prefix) && (ahead[0] == ':' || ahead[0] == ',') && string(ahead[1:len(prefix)+1]) == prefix
}

// plain reads an attribute value that begins with the prefix. The prefix ends with the quote that opens its text. The
// result is the quoted text, valid until the next read.
func (r *reader) plain(prefix string) (jsontext.Value, error) {
	v, err := r.value()
	if err != nil {
		return nil, err
	}
	quote := len(prefix) - 1
	end := endOfString(v, quote)
	if closed := len(v) == end+1; !closed && len(bytes.TrimLeft(v[end:], " \t\r\n")) != 1 {
		return nil, errTwoTypes
	}
	return v[quote:end], nil
}

// endOfString returns the offset after the JSON string that begins at from. The JSON must be complete.
func endOfString(v []byte, from int) int {
	for i := from + 1; ; i++ {
		i += bytes.IndexByte(v[i:], '"')
		escapes := 0
		for v[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
}

func (r *reader) typed(kind string, nesting int) (item.Value, error) {
	switch kind {
	case "S":
		s, err := r.text()
		return item.String(s), err
	case "N":
		s, err := r.text()
		return item.Number(s), err
	case "BOOL":
		b, err := r.flag()
		return item.Bool(b), err
	case "NULL":
		_, err := r.flag()
		return item.Null{}, err
	case "SS":
		set, err := list(r, r.text)
		return item.StringSet(set), err
	case "NS":
		set, err := list(r, r.text)
		return item.NumberSet(set), err
	case "L":
		members, err := list(r, func() (item.Value, error) { return r.attribute(nil, nesting+1) })
		return item.List(members), err
	case "M":
		it := item.Item{}
		err := r.attributesInto(it, nesting+1)
		return item.Map(it), err
	case "B":
		b, err := r.binary()
		return item.Binary(b), err
	case "BS":
		set, err := list(r, r.binary)
		return item.BinarySet(set), err
	}
	return nil, fmt.Errorf("unknown type %.20q", kind)
}

func (r *reader) flag() (bool, error) {
	v, err := r.value()
	if err != nil {
		return false, err
	}
	switch v.Kind() {
	case jsontext.KindTrue:
		return true, nil
	case jsontext.KindFalse:
		return false, nil
	}
	return false, fmt.Errorf("want true or false, have %v", v.Kind())
}

func (r *reader) binary() ([]byte, error) {
	s, err := r.text()
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(s)
}

// list reads an array; the result of an empty one is not nil.
func list[E any](r *reader, member func() (E, error)) ([]E, error) {
	if err := r.begin(jsontext.KindBeginArray); err != nil {
		return nil, err
	}
	out := make([]E, 0, 4)
	for r.more() {
		m, err := member()
		if err != nil {
			return nil, fmt.Errorf("member %d: %w", len(out), err)
		}
		out = append(out, m)
	}
	return out, r.end()
}
