package hooklaws

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// content names the members of an item that are the user's own: a thin body has none of them.
var content = []string{"title", "description", "notes", "body", "location", "tags", "links"}

type body struct {
	Type      string         `json:"type"`
	Timestamp string         `json:"timestamp"`
	Data      map[string]any `json:"data"`
}

func (m *message) parsed() (b body) {
	if json.Unmarshal([]byte(m.body), &b) != nil {
		return body{}
	}
	return b
}

func (m *message) item() string { return text(m.parsed().Data, "id") }

// idOf returns the id of an item by its row. The calendar's three types share the name of theirs.
func idOf(row map[string]any, sk string) string {
	for _, name := range []string{strings.ToLower(text(row, "entityType")) + "Id", "eventId"} {
		if id := text(row, name); id != "" {
			return id
		}
	}
	return sk[strings.LastIndexByte(sk, '#')+1:]
}

func (r *Record) image() map[string]any {
	if r.New != nil {
		return r.New
	}
	return r.Old
}

// version returns the version that the change made. A removal, too, is one more (docs/webhooks.md names no other).
func (r *Record) version() int {
	if r.New == nil {
		return number(r.Old["version"]) + 1
	}
	return number(r.New["version"])
}

// isEvent reports whether the change is one that endpoints hear of: bookkeeping without a new version is none.
func (r *Record) isEvent() bool {
	return r.Old == nil || r.New == nil || number(r.Old["version"]) != number(r.New["version"])
}

// event returns the type of the event that the change is.
func (r *Record) event() string {
	name := strings.ToLower(text(r.image(), "entityType"))
	var verb string
	switch {
	case r.New != nil && text(r.New, "restoredAt") != text(r.Old, "restoredAt") && text(r.New, "restoredAt") != "":
		verb = "restored"
	case r.Old == nil:
		verb = "created"
	case r.New == nil && r.IsExpired:
		verb = "expired"
	case r.New == nil:
		verb = "deleted"
	case text(r.New, "status") != text(r.Old, "status") && text(r.New, "status") != "":
		verb = strings.ToLower(text(r.New, "status")) // in the place of updated (docs/webhooks.md)
	default:
		verb = "updated"
	}
	return name + "." + verb
}

func (j *Judge) record(r Record) {
	user, _, _ := split(r.PK, r.SK)
	if user == r.PK || text(r.image(), "entityType") == "" {
		return
	}
	at := user + "#" + idOf(r.image(), r.SK)
	r.order = j.seen
	j.sequences[r.Sequence] = &r
	j.records[at] = append(j.records[at], &r)
}

// checkBody judges a new message by what its event was.
func (j *Judge) checkBody(m *message, w Write) {
	key, b := m.key.hookKey, m.parsed()
	if b.Type == "" || b.Timestamp == "" || b.Data == nil {
		j.breach("body", key, m.id, "the body is not {type, timestamp, data}: %s", cut([]byte(m.body)))
		return
	}
	if len(m.body) > maxBody {
		j.breach("body", key, m.id, "the body has %d bytes", len(m.body))
	}
	if b.Type != m.typ {
		j.breach("body", key, m.id, "the body's type is %s, the row's %s", b.Type, m.typ)
	}
	if isTest(m.typ) {
		return
	}
	if v := number(b.Data["version"]); m.version != 0 && v != m.version {
		j.breach("body", key, m.id, "the body's version is %d, the key's %d", v, m.version)
	}
	for name := range b.Data {
		if name == "PK" || name == "SK" || strings.HasPrefix(name, "GSI") {
			j.breach("body", key, m.id, "the body has %s, which no client sees", name)
		}
	}
	h := j.hooks[key]
	if h == nil {
		j.breach("W1", key, m.id, "a message of an endpoint that was never there")
		return
	}
	if m.occurred.Before(h.created.Truncate(time.Second)) {
		j.breach("W1", key, m.id, "the event of %s is before the endpoint's creation at %s", stamp(m.occurred),
			stamp(h.created))
	}
	states := h.since(w.HookRead)
	if !slices.ContainsFunc(states, func(s state) bool { return isActive(s.row) && matches(s.row, m.typ) }) {
		j.breach("W1", key, m.id, "a message of %s, which the endpoint did not ask for while it was active", m.typ)
	}
	if m.version == 0 {
		j.checkDue(m, b)
		return
	}
	if want := messageID(m, b.Type); m.id != want {
		j.breach("keys", key, m.id, "the id of %s of %s, version %d, is %s", b.Type, m.item(), m.version, want)
	}
	r := j.recordOf(m)
	if r == nil {
		j.breach("W1", key, m.id, "no record of the user says %s of %s, version %d, at %s",
			m.typ, m.item(), m.version, stamp(m.occurred))
		return
	}
	j.checkContent(m, b, r, states)
}

