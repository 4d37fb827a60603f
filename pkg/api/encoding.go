package api

import (
	"bytes"
	"compress/gzip"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// minZipped is the length from which on an answer is compressed, in bytes. The bytes of an answer are paid for; those
// of a shorter one are mostly headers.
const minZipped = 1024

// isList reports whether the operation answers a user with something that is no entity and has no version: a list, the
// board, numbers. Its entity tag is a digest of the answer, or what the operation says.
func (o *operation) isList() bool {
	return o.reads() && !o.open && !o.showsCalendar() && o.answers[0].schema != nil && !o.answers[0].entity
}

// answerList sends a list, or 304 if the client has it. A strong tag names one encoding (RFC 9110 §8.8.3), so the
// compressed text has a separate tag.
func (x *exchange) answerList(r *http.Request, out answer) {
	content, tagged, name := out.json(), out.tagged, out.tag
	if tagged == nil {
		tagged = content
	}
	if name == "" {
		name = digestOf(x.user, tagged)
	}
	h := x.Header()
	h.Add("Vary", "Accept-Encoding, Authorization")
	plain, zipped := `"`+name+`"`, `"`+name+`-gzip"`
	isZipped := len(content) >= minZipped && acceptsGzip(r.Header)
	h.Set("ETag", plain)
	if isZipped {
		h.Set("ETag", zipped)
	}
	if noneMatch(r.Header, plain) || noneMatch(r.Header, zipped) {
		x.write(http.StatusNotModified, "", nil)
		return
	}
	if isZipped {
		h.Set("Content-Encoding", "gzip")
		content = compress(content, gzip.BestSpeed)
	}
	x.write(http.StatusOK, jsonType, content)
}

// encode compresses an answer to one user, if it is long and the request accepts that. Its entity tag stays the same:
// it is the version that the client's next write names.
func (x *exchange) encode(r *http.Request, content []byte) []byte {
	if len(content) < minZipped {
		return content
	}
	x.Header().Add("Vary", "Accept-Encoding")
	if !acceptsGzip(r.Header) {
		return content
	}
	x.Header().Set("Content-Encoding", "gzip")
	return compress(content, gzip.BestSpeed)
}

// digestOf includes the user: readers of logs could guess the plain hash of a small body.
func digestOf(user string, content []byte) string {
	mac := hmac.New(sha256.New, []byte(user))
	_, _ = mac.Write(content)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// acceptsGzip reads Accept-Encoding (RFC 9110 §12.5.3) as far as it concerns gzip.
func acceptsGzip(h http.Header) bool {
	for coding := range strings.SplitSeq(strings.Join(h.Values("Accept-Encoding"), ","), ",") {
		name, params, _ := strings.Cut(coding, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			quality, isQuality := strings.CutPrefix(strings.ReplaceAll(strings.ToLower(params), " ", ""), "q=")
			q, err := strconv.ParseFloat(quality, 64)
			return !isQuality || err == nil && q > 0
		}
	}
	return false
}

// compressors holds idle *gzip.Writer by level: each takes up to a megabyte.
var compressors sync.Map // int -> *sync.Pool

// compress never fails: it writes to memory.
func compress(content []byte, level int) []byte {
	pool, ok := compressors.Load(level)
	if !ok {
		pool, _ = compressors.LoadOrStore(level, &sync.Pool{New: func() any {
			w, _ := gzip.NewWriterLevel(nil, level) // the levels are constants
			return w
		}})
	}
	var b bytes.Buffer
	w := pool.(*sync.Pool).Get().(*gzip.Writer)
	w.Reset(&b)
	_, _ = w.Write(content)
	_ = w.Close()
	pool.(*sync.Pool).Put(w)
	return b.Bytes()
}
