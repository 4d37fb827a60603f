package local_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/item"
	"nexus/pkg/local"
)

// seen is an answer as a visitor sees it.
type seen struct {
	status int
	header http.Header
	body   string
}

// send carries a request out. No redirect is followed.
func (s *system) send(f filled) seen {
	s.t.Helper()
	address := s.URL() + f.path
	if f.query != "" {
		address += "?" + f.query
	}
	request, err := http.NewRequestWithContext(s.t.Context(), f.method, address, strings.NewReader(f.body))
	require.NoError(s.t, err)
	if f.body != "" {
		request.Header.Set("Content-Type", f.media)
	}
	for name, value := range f.header {
		request.Header.Set(name, value)
	}
	request.Host = request.Header.Get("Host")
	request.Header.Del("Host")
	response, err := s.client.Transport.RoundTrip(request)
	require.NoError(s.t, err, "%+v", f)
	text, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	require.NoError(s.t, response.Body.Close())
	return seen{response.StatusCode, response.Header, string(text)}
}

// judge compares what two visitors see, one of whom names the owner's values, and the other what never was.
type judge struct {
	*everything
	t        testing.TB
	attempts int
	statuses map[int]int
	document string
}

var (
	encoded   = regexp.MustCompile(`[A-Za-z0-9_-]{12,}`)
	generated = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}`)
	secretly  = regexp.MustCompile(`/feed/[A-Za-z0-9_.-]+|"(nextCursor|cursor|next)": ?"[^"]*"|"user": ?"[0-9a-f]{16}"|` +
		`wh(?:sec|pk)_[A-Za-z0-9+/=]+|msg_[A-Z2-7]{26}`)
	// exporting is a job, which moves on by itself.
	exporting = regexp.MustCompile(`("exportId":"\d+"),[^{}]*(?:\{[^{}]*\}[^{}]*)?\}`)
)

// plainly is a text in small letters, with what is percent or base64 encoded in it decoded after it.
func plainly(text string) string {
	var out strings.Builder
	out.WriteString(text)
	if plain, err := url.QueryUnescape(text); err == nil && plain != text {
		out.WriteString("\n" + plain)
	}
	for _, word := range encoded.FindAllString(out.String(), -1) {
		if raw, err := base64.RawURLEncoding.DecodeString(word); err == nil {
			out.WriteByte('\n')
			out.Write(raw)
		}
	}
	return strings.ToLower(out.String())
}

// leaks are the marks of the owner that stand in an answer and not in its request. A stranger who gave a thing
// of their own her id or her words is shown these. Another attempt names what never existed in the same place: its
// answer is the one beside.
func (j *judge) leaks(asked, answered, beside string) []string {
	asked, answered = plainly(asked), plainly(answered)
	return slices.DeleteFunc(slices.Clone(j.marks), func(mark string) bool {
		never := ghost(mark)
		own := never != mark && strings.Contains(beside, never)
		return !strings.Contains(answered, mark) || strings.Contains(asked, mark) || own
	})
}

// alike is an answer's text without what no two answers share: names of visitors, ids that were made for the
// answer, and what is made of the user's name. The owner's values become those that never were.
func (j *judge) alike(text string, a attempt) string {
	for _, value := range a.taken {
		if value.hers != "" {
			text = strings.ReplaceAll(text, value.hers, value.never)
		}
	}
	if a.bearer != nil {
		text = strings.ReplaceAll(text, a.bearer.hers, a.bearer.never)
	}
	text = tails.ReplaceAllStringFunc(words.Replace(text), func(tail string) string {
		if j.tails[tail] {
			return ghost(tail)
		}
		return tail
	})
	text = exporting.ReplaceAllString(text, "$1,~}")
	text = secretly.ReplaceAllString(text, "~")
	text = generated.ReplaceAllStringFunc(text, func(id string) string {
		tail := id[len(id)-12:]
		if strings.HasPrefix(tail, "000000b0b") || j.tails[ghost(tail)] {
			return tail
		}
		return "~"
	})
	return visitors.ReplaceAllString(text, "visitor")
}

var visitors = regexp.MustCompile(`(named|never)-[a-zA-Z]+`)

