package local_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// attempt is a request of a template with some of its places taken: by the owner's values, or by those that
// never were.
type attempt struct {
	of     template
	taken  map[int]pair
	more   map[string]pair // headers, "Host" among them
	bearer *pair           // in the place of the stranger's own token
	method string          // in the place of the template's
}

func (a attempt) String() string {
	return fmt.Sprint(a.method, " ", a.of, " ", a.taken, a.more, a.bearer)
}

// idKinds are the kinds whose values are tried in each other's places.
var idKinds = []string{
	"event", "series", "occurrence", "task", "reminder", "note", "cold", "driver", "milestone", "action", "block",
	"rev", "planRev",
}

// mangled are ids that try to be a key, a path, or the id beside.
func mangled(p pair) []pair {
	var out []pair
	for _, change := range []func(id string) string{
		func(id string) string { return "USER#" + owner + "#" + id },
		func(id string) string { return id + "#x" },
		func(id string) string { return "../../" + owner + "/" + id },
		func(id string) string { return id + "\x00" },
		strings.ToUpper,
		func(id string) string { return id[:len(id)-1] },
	} {
		never := strings.ReplaceAll(change(p.never), owner, ghost(owner))
		out = append(out, pair{change(p.hers), never})
	}
	return out
}

// candidates are the values that a place of the kind is tried with; the first place of a kind in an operation
// also gets mangled values and those of other kinds.
func (all *everything) candidates(kind string, first bool) []pair {
	out := slices.Clone(all.values[kind])
	if !first {
		return out
	}
	kind = strings.TrimSuffix(kind, "Target")
	isID := slices.Contains(idKinds, kind)
	if isID || kind == "day" || kind == "address" {
		out = append(out, mangled(out[0])...)
	}
	for _, other := range idKinds {
		if isID && other != kind {
			out = append(out, all.values[other][0])
		}
	}
	return out
}

// attempts are those on the places of a template: each place with each value, and all places at once. Tried are
// the kinds that the operation had places of before.
func (all *everything) attempts(t template, tried map[string]bool) []attempt {
	kinds := t.kinds()
	if len(kinds) == 0 {
		return []attempt{{of: t}}
	}
	var out []attempt
	together := map[int]pair{}
	for place, kind := range kinds {
		for _, value := range all.candidates(kind, !tried[kind]) {
			out = append(out, attempt{of: t, taken: map[int]pair{place: value}})
		}
		tried[kind] = true
		if len(all.values[kind]) > 0 {
			together[place] = all.values[kind][0]
		}
	}
	if len(kinds) > 1 {
		out = append(out, attempt{of: t, taken: together})
	}
	return out
}

// disguises are the template with the owner's values under other methods, headers and tokens.
func (all *everything) disguises(t template) []attempt {
	taken := map[int]pair{}
	for place, kind := range t.kinds() {
		if len(all.values[kind]) > 0 {
			taken[place] = all.values[kind][0]
		}
	}
	var out []attempt
	for _, method := range methodsBeside(t.method) {
		if method != "HEAD" || t.method == "GET" {
			out = append(out, attempt{of: t, taken: taken, method: method})
		}
	}
	name := pair{owner, ghost(owner)}
	for _, headers := range []map[string]string{
		{"Host": "%s.example"}, {"Origin": "https://%s.example"},
		{"Forwarded": "for=%s;host=%s", "X-Forwarded-Host": "%s", "X-Forwarded-For": "%s", "X-Forwarded-User": "%s"},
		{"X-User-Id": "%s", "X-Amzn-Oidc-Identity": "%s", "X-Remote-User": "%s", "Cookie": "user=%s", "From": "%s"},
		{"X-Http-Method-Override": "GET", "X-Original-Url": "/v1/me?user=%s", "X-Rewrite-Url": "/v1/me?user=%s"},
	} {
		more := map[string]pair{}
		for header, form := range headers {
			more[header] = pair{strings.ReplaceAll(form, "%s", name.hers), strings.ReplaceAll(form, "%s", name.never)}
		}
		out = append(out, attempt{of: t, taken: taken, more: more})
	}
	for _, spell := range spellings {
		out = append(out, attempt{of: t, taken: taken, bearer: &pair{spell(name.hers), spell(name.never)}})
	}
	return out
}

