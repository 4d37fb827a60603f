package query

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/search"
)

// cursorVersion names the form below; a cursor of another form is refused, and the client begins again.
const cursorVersion = 1

// maxCursorLength bounds the cursors that are decoded.
const maxCursorLength = 1024

// question identifies a query with everything that decides on its rows and their order, except the page size. A cursor
// holds a digest of it, which includes the user. So it is valid only for the same question of the same user.
type question struct {
	User   string
	Kind   string
	Params []string
}

func (q question) digest() string {
	text, err := json.Marshal(q)
	if err != nil {
		panic("query: " + err.Error()) // strings always have a JSON form
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// cursor is a place in a question's answer. A list's place is a row of an index: Leg, SK and IndexSK; the partition is
// never taken from a cursor. The agenda's place is in its own order: Start, ID. If the query names no zone, Zone is the
// user's own as the first page read it: in another zone, floating times would have other places. A snapshot has the
// Token of its beginning.
type cursor struct {
	Version  int    `json:"v"`
	Question string `json:"q"`
	Leg      int    `json:"l,omitempty"`
	SK       string `json:"s,omitempty"`
	IndexSK  string `json:"x,omitempty"`
	Start    string `json:"t,omitempty"`
	ID       string `json:"i,omitempty"`
	Zone     string `json:"z,omitempty"`
	Token    string `json:"k,omitempty"`
	// Place is that of the last hit of a search.
	Place *search.Place `json:"p,omitempty"`
}

func (c cursor) encode(q question) string {
	c.Version, c.Question = cursorVersion, q.digest()
	text, err := json.Marshal(c)
	if err != nil {
		panic("query: " + err.Error()) // numbers and strings always have a JSON form
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// decodeCursor reads a cursor of the question; ok is false for an empty text, at the beginning.
func decodeCursor(text string, q question) (c cursor, ok bool, err error) {
	if text == "" {
		return cursor{}, false, nil
	}
	if len(text) > maxCursorLength {
		return cursor{}, false, ErrCursor
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return cursor{}, false, ErrCursor
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil || d.More() {
		return cursor{}, false, ErrCursor
	}
	if c.Version != cursorVersion || c.Question != q.digest() {
		return cursor{}, false, ErrCursor
	}
	return c, true, nil
}

// isItemKey reports whether the sort key is that of an entity of the type.
func isItemKey(t *entity.Type, sk string) bool {
	key, err := entity.ParseSortKey(sk, t)
	return err == nil && key.Prefix == t.Name && entity.CheckID(t.IDPrefix, key.Ref().ID) == nil
}