// isTest says of a type that its message comes at its user's wish, whatever the endpoint asks for (docs/webhooks.md).
func isTest(typ string) bool { return typ == "webhook.test" }

// messageID derives the id of a message of a record: 26 digits of base32 of SHA-256.
func messageID(m *message, typ string) string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%s#%s#%d#%s", m.key.id, m.item(), m.version, typ)))
	return "msg_" + base32.StdEncoding.EncodeToString(sum[:])[:26]
}

func (j *Judge) checkDue(m *message, b body) {
	item := text(b.Data, "id")
	for _, due := range j.dues {
		if due.User == m.key.user && (due.ItemID == item || item == "") {
			return
		}
	}
	j.breach("W1", m.key.hookKey, m.id, "no reminder of the user was due for %s", item)
}

func (j *Judge) recordOf(m *message) *Record {
	for _, r := range j.records[m.key.user+"#"+m.item()] {
		if r.isEvent() && r.version() == m.version && r.Created.Truncate(time.Second).Equal(m.occurred) &&
			r.event() == m.typ {
			return r
		}
	}
	return nil
}

// matches reports whether an endpoint asks for a type. No types means all.
func matches(row map[string]any, typ string) bool {
	var types []string
	switch t := row["types"].(type) {
	case []any:
		for _, one := range t {
			s, _ := one.(string)
			types = append(types, s)
		}
	case []string:
		types = t
	}
	return len(types) == 0 || slices.ContainsFunc(types, func(one string) bool {
		prefix, isAll := strings.CutSuffix(one, "*")
		return one == typ || isAll && strings.HasPrefix(typ, prefix)
	})
}

func isFull(row map[string]any) bool { return text(row, "content") == "full" }

// checkContent judges what of the item is in the body: all for an endpoint that wants it, else only names.
func (j *Judge) checkContent(m *message, b body, r *Record, states []state) {
	full := slices.ContainsFunc(states, func(s state) bool { return isFull(s.row) })
	thin := slices.ContainsFunc(states, func(s state) bool { return s.row != nil && !isFull(s.row) })
	size := len(m.body)
	for _, name := range content {
		_, isIn := b.Data[name]
		v, isThere := r.image()[name]
		s, isText := v.(string)
		size += len(s)
		switch {
		case isIn && !full:
			j.breach("body", m.key.hookKey, m.id, "a thin body has %s", name)
		case isIn && !isThere:
			j.breach("body", m.key.hookKey, m.id, "the body has %s, the item has none", name)
		case isIn && isText && b.Data[name] != s:
			j.breach("body", m.key.hookKey, m.id, "the body's %s is not that of version %d", name, m.version)
		case !isIn && isThere && isText && !thin && size < maxBody/2 && name == "title":
			j.breach("body", m.key.hookKey, m.id, "a full body of %d bytes has no %s: %s", size, name, m.body)
		}
	}
	if text(b.Data, "entityType") != text(r.image(), "entityType") {
		j.breach("body", m.key.hookKey, m.id, "the body's entityType is %s", text(b.Data, "entityType"))
	}
	if at := instant(b.Timestamp); !at.Truncate(time.Second).Equal(m.occurred) {
		j.breach("body", m.key.hookKey, m.id, "the body's timestamp is %s, the event was at %s", b.Timestamp,
			stamp(m.occurred))
	}
}
