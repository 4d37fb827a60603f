package httpapi

import (
	"errors"
	"fmt"

	"nexus/pkg/api"
	"nexus/pkg/deploy/env"
)

// event holds the needed part of an HTTP request in payload format 2.0 (API Gateway Developer Guide, "Create AWS
// Lambda proxy integrations for HTTP APIs"). A function URL sends the same format (AWS Lambda Developer Guide,
// "Invoking Lambda function URLs").
type event struct {
	version        string
	path, query    string
	cookies        []string
	headers        map[string]string
	body           string
	inBase64       bool
	domain         string
	method, source string
	claims         api.Claims
	addresses      api.Addresses
}

const payloadVersion = "2.0"

// memberContext is a member beside the request; a client cannot set it.
const memberContext = "requestContext"

// ErrNoEvent says that a payload is not from an HTTP API: it is no JSON object, or has no request context.
var ErrNoEvent = errors.New("no event of an HTTP API")

// decode reads the payload. It compares members' names exactly: a claim "Sub" is not the subject.
func decode(payload []byte) (*event, error) {
	var e event
	p := newParser(payload)
	isEvent := false
	err := p.document(func(name string) error {
		isEvent = isEvent || name == memberContext
		return e.member(p, name)
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrNoEvent, err)
	case !isEvent:
		return nil, ErrNoEvent
	case p.wrong != nil:
		return nil, fmt.Errorf("read event of the HTTP API: %w", p.wrong)
	case e.version != payloadVersion || e.method == "":
		return nil, fmt.Errorf("event of payload format %q, want a request in %s", e.version, payloadVersion)
	}
	return &e, nil
}

func (e *event) member(p *parser, name string) error {
	switch name {
	case "version":
		return p.text(&e.version)
	case "rawPath":
		return p.text(&e.path)
	case "rawQueryString":
		return p.text(&e.query)
	case "cookies":
		return p.texts(&e.cookies)
	case "headers":
		e.headers = map[string]string{}
		return p.object(func(name string) error {
			var value string
			err := p.text(&value)
			e.headers[name] = value
			return err
		})
	case "body":
		return p.text(&e.body)
	case "isBase64Encoded":
		return p.truth(&e.inBase64)
	case "stageVariables":
		return p.object(func(name string) error { return e.variable(p, name) })
	case memberContext:
		return p.object(func(name string) error { return e.contextMember(p, name) })
	}
	return p.SkipValue()
}

func (e *event) contextMember(p *parser, name string) error {
	switch name {
	case "domainName":
		return p.text(&e.domain)
	case "http":
		return p.object(func(name string) error {
			switch name {
			case "method":
				return p.text(&e.method)
			case "sourceIp":
				return p.text(&e.source)
			}
			return p.SkipValue()
		})
	case "authorizer":
		return p.within("jwt", func() error {
			return p.within("claims", func() error {
				return p.object(func(name string) error { return e.claim(p, name) })
			})
		})
	}
	return p.SkipValue()
}

func (e *event) variable(p *parser, name string) error {
	var into *string
	switch name {
	case env.CommandURL:
		into = &e.addresses.Command
	case env.QueryURL:
		into = &e.addresses.Query
	default:
		return p.SkipValue()
	}
	err := p.text(into)
	if *into == env.NoURL {
		*into = ""
	}
	return err
}

func (e *event) claim(p *parser, name string) error {
	switch name {
	case "iss":
		return p.text(&e.claims.Issuer)
	case "sub":
		return p.text(&e.claims.Subject)
	case "scope":
		return p.text(&e.claims.Scope)
	case "scp":
		return p.text(&e.claims.ScopeList)
	case "auth_time":
		token, err := p.token('"', '0') // a number, which the gateway may write as a text
		e.claims.AuthTime = token.String()
		return err
	}
	return p.SkipValue()
}
