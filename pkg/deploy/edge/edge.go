// Package edge describes what stands before the API in a stage that asks for it: CloudFront with AWS WAF.
//
// It promises that the infrastructure, the functions and the bill take these facts from here. It must never count what
// one user may do: package limit does, and a user within those limits passes the rule on tokens.
package edge

import (
	"time"

	"nexus/pkg/limit"
)

const (
	// Header is the header by which a function recognizes what CloudFront has passed. CloudFront replaces the one that a
	// client sent (Amazon CloudFront Developer Guide, "Add custom headers to origin requests").
	Header = "Nexus-Edge"
	// SecretParameter is the parameter that holds the header's value (AWS Systems Manager Parameter Store), in the stage's
	// region and in that of CloudFront.
	SecretParameter = "/nexus/edge"
	// Region is that from which CloudFront takes certificates and web ACLs (Amazon CloudFront Developer Guide,
	// "Requirements for using SSL/TLS certificates with CloudFront").
	Region = "us-east-1"
)

// Window is the time over which a rule counts.
const Window = 5 * time.Minute

// By what rules count requests.
const (
	Address = "address" // the client's
	Token   = "token"   // the header Authorization
	Feed    = "feed"    // the path, of calendars at their secret addresses alone
)

// Rule refuses requests that are alike, where there were more than Limit in [Window].
type Rule struct {
	By    string
	Limit int
}

const (
	perFeed = 300
	// WAF takes no other limits. Its documents give 10 or 100 as the least.
	minLimit, maxLimit = 100, 2_000_000_000
)

// Rules returns the rules of a stage with these limits of each user, in the order in which WAF tries them.
func Rules(n limit.Numbers) []Rule {
	ofUser := min(max(n[limit.User]*int(Window/time.Minute), minLimit), maxLimit)
	return []Rule{{Address, ofUser}, {Token, ofUser}, {Feed, perFeed}}
}
