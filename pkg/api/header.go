package api

import (
	"net/http"
	"strconv"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/idempotency"
	"nexus/pkg/item"
)

const (
	// maxHeaders bounds the sum of all header names and values, in bytes; the gateway in front takes 10 KB.
	maxHeaders = 32 << 10
	// maxEntityTags bounds the length of If-None-Match, in bytes.
	maxEntityTags = 1 << 10
	// maxVersionDigits keeps a version within 63 bits.
	maxVersionDigits = 18
	// maxRequestID bounds a client's request id, in bytes.
	maxRequestID = 128

	headerKey       = "Idempotency-Key"
	headerReplayed  = "Idempotency-Replayed"
	headerRequestID = "X-Request-Id"
	headerTraceID   = "X-Trace-Id"
	// headerEffective says for how many seconds a cache may still answer with what was before.
	headerEffective = "Nexus-Effective-After"
)

// checkHeaders refuses headers that no operation accepts.
func checkHeaders(h http.Header) *Problem {
	size := 0
	for name, values := range h {
		for _, v := range values {
			size += len(name) + len(v)
		}
	}
	if size > maxHeaders {
		return refuse(malformed, "The headers have more than %d bytes.", maxHeaders)
	}
	return nil
}

// anyTag is the value of If-Match for any version.
const anyTag = "*"

// expectedVersion reads If-Match: one strong entity tag of an entity, of which the version counts. Nil if it is
// absent, or accepts any version.
func (o *operation) expectedVersion(h http.Header) (*int64, *Problem) {
	values := h.Values("If-Match")
	if len(values) == 0 {
		return nil, nil
	}
	if o.precondition == withoutVersion {
		return nil, refuse(malformed, "If-Match has no meaning for %s.", o.id)
	}
	wrong := refuse(malformed, `If-Match must be one entity tag with a version, such as "3", or *.`)
	if len(values) != 1 {
		return nil, wrong
	}
	tag := values[0]
	if tag == anyTag {
		return nil, nil
	}
	content := strings.TrimSuffix(strings.TrimPrefix(tag, `"`), `"`)
	digits, mark, isMarked := strings.Cut(content, "-")
	version, ok := parseVersion(digits)
	if !ok || tag != `"`+content+`"` || isMarked && !isMark(mark) {
		return nil, wrong
	}
	return &version, nil
}

// parseVersion accepts a version in the form of an entity tag: digits without leading zeros.
func parseVersion(s string) (int64, bool) {
	if s == "" || len(s) > maxVersionDigits || s != "0" && s[0] == '0' {
		return 0, false
	}
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	v, err := strconv.ParseInt(s, 10, 64)
	return v, err == nil
}

func entityTag(version int64) string { return `"` + strconv.FormatInt(version, 10) + `"` }

// Marks of an entity tag distinguish representations of one version. A hyphen precedes each.
const (
	markArchived = "archived" // by time alone
	markUntil    = "until"    // followed by the ttl
	// maxMark bounds the marks of one tag together, in bytes.
	maxMark = 40
)

// markedTag returns the tag of an entity. The archive sets a ttl, and time archives a task, without a new version: a
// tag that was the version alone would then name two representations.
func markedTag(it item.Item, archivedByTime bool) string {
	tag := strconv.FormatInt(it.Int(entity.AttrVersion), 10)
	if archivedByTime {
		tag += "-" + markArchived
	}
	if it.Has(entity.AttrTTL) {
		tag += "-" + markUntil + strconv.FormatInt(it.Int(entity.AttrTTL), 10)
	}
	return `"` + tag + `"`
}

// isMark reports whether a text has the form of marks; later releases may have other marks.
func isMark(s string) bool {
	return s != "" && len(s) <= maxMark && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// idempotencyKey reads Idempotency-Key; "" if it is absent.
func idempotencyKey(h http.Header) (string, *Problem) {
	values := h.Values(headerKey)
	switch {
	case len(values) == 0:
		return "", nil
	case len(values) > 1 || !idempotency.IsKey(values[0]):
		return "", refuse(malformed, "%s must be one key of 1 to 255 printable characters.", headerKey)
	}
	return values[0], nil
}

// checkWriteHeaders refuses the precondition that is for reads: ignoring it would make a write that it forbids.
func checkWriteHeaders(h http.Header) *Problem {
	if len(h.Values("If-None-Match")) > 0 {
		return refuse(malformed, "If-None-Match has a meaning only for GET and HEAD.")
	}
	return nil
}

// noneMatch reports whether If-None-Match names the tag, so that the client has the representation (RFC 9110 §13.1.2).
func noneMatch(h http.Header, tag string) bool {
	header := strings.Join(h.Values("If-None-Match"), ",")
	if len(header) > maxEntityTags {
		return false
	}
	for _, candidate := range strings.Split(header, ",") {
		candidate = strings.TrimSpace(candidate)
		if candidate == "*" || strings.TrimPrefix(candidate, "W/") == tag {
			return true
		}
	}
	return false
}

// requestID returns the id under which the request is logged: the client's or a tracer's own if it is well formed.
// Chosen reports whether it came with the request.
func (a *API) requestID(h http.Header) (id string, chosen bool) {
	if id := h.Get(headerRequestID); isRequestID(id) {
		return id, true
	}
	if id, ok := traceOf(h.Get("Traceparent")); ok {
		return id, true
	}
	if id := h.Get("X-Amzn-Trace-Id"); isRequestID(id) {
		return id, true
	}
	return a.cfg.NewID(), false
}

func isRequestID(s string) bool {
	for i := range len(s) {
		if c := s[i]; !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9') &&
			strings.IndexByte("._:=;/-", c) < 0 {
			return false
		}
	}
	return 1 <= len(s) && len(s) <= maxRequestID
}

// traceOf returns the trace id of version, trace id, parent id and flags (W3C Trace Context §3.2.2).
func traceOf(parent string) (id string, ok bool) {
	parts := strings.SplitN(parent, "-", 5)
	if len(parts) != 4 {
		return "", false
	}
	for i, digits := range []int{2, 32, 16, 2} {
		if len(parts[i]) != digits || strings.Trim(parts[i], "0123456789abcdef") != "" {
			return "", false
		}
	}
	return parts[1], true
}
