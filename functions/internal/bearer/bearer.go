// Package bearer checks the tokens of requests that no gateway has checked: those that come by a function URL.
//
// It promises that a token has claims only if it is valid now, is for this deployment, and was signed by its issuer
// with RS256. It asks the issuer for its keys when the first token comes, once a day, and for an unknown key once a
// minute. Nothing in a token decides which address is asked. It must never take a key from a token.
package bearer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"nexus/pkg/api"
)

const (
	// maxToken bounds the length of a token, in bytes. A gateway takes 10 KB for all headers together.
	maxToken = 8 << 10
	// leeway is by how much the clocks of issuer and function may differ.
	leeway = 5 * time.Second
)

// Config describes the tokens of a deployment.
type Config struct {
	// Issuer is the address of their issuer, as the claim iss has it.
	Issuer string
	// Audience are those of which one has to be a token's aud; of a token without aud, its client_id.
	Audience []string
	Now      func() time.Time
	// Transport makes the requests to the issuer; nil for the network.
	Transport http.RoundTripper
}

// Checker checks tokens. It is safe for concurrent use.
type Checker struct {
	cfg  Config
	keys *keys
}

// New returns a checker that has asked for nothing yet.
func New(c Config) *Checker {
	if c.Transport == nil {
		// A connection of a day ago is of no use, and there is no proxy.
		c.Transport = &http.Transport{DisableKeepAlives: true}
	}
	return &Checker{c, newKeys(c)}
}

// claims are those that decide, and those that the API looks at. Members' names are compared exactly, and a repeated
// one is refused.
type claims struct {
	jwt.Claims
	ClientID  string `json:"client_id"`
	AuthTime  any    `json:"auth_time"`
	Scope     any    `json:"scope"`
	ScopeList any    `json:"scp"`
}

// Claims returns the claims of a token, as the authorizer of an HTTP API passes them on. The error says why it has
// none, without a part of the token: it is a [port.ErrUnavailable] if the issuer's keys cannot be had now.
func (c *Checker) Claims(ctx context.Context, token string) (api.Claims, error) {
	if len(token) > maxToken {
		return api.Claims{}, errors.New("it is too long")
	}
	signed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return api.Claims{}, errors.New("it is no JWT that is signed by RS256")
	}
	key, err := c.keys.find(ctx, signed.Headers[0].KeyID)
	if err != nil {
		return api.Claims{}, err
	}
	var of claims
	if err := signed.Claims(key, &of); err != nil {
		return api.Claims{}, errors.New("its signature or its claims are wrong")
	}
	if err := c.validate(of); err != nil {
		return api.Claims{}, err
	}
	return api.Claims{
		Issuer: of.Issuer, Subject: of.Subject, AuthTime: text(of.AuthTime), Scope: text(of.Scope),
		ScopeList: text(of.ScopeList),
	}, nil
}

// validate decides as the authorizer of an HTTP API does (API Gateway Developer Guide, "Control access to HTTP APIs
// with JWT authorizers").
func (c *Checker) validate(of claims) error {
	if of.Expiry == nil {
		return errors.New("it does not say when it expires")
	}
	if of.Audience == nil {
		of.Audience = jwt.Audience{of.ClientID}
	}
	err := of.ValidateWithLeeway(jwt.Expected{
		Issuer: c.cfg.Issuer, AnyAudience: c.cfg.Audience, Time: c.cfg.Now(),
	}, leeway)
	for reason, says := range map[error]string{
		jwt.ErrInvalidIssuer: "it is of another issuer", jwt.ErrInvalidAudience: "it is for another audience",
		jwt.ErrExpired: "it has expired", jwt.ErrNotValidYet: "it is not valid yet",
		jwt.ErrIssuedInTheFuture: "it is of the future",
	} {
		if errors.Is(err, reason) {
			return errors.New(says)
		}
	}
	if err != nil {
		return fmt.Errorf("its claims are refused: %w", err)
	}
	return nil
}

// text returns a claim as the text that the authorizer of an HTTP API makes of it: a number in digits, a list of texts
// with spaces between. Empty for anything else.
func text(claim any) string {
	switch v := claim.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		var out []string
		for _, member := range v {
			one, _ := member.(string)
			out = append(out, one)
		}
		return strings.Join(out, " ")
	}
	return ""
}
