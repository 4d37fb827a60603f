package env

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"nexus/pkg/limit"
	"nexus/pkg/pepper"
)

// The forms follow the services' API references. They are hand-written functions: as regular expressions, which a
// process compiles when it starts, they took the largest part of a start.

func tableForm(s string) bool { return 3 <= len(s) && len(s) <= 255 && only(s, word, ".-") }

func bucketForm(s string) bool {
	return 3 <= len(s) && len(s) <= 63 && only(s, lowerOrDigit, ".-") && only(s[:1]+s[len(s)-1:], lowerOrDigit, "")
}

// busForm accepts a name or an ARN.
func busForm(s string) bool {
	if strings.HasPrefix(s, "arn:") {
		return arn(s, "events", regional, func(resource string) bool {
			name, isBus := strings.CutPrefix(resource, "event-bus/")
			return isBus && busName(name)
		})
	}
	return busName(s)
}

func busName(s string) bool { return 1 <= len(s) && len(s) <= 256 && only(s, word, "./-") }

// hostForm accepts a domain as a service names it, in small letters.
func hostForm(s string) bool {
	return len(s) <= 253 && some(s, lowerOrDigit, ".-") && only(s[:1]+s[len(s)-1:], lowerOrDigit, "")
}

func groupForm(s string) bool { return 1 <= len(s) && len(s) <= 64 && only(s, word, ".-") }

// lambdaForm accepts a function, or one of its versions or aliases.
func lambdaForm(s string) bool {
	return arn(s, "lambda", regional, func(resource string) bool {
		rest, isFunction := strings.CutPrefix(resource, "function:")
		name, qualifier, qualified := strings.Cut(rest, ":")
		return isFunction && some(name, word, "-") && (!qualified || some(qualifier, word, "$-"))
	})
}

func roleForm(s string) bool {
	return arn(s, "iam", global, func(resource string) bool {
		name, isRole := strings.CutPrefix(resource, "role/")
		return isRole && some(name, word, "+=,.@/-")
	})
}

func queueForm(s string) bool {
	return arn(s, "sqs", regional, func(resource string) bool { return some(resource, word, "-") })
}

// queueAddressForm accepts the address of a FIFO queue, https://host/account/name.fifo (Amazon SQS Developer Guide,
// "Amazon SQS queue and message identifiers").
func queueAddressForm(s string) bool {
	rest, isHTTPS := strings.CutPrefix(s, "https://")
	parts := strings.Split(rest, "/")
	if !isHTTPS || len(parts) != 3 || !hostForm(parts[0]) || len(parts[1]) != 12 || !only(parts[1], digit, "") {
		return false
	}
	name, isFIFO := strings.CutSuffix(parts[2], ".fifo")
	return isFIFO && len(parts[2]) <= 80 && some(name, word, "-")
}

// originForm accepts the origin of a host that has a certificate and the usual port.
func originForm(s string) bool {
	host, isHTTPS := strings.CutPrefix(s, "https://")
	return isHTTPS && host != "" && hostForm(host)
}