// shown returns the part of an answer that is compared.
func (j *judge) shown(s seen, a attempt) string {
	var out strings.Builder
	fmt.Fprintln(&out, s.status)
	for _, name := range []string{
		"Allow", "Content-Type", "Location", "Idempotency-Replayed", "Retry-After", "Access-Control-Allow-Origin",
	} {
		fmt.Fprintln(&out, name, s.header.Values(name))
	}
	return j.alike(out.String()+s.body, a)
}

// hold judges an attempt.
func (j *judge) hold(a attempt, asked filled, named, never seen) {
	j.t.Helper()
	j.attempts++
	j.statuses[named.status]++
	require.Less(j.t, named.status, 500, "%s: %s", a, named.body)
	request := fmt.Sprint(asked.path, " ", asked.raw, asked.query, asked.body, asked.header)
	if named.body == j.document { // it is everybody's, and was judged once
		return
	}
	leaks := j.leaks(request, fmt.Sprint(named.header, named.body), never.body)
	require.Empty(j.t, leaks, "%s shows something of the owner: %d %s", a, named.status, named.body)
	require.Equal(j.t, j.shown(never, a), j.shown(named, a), "%s is answered otherwise than what never was", a)
}

// holdBatch sends attempts as commands of batches and judges each of them.
func (j *judge) holdBatch(list []attempt, named, never *visitor) {
	j.t.Helper()
	for chunk := range slices.Chunk(list, 100) {
		results := func(v *visitor, side func(pair) string) (commands []object, out []any) {
			for i, a := range chunk {
				commands = append(commands, v.asked(a, side).asCommand(j.t, fmt.Sprint("c", i), a.of))
			}
			return commands, v.must("POST", "/v1/commands", object{"commands": commands})["results"].([]any)
		}
		commands, one := results(named, hers)
		_, other := results(never, neverWas)
		for i, a := range chunk {
			asked, err := json.Marshal(commands[i])
			require.NoError(j.t, err)
			text := func(v any) string {
				text, err := json.Marshal(v)
				require.NoError(j.t, err)
				return string(text)
			}
			j.attempts++
			j.statuses[int(number64(one[i].(object)["status"]))]++
			leaks := j.leaks(string(asked), text(one[i]), text(other[i]))
			require.Empty(j.t, leaks, "in a batch %s shows something of the owner: %s", a, text(one[i]))
			require.Equal(j.t, j.alike(text(other[i]), a), j.alike(text(one[i]), a), "in a batch %s", a)
		}
	}
}

func hers(p pair) string     { return p.hers }
func neverWas(p pair) string { return p.never }

// namesOwner finds the owner in a text, and no user whose id only begins as the owner's.
var namesOwner = regexp.MustCompile(regexp.QuoteMeta(owner) + `([^A-Za-z0-9_-]|$)`)

// kept returns everything that the system keeps: all rows, and the schedules, events and objects that speak of the
// owner.
func (j *judge) kept(s *system) (rows map[item.Key]string, others map[string]string) {
	j.t.Helper()
	s.waitUntilIdle()
	rows, err := s.Rows(j.t.Context())
	require.NoError(j.t, err)
	others = map[string]string{}
	for _, path := range []string{"/dev/schedules", "/dev/events", "/dev/blobs", "/dev/parked"} {
		for after := ""; ; {
			page := s.must("GET", path+"?limit=100"+after, nil)
			for _, it := range page["items"].([]any) {
				text, err := json.Marshal(it)
				require.NoError(j.t, err)
				if name, ok := it.(string); ok {
					_, content := s.text("/dev/blobs/" + name)
					text = append(text, content...)
				}
				if namesOwner.Match(text) {
					others[path+" "+string(text)] = ""
				}
			}
			next, ok := page["next"].(string)
			if !ok {
				break
			}
			after = map[bool]string{true: "&before=", false: "&after="}[path == "/dev/events"] + url.QueryEscape(next)
		}
	}
	return rows, others
}

// company are the visitors of one operation: two pairs, and one for each request that has to succeed.
type company struct {
	named, never, batchNamed, batchNever *visitor
	proving                              []*visitor
}

