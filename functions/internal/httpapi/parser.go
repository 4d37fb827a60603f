package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// parser reads JSON in one pass, token by token. A known form needs no reflection, which would be a tenth of the
// program. It refuses invalid UTF-8 and a repeated member. A member that is null counts as absent. So does a member of
// a wrong kind; the parser notes the first.
type parser struct {
	*jsontext.Decoder
	wrong error
}

func newParser(payload []byte) *parser {
	return &parser{Decoder: jsontext.NewDecoder(bytes.NewBuffer(payload))}
}

// document reads an object with nothing after it.
func (p *parser) document(member func(name string) error) error {
	if err := p.object(member); err != nil {
		return err
	}
	switch _, err := p.ReadToken(); err {
	case io.EOF:
		return nil
	case nil:
		return errors.New("something stands behind the value")
	default:
		return err
	}
}

// object calls member with the name of each; member has to read the value.
func (p *parser) object(member func(name string) error) error {
	begin, err := p.token('{')
	if err != nil || begin.Kind() != '{' {
		return err
	}
	for p.PeekKind() != '}' {
		name, err := p.ReadToken()
		if err != nil {
			return err
		}
		if err := member(name.String()); err != nil {
			return err
		}
	}
	_, err = p.ReadToken()
	return err
}

// within reads an object of which one member counts.
func (p *parser) within(name string, read func() error) error {
	return p.object(func(member string) error {
		if member == name {
			return read()
		}
		return p.SkipValue()
	})
}

func (p *parser) texts(into *[]string) error {
	begin, err := p.token('[')
	if err != nil || begin.Kind() != '[' {
		return err
	}
	for p.PeekKind() != ']' {
		var value string
		if err := p.text(&value); err != nil {
			return err
		}
		*into = append(*into, value)
	}
	_, err = p.ReadToken()
	return err
}

func (p *parser) text(into *string) error {
	token, err := p.token('"')
	if err == nil && token.Kind() == '"' {
		*into = token.String()
	}
	return err
}

func (p *parser) truth(into *bool) error {
	token, err := p.token('t', 'f')
	*into = err == nil && token.Kind() == 't'
	return err
}

// token reads a token of one of these kinds, or null. It skips a value of any other kind.
func (p *parser) token(kinds ...jsontext.Kind) (jsontext.Token, error) {
	kind := p.PeekKind()
	if kind == jsontext.KindInvalid || kind == 'n' || slices.Contains(kinds, kind) {
		return p.ReadToken()
	}
	err := p.SkipValue()
	if p.wrong == nil {
		p.wrong = fmt.Errorf("%s is of the kind %s, want %s", p.StackPointer(), kind, kinds)
	}
	return jsontext.Null, err
}
