package wiretest

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// authorization is the header's form (AWS General Reference, "Create a signed AWS API request"): algorithm, scope, the
// signed headers, the signature.
var authorization = regexp.MustCompile(
	`^AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([a-z0-9-]+)/([a-z0-9-]+)/aws4_request, ` +
		`SignedHeaders=([a-z0-9;-]+), Signature=[0-9a-f]{64}$`)

// signer returns the access key id that signed a request and the service that it is for; empty for an unsigned
// request.
func signer(r *http.Request) (caller, service string) {
	if parts := authorization.FindStringSubmatch(r.Header.Get("Authorization")); parts != nil {
		return parts[1], parts[4]
	}
	return "", ""
}

// checkSignature returns the faults of the form of a request's signature. The SDK makes the signature itself, and only
// a holder of the key could check it.
func checkSignature(r *http.Request, service string) []string {
	parts := authorization.FindStringSubmatch(r.Header.Get("Authorization"))
	if parts == nil {
		return []string{fmt.Sprintf("the header Authorization %q is no signature", r.Header.Get("Authorization"))}
	}
	var found []string
	if parts[4] != service {
		found = append(found, fmt.Sprintf("the request is signed for %s, not for %s", parts[4], service))
	}
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil || at.Format("20060102") != parts[2] {
		found = append(found, fmt.Sprintf("the date %q does not fit the scope %s", r.Header.Get("X-Amz-Date"), parts[2]))
	}
	signed := strings.Split(parts[5], ";")
	for name := range r.Header {
		name = strings.ToLower(name)
		if strings.HasPrefix(name, "x-amz-") && !slices.Contains(signed, name) {
			found = append(found, "the header "+name+" is not signed")
		}
	}
	if !slices.Contains(signed, "host") {
		found = append(found, "the host is not signed")
	}
	return found
}