func digestOf(name string) [sha256.Size]byte { return sha256.Sum256([]byte(name)) }

// spellings are tokens that are not the owner's and speak of her.
var spellings = []func(name string) string{
	func(name string) string {
		sum := digestOf(name)
		return "sub-" + base64.RawURLEncoding.EncodeToString(sum[:])
	},
	func(name string) string { return fmt.Sprintf("%x", digestOf(name)) },
	func(name string) string { return base64.RawURLEncoding.EncodeToString([]byte(name)) },
	func(name string) string { return name + "#2026" },
	func(name string) string { return name + "%00" },
	func(name string) string { return "../" + name },
	func(name string) string { return strings.ToUpper(name) },
	func(name string) string { return name[:len(name)-1] },
	func(name string) string { return name + "_" },
	func(name string) string { return "x " + name },
}

// visitor is a user who has one of everything and nothing of the owner's.
type visitor struct {
	*system
	rev, planRev, address, token string
}

func newVisitor(s *system, name string) *visitor {
	v := &visitor{system: s.as(name)}
	v.rev, v.planRev, v.address = v.inhabit(strangersID, stranger, "Own")
	v.token = v.must("GET", "/v1/changes", nil)["next"].(string)
	return v
}

// own is the visitor's value for a place.
func (v *visitor) own(kind string) string {
	switch kind {
	case "rev":
		return v.rev
	case "planRev":
		return v.planRev
	case "export":
		return "000001"
	case "device":
		return strings.TrimPrefix(strangersID("x_", 60), "x_")
	case "address":
		return v.address
	case "token":
		return v.token
	}
	return map[string]string{
		"event": strangersID("evt_", 2), "series": strangersID("mst_", 5), "task": strangersID("task_", 3),
		"reminder": strangersID("rem_", 4),
		"note":     strangersID("note_", 1), "cold": strangersID("rem_", 6), "driver": strangersID("drv_", 20),
		"milestone": strangersID("mil_", 21),
		"action":    strangersID("act_", 22), "block": strangersID("blk_", 23), "day": stranger, "date": "20260310",
		"text": "own", "key": "own-key",
		"eventTarget": strangersID("evt_", 12), "seriesTarget": strangersID("mst_", 15),
		"taskTarget":     strangersID("task_", 13),
		"reminderTarget": strangersID("rem_", 14), "noteTarget": strangersID("note_", 11),
		"occurrenceTarget": "inst_20260308_" + strings.TrimPrefix(strangersID("mst_", 5), "mst_"),
		"occurrence":       "inst_20260308_" + strings.TrimPrefix(strangersID("mst_", 5), "mst_"),
		"uid":              "own@example.com", "etag": `"own"`, "cursor": "own",
		"newEvent": strangersID("evt_", 102), "newSeries": strangersID("mst_", 105), "newTask": strangersID("task_", 103),
		"newReminder": strangersID("rem_", 104), "newNote": strangersID("note_", 101),
		"newAction": strangersID("act_", 122), "webhook": strangersID("whk_", 70),
		"webhookTarget": strangersID("whk_", 70), "newWebhook": strangersID("whk_", 170),
	}[kind]
}

// readHeads reads which revisions are the present ones, which commits have to name.
func (v *visitor) readHeads(t template) {
	if strings.Contains(t.body, "{{rev}}") {
		v.rev = v.must("GET", "/v1/values", nil)["revId"].(string)
	}
	if strings.Contains(t.body, "{{planRev}}") {
		v.planRev = v.must("GET", "/v1/plans/"+stranger, nil)["revId"].(string)
	}
}

// asked is the attempt as the visitor sends it: with the owner's values, or with those that never were.
func (v *visitor) asked(a attempt, side func(pair) string) filled {
	out := a.of.fill(func(place int, kind string) string {
		if value, ok := a.taken[place]; ok {
			return side(value)
		}
		return v.own(kind)
	})
	out.header = maps.Clone(out.header)
	out.header["Authorization"] = "Bearer " + v.user
	for name, value := range a.more {
		out.header[name] = side(value)
	}
	if a.bearer != nil {
		out.header["Authorization"] = "Bearer " + side(*a.bearer)
	}
	if a.method != "" {
		out.method = a.method
	}
	return out
}
