package api

import (
	"compress/gzip"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"nexus/pkg/calendar"
	"nexus/pkg/item"
)

const (
	headerParts = "Nexus-Calendar-Parts"
	headerSince = "Nexus-Calendar-Since"
)

// showsCalendar reports whether the operation answers with a calendar.
func (o *operation) showsCalendar() bool { return o.id == getCalendarID || o.id == getFeedTextID }

// readText returns the body of a request that is a text of the operation's own type.
func (o *operation) readText(r *http.Request) ([]byte, *Problem) {
	raw, p := o.readAll(r)
	if p != nil {
		return nil, p
	}
	if len(raw) == 0 {
		return nil, refuse(malformed, "A body of type %s is required.", o.body.media)
	}
	if p := o.body.checkText(r.Header); p != nil {
		return nil, p
	}
	return raw, nil
}

// checkText checks the type of such a body against the one that the operation accepts. A calendar's type has
// parameters (RFC 5545 §8.1) that only repeat the text's content.
func (b *body) checkText(h http.Header) *Problem {
	if coding := h.Values("Content-Encoding"); len(coding) > 1 ||
		len(coding) == 1 && !strings.EqualFold(coding[0], "identity") {
		return refuse(unsupportedMedia, "The body must not be compressed.")
	}
	refused := refuse(unsupportedMedia, "The body must be %s in UTF-8.", b.media)
	values := h.Values("Content-Type")
	if len(values) != 1 {
		return refused
	}
	media, params, err := mime.ParseMediaType(values[0])
	if err != nil || media != b.media {
		return refused
	}
	for name, value := range params {
		isUTF8 := name == "charset" && (strings.EqualFold(value, "utf-8") || strings.EqualFold(value, "us-ascii"))
		if !isUTF8 && !slices.Contains([]string{"method", "component", "optinfo", "name"}, name) {
			return refused
		}
	}
	return nil
}

// answerCalendar sends a calendar, or 304 if the client has it (RFC 9110 §13.2.2).
func (x *exchange) answerCalendar(r *http.Request, e *calendar.Export) {
	h := x.Header()
	h.Set("Cache-Control", "private, no-cache") // a cache may store it if it asks again
	if x.operation == getFeedTextID && x.api.cfg.Edge {
		h.Set("Cache-Control", feedCaching)
	}
	h.Add("Vary", "Accept-Encoding, Authorization")
	h.Set(headerParts, strconv.Itoa(e.Parts))
	if !e.Since.IsZero() {
		h.Set(headerSince, item.FormatDate(e.Since))
	}
	if !e.Modified.IsZero() {
		h.Set("Last-Modified", e.Modified.Format(http.TimeFormat))
	}
	plain, zipped := `"`+e.Tag+`"`, `"`+e.Tag+`-gzip"`
	isZipped := acceptsGzip(r.Header)
	tag := plain
	if isZipped {
		tag = zipped
	}
	h.Set("ETag", tag)
	if isKnown(r.Header, e, plain, zipped) {
		x.write(http.StatusNotModified, "", nil)
		return
	}
	content := e.Text
	if isZipped {
		h.Set("Content-Encoding", "gzip")
		content = compress(content, gzip.DefaultCompression)
	}
	x.write(http.StatusOK, calendarType+"; charset=utf-8", content)
}

// isKnown reports whether the client has the calendar. Entity tags have priority over times, which cannot distinguish
// two changes within a second.
func isKnown(h http.Header, e *calendar.Export, tags ...string) bool {
	if len(h.Values("If-None-Match")) > 0 {
		return slices.ContainsFunc(tags, func(tag string) bool { return noneMatch(h, tag) })
	}
	since, err := http.ParseTime(h.Get("If-Modified-Since"))
	return err == nil && e.Since.IsZero() && !e.Modified.IsZero() && !e.Modified.After(since)
}
