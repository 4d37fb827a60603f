package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// bearer is a token of a user, as the authorizer reads it.
type bearer struct{ subject, issuer, audience, scope string }

// ask sends a request to the API of the template: its route decides about the token, and its integration which function
// answers (API Gateway Developer Guide, "Working with routes", "Control access with a JWT authorizer", "Create AWS
// Lambda proxy integrations").
func (d *deployed) ask(token bearer, method, target, body string, headers map[string]string) answer {
	at, err := url.Parse(target)
	if err != nil {
		d.Errorf("%s: %v", target, err)
		return answer{}
	}
	route := d.route(method, at.Path)
	context := map[string]any{
		"accountId": stackAccount, "apiId": "Api", "domainName": "Api.execute-api." + stackRegion + ".amazonaws.com",
		"http":      map[string]any{"method": method, "path": at.Path, "protocol": "HTTP/1.1", "sourceIp": "203.0.113.7"},
		"requestId": "id", "routeKey": route.text("RouteKey"), "stage": "$default", "timeEpoch": time.Now().UnixMilli(),
	}
	if route.text("AuthorizationType") == "JWT" {
		authorizer := d.stack.one("AWS::ApiGatewayV2::Authorizer", nil)
		switch {
		case token.subject == "" || token.issuer != authorizer.text("JwtConfiguration", "Issuer") ||
			!slices.Contains(textsOf(authorizer.at("JwtConfiguration", "Audience")), token.audience):
			return answer{StatusCode: http.StatusUnauthorized}
		case !slices.ContainsFunc(textsOf(route.at("AuthorizationScopes")), func(scope string) bool {
			return slices.Contains(strings.Fields(token.scope), scope)
		}):
			return answer{StatusCode: http.StatusForbidden}
		}
		context["authorizer"] = map[string]any{"jwt": map[string]any{"claims": map[string]string{
			"sub": token.subject, "iss": token.issuer, "aud": token.audience, "scope": token.scope,
		}}}
	}
	sent := map[string]string{"authorization": "Bearer x", "content-type": "application/json"}
	for name, value := range headers {
		sent[strings.ToLower(name)] = value
	}
	event := map[string]any{
		"version": "2.0", "routeKey": route.text("RouteKey"), "rawPath": at.Path, "rawQueryString": at.RawQuery,
		"headers": sent, "requestContext": context, "isBase64Encoded": false,
	}
	if body != "" {
		event["body"] = body
	}
	payload, _ := json.Marshal(event)
	return d.integrate(route, payload)
}

// integrate calls the function of a route. A function that fails is a fault of the server for the user.
func (d *deployed) integrate(route stackResource, payload []byte) answer {
	id := strings.TrimPrefix(route.text("Target"), "integrations/")
	arn := d.stack.resources[id].text("IntegrationUri")
	d.requirePermission("apigateway.amazonaws.com", arn)
	o := d.invoke(arn, payload)
	a := answer{StatusCode: http.StatusInternalServerError}
	if o.failure != nil {
		a.Body = o.failure.ErrorMessage
	} else {
		if err := json.Unmarshal(o.body, &a); err != nil {
			d.Errorf("answer to the API: %v: %s", err, o.body)
		}
	}
	return a
}

// route returns the route of a request: the one with the most parts in common, or the default.
func (d *deployed) route(method, path string) stackResource {
	var best stackResource
	most, parts := -1, strings.Split(path, "/")
	for _, r := range d.routes {
		key := r.text("RouteKey")
		verb, pattern, _ := strings.Cut(key, " ")
		of := strings.Split(pattern, "/")
		if key == "$default" && most < 0 {
			best = r
		}
		if verb != method || len(of) != len(parts) {
			continue
		}
		same := 0
		for i, part := range of {
			switch {
			case part == parts[i]:
				same++
			case !strings.HasPrefix(part, "{") || parts[i] == "":
				same = -len(of) - 1
			}
		}
		if same > most {
			best, most = r, same
		}
	}
	return best
}
