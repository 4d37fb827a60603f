package search

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/text"
)

// ErrBytes says that bytes are no index.
var ErrBytes = errors.New("no index of a search")

// Decode is the inverse of [Index.Encode]. An error wraps [ErrBytes].
func Decode(b []byte, split func(string) []text.Word) (*Index, error) {
	r := reader{rest: string(b)}
	x := New(split)
	r.dictionary(x)
	for range r.count() {
		d := r.document()
		lists := make([][]int32, len(d.Texts))
		for i := range lists {
			lists[i] = r.words(len(x.words))
		}
		if r.failed {
			break
		}
		x.add(d, lists)
	}
	if r.failed || r.rest != "" {
		return nil, fmt.Errorf("%w: it ends %d bytes before its end", ErrBytes, len(r.rest))
	}
	return x, nil
}

// reader reads what a writer wrote. Behind a fault it returns zeros.
type reader struct {
	rest   string
	failed bool
}

func (r *reader) fail() {
	r.failed, r.rest = true, ""
}

func (r *reader) dictionary(x *Index) {
	before := ""
	for range r.count() {
		shared := int(r.number())
		if shared < 0 || shared > len(before) {
			r.fail()
			return
		}
		word := before[:shared] + r.text()
		if r.failed || len(x.words) > 0 && word <= before {
			r.fail()
			return
		}
		x.number(word)
		before = word
	}
	x.sorted = len(x.words)
}

// words reads the words of one text.
func (r *reader) words(known int) []int32 {
	count := r.count()
	if count > textStride {
		r.fail()
		return nil
	}
	out := make([]int32, count)
	for i := range out {
		n := r.number()
		if n >= uint64(known) {
			r.fail()
			return nil
		}
		out[i] = int32(n)
	}
	return out
}

func (r *reader) document() *Document {
	d := &Document{Ref: Ref{r.text(), r.text()}, Version: r.integer()}
	for range r.count() {
		d.Tags = append(d.Tags, r.text())
	}
	d.Status, d.Then, d.StatusAt = r.text(), r.text(), r.time()
	d.Parent = Ref{r.text(), r.text()}
	d.Updated, d.ExpiresAt = r.time(), r.time()
	for range r.count() {
		d.Spans = append(d.Spans, r.span())
	}
	if r.number() == 1 {
		s := r.span()
		d.Due = &s
	}
	d.Flags, d.Data = Flags(r.byte()), r.text()
	for range r.count() {
		d.Texts = append(d.Texts, Text{r.text(), r.text()})
	}
	return d
}

func (r *reader) span() Span { return Span{Start: r.time(), End: r.time(), Floating: r.number() == 1} }

func (r *reader) time() time.Time {
	if r.number() == 0 {
		return time.Time{}
	}
	return time.Unix(r.integer(), 0).UTC()
}

func (r *reader) byte() byte {
	if r.rest == "" {
		r.fail()
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *reader) number() uint64 { return varint(r, binary.Uvarint) }

func (r *reader) integer() int64 { return varint(r, binary.Varint) }

func varint[T int64 | uint64](r *reader, read func([]byte) (T, int)) T {
	n, size := read([]byte(r.rest[:min(len(r.rest), binary.MaxVarintLen64)]))
	if size <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// count reads how many of something follow, each of at least one byte.
func (r *reader) count() int {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reader) text() string {
	n := r.count()
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}
