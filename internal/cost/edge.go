package cost

import (
	"nexus/pkg/deploy/edge"
	"nexus/pkg/limit"
)

// edge returns what it costs that all requests pass CloudFront and AWS WAF; nil for a deployment without. The load has
// no reads of secret addresses, so the cache saves nothing of it.
func (b biller) edge() *Part {
	if !b.when.Edge {
		return nil
	}
	requests := b.servicesOf(b.month.Taken).requests*b.month.Times + b.month.canaryRuns()*b.month.Model.CanaryRequests
	return &Part{"the edge", []Line{
		b.line("requests to CloudFront", edgeRequests, Modelled, requests),
		b.line("web ACL", webACLs, Counted, 1),
		b.line("web ACL, its rules", webRules, Counted, float64(len(edge.Rules(limit.Default())))),
		b.line("web ACL, requests that it inspects", webRequests, Modelled, requests),
	}, 0}
}

// way returns the price of what is sent to clients. What goes to CloudFront costs nothing, and what leaves it less.
func (b biller) way() string {
	if b.when.Edge {
		return edgeDataOut
	}
	return dataOut
}
