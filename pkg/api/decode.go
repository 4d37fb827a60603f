package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"nexus/pkg/entity"
	"nexus/pkg/text"
)

const (
	// maxDepth bounds the nesting of objects and lists in a body; the product's own documents have five levels.
	maxDepth = 32
	// maxValues bounds the values in a body, of any size: in memory each takes many times the two or three bytes of its
	// text. A hundred commands of series with all possible dates have 110,000, the largest tree 70,000.
	maxValues = 250_000
	// maxReason bounds, in bytes, the part of the client's own text that a message repeats.
	maxReason = 200
)

// decodeObject reads a body that is exactly one JSON object: UTF-8, no member twice. Values are string, bool,
// json.Number (so that nothing is rounded), nil, []any and map[string]any; a member that is null is present, with nil.
// A text with half of a surrogate pair is an [entity.Halved]: the JSON is well formed, and one such text must not
// refuse the other commands of a batch.
func decodeObject(body []byte) (map[string]any, *Problem) {
	v, err := decode(body)
	if err != nil && utf8.Valid(body) {
		if lenient, still := decode(body, jsontext.AllowInvalidUTF8(true)); still == nil {
			v, err = lenient, nil
		}
	}
	if err != nil {
		return nil, problemOfJSON(err)
	}
	doc, ok := v.(map[string]any)
	if !ok {
		return nil, refuseFields(entity.FieldError{Pointer: "", Detail: "must be a JSON object"})
	}
	return doc, nil
}

func decode(body []byte, lenient ...jsontext.Options) (any, error) {
	d := &decoding{Decoder: jsontext.NewDecoder(bytes.NewBuffer(body), lenient...), lenient: len(lenient) > 0}
	v, err := decodeValue(d)
	if err == nil {
		err = expectEnd(d)
	}
	return v, err
}

var (
	errTooDeep  = errors.New("the nesting is too deep")
	errTooMany  = errors.New("there are too many values")
	errTrailing = errors.New("there is something behind the JSON value")
)

// decoding is the state of decoding a body.
type decoding struct {
	*jsontext.Decoder
	values  int
	lenient bool // of halves of surrogate pairs
}

// depthError is a nesting beyond the bound, with its place.
type depthError struct{ at jsontext.Pointer }

func (e *depthError) Error() string { return errTooDeep.Error() }

func decodeValue(d *decoding) (any, error) {
	if d.values++; d.values > maxValues {
		return nil, errTooMany
	}
	if d.StackDepth() > maxDepth {
		return nil, &depthError{d.StackPointer()}
	}
	if d.lenient && d.PeekKind() == '"' {
		return decodeText(d)
	}
	t, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case '{':
		return decodeMembers(d)
	case '[':
		return decodeElements(d)
	case '"':
		return t.String(), nil
	case '0':
		return json.Number(t.String()), nil
	case 't', 'f':
		return t.Bool(), nil
	}
	return nil, nil
}

func decodeText(d *decoding) (any, error) {
	raw, err := d.ReadValue()
	if err != nil {
		return nil, err
	}
	if !raw.IsValid() {
		return entity.Halved(raw), nil
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	return string(text), err
}

func decodeMembers(d *decoding) (map[string]any, error) {
	doc := map[string]any{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String() // before the next read, which may overwrite the token
		if doc[key], err = decodeValue(d); err != nil {
			return nil, err
		}
	}
	_, err := d.ReadToken()
	return doc, err
}

func decodeElements(d *decoding) ([]any, error) {
	list := []any{}
	for d.PeekKind() != ']' {
		v, err := decodeValue(d)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := d.ReadToken()
	return list, err
}

func expectEnd(d *decoding) error {
	switch _, err := d.ReadToken(); err {
	case io.EOF:
		return nil
	case nil:
		return errTrailing
	default:
		return err
	}
}

// problemOfJSON returns the problem of an invalid text, with its place.
func problemOfJSON(err error) *Problem {
	var (
		syntax *jsontext.SyntacticError
		deep   *depthError
	)
	switch {
	case errors.As(err, &deep):
		return refuse(malformed, "The body is nested deeper than %d levels, at %s.", maxDepth, shorten(string(deep.at)))
	case errors.Is(err, errTooMany):
		return refuse(tooLarge, "The body has more than %d values.", maxValues)
	case errors.Is(err, errTrailing):
		return refuse(malformed, "The body has something behind the JSON value.")
	case errors.Is(err, jsontext.ErrDuplicateName):
		p := refuse(malformed, "The body has a member twice.")
		if errors.As(err, &syntax) {
			p.Detail = "The body has the member " + shorten(string(syntax.JSONPointer)) + " twice."
		}
		return p
	case errors.As(err, &syntax):
		at := "at its top"
		if syntax.JSONPointer != "" {
			at = "in " + shorten(string(syntax.JSONPointer))
		}
		return refuse(malformed, "The body is no valid JSON, %s, byte %d: %s.", at, syntax.ByteOffset,
			shorten(syntax.Err.Error()))
	}
	return refuse(malformed, "The body is no complete JSON text.")
}

// shorten keeps a message short for any input.
func shorten(s string) string {
	return text.Clip(strings.ToValidUTF8(strings.TrimPrefix(s, "jsontext: "), "\uFFFD"), maxReason)
}
