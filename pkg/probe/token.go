package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Tokens gets access tokens by client credentials (RFC 6749 §4.4), and keeps one until shortly before its end. It is
// not safe for concurrent use.
type Tokens struct {
	Endpoint               string // the issuer's token endpoint
	ClientID, ClientSecret string
	Scope                  string // scopes, separated by blanks
	HTTP                   *http.Client
	Now                    func() time.Time

	token string
	until time.Time
}

// tokenMargin is how long before its end a token is replaced, which is longer than any run takes.
const tokenMargin = 5 * time.Minute

// Token returns a token that is good for some minutes. No error contains the secret or an answer's content.
func (t *Tokens) Token(ctx context.Context) (string, error) {
	if t.token != "" && t.Now().Before(t.until) {
		return t.token, nil
	}
	form := url.Values{"grant_type": {"client_credentials"}, "scope": {t.Scope}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.Endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return "", fmt.Errorf("token endpoint: %w", err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	// RFC 6749 §2.3.1: both in the form's encoding.
	request.SetBasicAuth(url.QueryEscape(t.ClientID), url.QueryEscape(t.ClientSecret))
	response, err := t.HTTP.Do(request)
	if err != nil {
		return "", fmt.Errorf("token endpoint: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	if err != nil {
		return "", fmt.Errorf("token endpoint: %w", err)
	}
	var answer struct {
		Token   string `json:"access_token"`
		Seconds int64  `json:"expires_in"`
		Error   string `json:"error"`
	}
	if err := json.Unmarshal(text, &answer); err != nil || response.StatusCode != http.StatusOK || answer.Token == "" {
		return "", fmt.Errorf("token endpoint: status %d, %w", response.StatusCode, tokenError(answer.Error))
	}
	t.token, t.until = answer.Token, t.Now().Add(time.Duration(answer.Seconds)*time.Second-tokenMargin)
	return t.token, nil
}

// errNoToken is the answer of an endpoint that gives no reason.
var errNoToken = errors.New("no access token")

// tokenError is the reason of a refusal, if it is one of those that the standard names (RFC 6749 §5.2).
func tokenError(code string) error {
	switch code {
	case "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
		"invalid_scope":
		return fmt.Errorf("%w: %s", errNoToken, code)
	}
	return errNoToken
}