// scopesForm accepts scopes with a space between two, each of the characters of RFC 6749 §3.3.
func scopesForm(s string) bool {
	for scope := range strings.SplitSeq(s, " ") {
		if !some(scope, visible, "") || strings.ContainsAny(scope, `"\`) {
			return false
		}
	}
	return true
}

// audienceForm accepts texts of visible characters with a space between two.
func audienceForm(s string) bool {
	for one := range strings.SplitSeq(s, " ") {
		if !some(one, visible, "") {
			return false
		}
	}
	return true
}

// addressForm accepts an address with https, or of this machine.
func addressForm(s string) bool {
	u, err := url.Parse(s)
	isLocal := err == nil && u.Scheme == "http" && u.Hostname() == "127.0.0.1"
	return err == nil && (u.Scheme == "https" || isLocal) && u.Host != "" && u.User == nil && u.RawQuery == "" &&
		u.Fragment == ""
}

// apiForm accepts such an address without a path.
func apiForm(s string) bool {
	u, err := url.Parse(s)
	return err == nil && addressForm(s) && u.Path == ""
}

// regionForm accepts two letters, words, and a number: eu-central-1.
func regionForm(s string) bool {
	parts := strings.Split(s, "-")
	if len(parts) < 3 || len(parts[0]) != 2 {
		return false
	}
	for _, part := range parts[:len(parts)-1] {
		if !some(part, lower, "") {
			return false
		}
	}
	return some(parts[len(parts)-1], digit, "")
}

// arn accepts an ARN of the service, arn:partition:service:region:account:resource (AWS General Reference, "Amazon
// Resource Names").
func arn(s, service string, region, resource func(string) bool) bool {
	parts := strings.SplitN(s, ":", 6)
	if len(parts) != 6 || parts[0] != "arn" || parts[2] != service || len(parts[4]) != 12 || !only(parts[4], digit, "") {
		return false
	}
	partition, isAWS := strings.CutPrefix(parts[1], "aws")
	return isAWS && only(partition, lower, "-") && region(parts[3]) && resource(parts[5])
}

func regional(region string) bool { return some(region, lowerOrDigit, "-") }

func global(region string) bool { return region == "" }

// syncForm accepts a whole number that a token can hold, as it is written.
func syncForm(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && strconv.FormatUint(n, 10) == s
}

// announceForm accepts names with commas between.
func announceForm(s string) bool {
	for name := range strings.SplitSeq(s, ",") {
		if !some(name, word, "") {
			return false
		}
	}
	return true
}

func pepperForm(s string) bool {
	_, err := pepper.Parse(s)
	return err == nil
}

// edgeForm accepts one or two secrets with a comma between, or that there are none.
func edgeForm(s string) bool {
	first, second, isTwo := strings.Cut(s, ",")
	return s == EdgeNone || secretForm(first) && (!isTwo || secretForm(second))
}

// secretForm accepts what `openssl rand -hex 32` prints.
func secretForm(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }

// pushKeyForm accepts what has the length and the first byte of such a point: 65 bytes, of which the first is 4.
func pushKeyForm(s string) bool { return len(s) == 87 && s[0] == 'B' && only(s, word, "-") }

// parameterForm accepts a name with its path (AWS Systems Manager API Reference, PutParameter, Name).
func parameterForm(s string) bool {
	return strings.HasPrefix(s, "/") && len(s) <= 1011 && some(s[1:], word, "./-")
}

// loopbackForm accepts an address of this machine with a port.
func loopbackForm(s string) bool {
	at, err := netip.ParseAddrPort(s)
	return err == nil && at.Addr().IsLoopback() && at.Port() != 0
}

// pushHostsForm accepts hosts with commas between, or that all are allowed.
func pushHostsForm(s string) bool {
	for host := range strings.SplitSeq(s, ",") {
		if host == "" || !hostForm(host) {
			return false
		}
	}
	return true
}

// limitsForm accepts all limits with their numbers, as they are formatted: nothing is filled in here.
func limitsForm(s string) bool {
	n, err := limit.Parse(s)
	return err == nil && limit.Format(n) == s
}

// some reports whether the text has characters, all of them of the class or among the others.
func some(s string, class func(byte) bool, others string) bool {
	return s != "" && only(s, class, others)
}

// only is [some] for a text that may be empty.
func only(s string, class func(byte) bool, others string) bool {
	for i := range len(s) {
		if !class(s[i]) && strings.IndexByte(others, s[i]) < 0 {
			return false
		}
	}
	return true
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func visible(c byte) bool { return '!' <= c && c <= '~' }

func lower(c byte) bool { return 'a' <= c && c <= 'z' }

func lowerOrDigit(c byte) bool { return lower(c) || digit(c) }

func word(c byte) bool { return lowerOrDigit(c) || 'A' <= c && c <= 'Z' || c == '_' }
