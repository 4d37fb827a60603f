package change

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// reader walks once over a payload. It distinguishes two kinds of failure:
//   - The payload is no JSON from here on: broken is set and nothing more can be read.
//   - A value has the wrong form: the method returns an error, and [reader.leave] continues after the value.
//
// Every method that reads a value and returns an error has either consumed the value or stopped inside it.
type reader struct {
	payload []byte
	json    *jsontext.Decoder
	broken  error
	// names holds every object name seen so far by its quoted form: the same thirty names appear in each image.
	names map[string]string
	last  likeness
}

func newReader(payload []byte) *reader {
	return &reader{
		payload: payload,
		// The decoder would refuse repeated names and wrong UTF-8 for the whole payload. Here they are one record's mistake:
		// the methods that read names and strings check for them.
		json: jsontext.NewDecoder(bytes.NewBuffer(payload), jsontext.AllowDuplicateNames(true),
			jsontext.AllowInvalidUTF8(true)),
		names: make(map[string]string, 64),
	}
}

// halt keeps the first error after which nothing can be read.
func (r *reader) halt(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if r.broken == nil {
		r.broken = err
	}
	return r.broken
}

// begin enters an object or array.
func (r *reader) begin(kind jsontext.Kind) error {
	token, err := r.json.ReadToken()
	if err != nil {
		return r.halt(err)
	}
	if token.Kind() != kind {
		return fmt.Errorf("want %v, have %v", kind, token.Kind())
	}
	return nil
}

// more reports whether the object or array has another member; without one, [reader.end] follows.
func (r *reader) more() bool {
	switch r.json.PeekKind() {
	case jsontext.KindEndObject, jsontext.KindEndArray, jsontext.KindInvalid:
		return false
	}
	return true
}

// end leaves the object or array whose members are all read.
func (r *reader) end() error {
	if _, err := r.json.ReadToken(); err != nil {
		return r.halt(err)
	}
	return nil
}

// leave skips what is left of values in which reading stopped, until depth objects and arrays are open.
func (r *reader) leave(depth int) error {
	for r.broken == nil && r.json.StackDepth() > depth {
		var err error
		if r.more() {
			err = r.json.SkipValue()
		} else {
			_, err = r.json.ReadToken()
		}
		if err != nil {
			return r.halt(err)
		}
	}
	return r.broken
}

func (r *reader) skip() error {
	if err := r.json.SkipValue(); err != nil {
		return r.halt(err)
	}
	return nil
}

// alone ends the reading of a payload that is to hold one value: err is the mistake in that value. A truncated payload
// is reported instead, because the other mistakes follow from it.
func (r *reader) alone(err error) error {
	if r.broken != nil {
		return r.broken
	}
	if err != nil {
		return err
	}
	switch _, err := r.json.ReadToken(); err {
	case io.EOF:
		return nil
	case nil:
		return errors.New("more than one JSON value")
	default:
		return err
	}
}

// value reads a scalar in its JSON form, valid until the next read, or a whole object or array.
func (r *reader) value() (jsontext.Value, error) {
	v, err := r.json.ReadValue()
	if err != nil {
		return nil, r.halt(err)
	}
	return v, nil
}

// name reads an object's member name.
func (r *reader) name() (string, error) {
	v, err := r.value()
	if err != nil {
		return "", err
	}
	return r.known(v)
}

// known returns the name that is quoted, always the same string for the same name.
func (r *reader) known(v jsontext.Value) (string, error) {
	if name, ok := r.names[string(v)]; ok {
		return name, nil
	}
	name, err := unquote(v)
	if err != nil {
		return "", err
	}
	r.names[string(v)] = name
	return name, nil
}

// text reads a string.
func (r *reader) text() (string, error) {
	v, err := r.value()
	if err != nil {
		return "", err
	}
	return unquote(v)
}

var (
	errNoText = errors.New("not a string")
	errUTF8   = errors.New("not UTF-8")
)

func unquote(v jsontext.Value) (string, error) {
	if v.Kind() != jsontext.KindString {
		return "", errNoText
	}
	if inner := v[1 : len(v)-1]; bytes.IndexByte(inner, '\\') < 0 {
		if !utf8.Valid(inner) {
			return "", errUTF8
		}
		return string(inner), nil
	}
	text, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return "", errUTF8
	}
	return string(text), nil
}

// raw returns the payload from an offset to the reader's position.
func (r *reader) raw(from int64) []byte {
	to := r.json.InputOffset()
	return r.payload[from:to:to]
}