// TestPlatform_hidesEverythingFromStrangers lets strangers try every operation of the document on
// what another user has: each place of a request that holds a reference gets each of the owner's values, alone
// and in batches, under other methods, headers and tokens. Beside each of them another stranger sends the same
// with values that never were. The two must see the same, and neither anything of the owner's; and nothing that
// is hers may have changed.
func TestPlatform_hidesEverythingFromStrangers(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	s := startSystem(t, local.Options{Store: local.Memory, Machine: func() time.Time { return began }})
	_, document := s.text("/openapi.json")
	operations := templates(t, []byte(document))
	all := own(s)
	companies := map[string]*company{}
	for _, id := range slices.Sorted(maps.Keys(operations)) {
		c := &company{named: newVisitor(s, "named-"+id), never: newVisitor(s, "never-"+id)}
		if slices.ContainsFunc(operations[id], func(o template) bool { return o.command != "" }) {
			c.batchNamed, c.batchNever = newVisitor(s, "named-batch"+id), newVisitor(s, "never-batch"+id)
		}
		for i, o := range operations[id] {
			if !o.unproven {
				v := newVisitor(s, fmt.Sprint("proving-", id, i))
				if o.values["exportId"] != "" {
					v.must("POST", "/v1/me/exports", nil)
				}
				if id == "testDevice" {
					made := v.must("POST", "/dev/pushes", object{})
					v.must("PUT", "/v1/me/devices/"+v.own("device"),
						object{"endpoint": made["endpoint"], "keys": made["keys"], "name": "Own"})
				}
				c.proving = append(c.proving, v)
			}
		}
		companies[id] = c
	}
	s.advance("25h")
	all.handedOut(s.as(owner))
	j := &judge{everything: all, t: t, statuses: map[int]int{}, document: document}
	require.Empty(t, j.leaks("", document, ""))
	rows, others := j.kept(s)
	require.NotEmpty(t, others)

	for _, id := range readsFirst(operations) {
		c := companies[id]
		before := j.attempts
		var batched []attempt
		tried := map[string]bool{}
		for _, o := range operations[id] {
			if !o.unproven {
				v := c.proving[0]
				c.proving = c.proving[1:]
				got := v.send(v.asked(attempt{of: o}, hers))
				require.Less(t, got.status, 400, "%s on the stranger's own: %s", o, got.body)
			}
			list := all.attempts(o, tried)
			for _, a := range list {
				j.both(c, a)
			}
			if o.command != "" {
				batched = append(batched, list...)
			}
		}
		for _, a := range all.disguises(operations[id][0]) {
			j.both(c, a)
		}
		j.holdBatch(batched, c.batchNamed, c.batchNever)
		require.GreaterOrEqual(t, j.attempts-before, 10, id)
	}

	now, othersNow := j.kept(s)
	for key, row := range rows {
		if strings.Contains(key.PK+"#", "#"+owner+"#") {
			require.Equal(t, row, now[key], "%v", key)
		}
	}
	for key := range now {
		if _, known := rows[key]; !known {
			require.NotContains(t, key.PK+"#", "#"+owner+"#", "a row that a stranger made")
		}
	}
	require.Equal(t, others, othersNow)
	require.GreaterOrEqual(t, j.attempts, 1000)
	t.Logf("%d attempts on %d operations, answered %v", j.attempts, len(operations), j.statuses)
}

// readsFirst are the operations' ids, those that write last: what a token that only looks like the owner's
// makes has ids of its own, and lists would have it in another order.
func readsFirst(operations map[string][]template) []string {
	ids := slices.Sorted(maps.Keys(operations))
	slices.SortStableFunc(ids, func(a, b string) int {
		reads := func(id string) int {
			if operations[id][0].method == http.MethodGet {
				return 0
			}
			return 1
		}
		return reads(a) - reads(b)
	})
	return ids
}

// both lets one visitor name what is the owner's and the other what never was.
func (j *judge) both(c *company, a attempt) {
	j.t.Helper()
	c.named.readHeads(a.of)
	c.never.readHeads(a.of)
	if strings.HasSuffix(a.of.path, "/exports") {
		c.named.waitUntilIdle() // a job of each that is open refuses the next one
	}
	asked := c.named.asked(a, hers)
	j.hold(a, asked, c.named.send(asked), c.never.send(c.never.asked(a, neverWas)))
}
