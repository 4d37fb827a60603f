package hooklaws_test

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"fmt"
	"maps"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/internal/simulate/hooklaws"
)

const (
	user = "USER#ann"
	hook = "whk_1"
)

type row = map[string]any

// story tells a judge what happens to one endpoint of one user.
type story struct {
	t           *testing.T
	judge       *hooklaws.Judge
	now         time.Time
	begin       time.Time
	hook        row
	lane        row
	sent        int
	url, method string
	to          netip.Addr
	skip        time.Duration // added to webhook-timestamp
	lost        string        // a kind of signature that is left out
	by          int           // the generation that signs
	later       []int         // generations that sign, too
	from        int           // the worker that acts
	last        *message      // that was put with a change
}

// message is one of the story, with its rows as they are.
type message struct {
	rest, id, body string
	row, out       row
}

func newStory(t *testing.T) *story {
	t.Helper()
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := &story{t: t, now: begin, begin: begin, by: 1, url: "https://a.example/1", method: "POST",
		to: netip.MustParseAddr("93.184.216.34")}
	s.start(0)
	return s
}

// start begins the story, with a judge who lets so many messages wait.
func (s *story) start(room int) {
	s.judge = hooklaws.New(hooklaws.Tolerance{Clock: 2 * time.Second, Stale: 10 * time.Second, Room: room})
	s.hook, s.lane = nil, nil
	s.endpoint(row{})
	s.pass(time.Minute)
	s.lease()
}

func (s *story) pass(d time.Duration) { s.now = s.now.Add(d) }

func (s *story) put(by hooklaws.Author, sk string, was, is row) hooklaws.Change {
	c := hooklaws.Change{PK: user, SK: sk, Old: was, New: is}
	s.see(by, c)
	return c
}

func (s *story) see(by hooklaws.Author, changes ...hooklaws.Change) {
	s.judge.See(hooklaws.Write{At: s.now, By: by, Worker: s.from, HookRead: s.judge.Moment(),
		OutRead: s.judge.Moment(), Changes: changes})
}

// endpoint changes the endpoint, or makes it.
func (s *story) endpoint(change row) { s.changeEndpoint(hooklaws.User, change) }

func (s *story) changeEndpoint(by hooklaws.Author, change row) {
	was := s.hook
	s.hook = row{
		"url": s.url, "types": []any{"*"}, "ordering": "parallel", "content": "thin", "status": "ACTIVE",
		"generation": int64(1), "createdAt": stamp(s.now), "activeSince": stamp(s.begin),
	}
	maps.Copy(s.hook, was)
	maps.Copy(s.hook, change)
	for generation := range 3 {
		s.judge.See(secrets(generation + 1))
	}
	s.put(by, "WEBHOOK#"+hook, was, s.hook)
}

func secrets(generation int) hooklaws.Secrets {
	public, _ := private(generation).Public().(ed25519.PublicKey)
	return hooklaws.Secrets{
		User: "ann", Hook: hook, Generation: generation,
		Symmetric: "whsec_" + base64.StdEncoding.EncodeToString(symmetric(generation)),
		Public:    "whpk_" + base64.StdEncoding.EncodeToString(public),
	}
}

func symmetric(generation int) []byte {
	sum := sha256.Sum256([]byte(strconv.Itoa(generation)))
	return sum[:]
}

func private(generation int) ed25519.PrivateKey { return ed25519.NewKeyFromSeed(symmetric(generation)) }

func (s *story) setLane(change row) {
	was := s.lane
	s.lane = row{"activeSince": stamp(s.begin)}
	maps.Copy(s.lane, was)
	maps.Copy(s.lane, change)
	s.put(hooklaws.Service, "LANE#"+hook, was, s.lane)
}

// lease has the worker take the lane, or another one after it.
func (s *story) lease() {
	s.from++
	s.setLane(row{"leaseOwner": fmt.Sprint(s.from), "leaseUntil": s.now.Add(1000 * time.Hour).UnixMilli()})
}

// nextLease has another worker take the lane, whose lease is over.
func (s *story) nextLease() {
	s.setLane(row{"leaseUntil": s.now.UnixMilli()})
	s.pass(time.Minute)
	s.lease()
}

// task makes a version of a task, and has it reach the stream.
func (s *story) task(id string, version int) {
	var was row
	is := row{"entityType": "TASK", "taskId": id, "version": int64(version), "title": "secret words"}
	if version > 1 {
		was = maps.Clone(is)
		was["version"] = int64(version - 1)
	}
	s.judge.See(hooklaws.Record{
		Sequence: id + strconv.Itoa(version), Created: s.now, PK: user, SK: "TASK#" + id, Old: was, New: is,
	})
}

// message returns that of a version of a task which changes now. It is not put yet.
func (s *story) message(id string, version int) *message {
	typ := "task.updated"
	if version == 1 {
		typ = "task.created"
	}
	return s.messageOf(typ, id, version)
}

func (s *story) messageOf(typ, id string, version int) *message {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%s#%s#%d#%s", hook, id, version, typ)))
	m := &message{id: "msg_" + base32.StdEncoding.EncodeToString(sum[:])[:26]}
	m.rest = fmt.Sprintf("#%s#%s#%012d#%s", hook, stamp(s.now), version, m.id)
	m.body = fmt.Sprintf(`{"type":%q,"timestamp":%q,"data":{"id":%q,"entityType":"TASK","version":%d}}`,
		typ, stamp(s.now), id, version)
	m.row = row{"type": typ, "body": m.body, "state": "pending"}
	m.out = row{"attempts": int64(0), "nextAt": stamp(s.now)}
	return m
}

// made has a task change, and its message be put.
func (s *story) made(id string, version int) *message {
	m := s.message(id, version)
	s.task(id, version)
	s.putMessage(m)
	s.judge.See(hooklaws.Handled{At: s.now, Sequence: id + strconv.Itoa(version)})
	return m
}

// putWith puts the message of a new task with a change.
func (s *story) putWith(change func(m *message)) {
	m := s.message("task_1", 1)
	s.task("task_1", 1)
	change(m)
	s.putMessage(m)
	s.last = m
}

// secondEndpoint makes another endpoint, now.
func (s *story) secondEndpoint() {
	is := maps.Clone(s.hook)
	is["createdAt"] = stamp(s.now)
	s.put(hooklaws.User, "WEBHOOK#whk_2", nil, is)
}

// replace replaces a part of the body.
func (m *message) replace(part, by string) { m.row["body"] = strings.Replace(m.body, part, by, 1) }

func (s *story) putMessage(m *message) {
	s.write(hooklaws.Service, m, nil, nil, m.row, m.out)
}

func (s *story) write(by hooklaws.Author, m *message, oldRow, oldOut, newRow, newOut row) {
	changes := []hooklaws.Change{{PK: user, SK: "MSG" + m.rest, Old: oldRow, New: newRow}}
	if oldOut != nil || newOut != nil {
		changes = append(changes, hooklaws.Change{PK: user, SK: "OUT" + m.rest, Old: oldOut, New: newOut})
	}
	s.see(by, changes...)
	m.row, m.out = newRow, newOut
}

// send sends a message and returns the number of the request.
func (s *story) send(m *message) int { return s.sendAsRead(m, s.judge.Moment()) }

// sendAsRead sends a message of the outbox as the worker read it at a moment.
func (s *story) sendAsRead(m *message, read int) int {
	s.sent++
	at := strconv.FormatInt(s.now.Add(s.skip).Unix(), 10)
	var signatures []string
	for _, generation := range append([]int{s.by}, s.later...) {
		content := []byte(m.id + "." + at + "." + m.body)
		mac := hmac.New(sha256.New, symmetric(generation))
		mac.Write(content)
		if s.lost != "v1" {
			signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		}
		if s.lost != "v1a" {
			signed := ed25519.Sign(private(generation), content)
			signatures = append(signatures, "v1a,"+base64.StdEncoding.EncodeToString(signed))
		}
	}
	s.judge.See(hooklaws.Request{
		At: s.now, Begun: s.now, Worker: s.from, HookRead: s.judge.Moment(), OutRead: read,
		ID: s.sent, Method: s.method, To: s.to,
		URL: s.url, Body: []byte(m.body), Header: map[string][]string{
			"webhook-id": {m.id}, "webhook-timestamp": {at}, "webhook-signature": {strings.Join(signatures, " ")},
		}})
	return s.sent
}

func (s *story) answer(request, status int) {
	s.judge.See(hooklaws.Answer{At: s.now, ID: request, Status: status})
}

// fails sends a message, has it answered with 500, and writes that the next attempt is after the wait.
func (s *story) fails(m *message, wait time.Duration) {
	s.answer(s.send(m), 500)
	s.postponed(m, wait)
}

func (s *story) postponed(m *message, wait time.Duration) {
	was := m.out
	counted, _ := was["attempts"].(int64)
	m.out = row{"attempts": counted + 1, "nextAt": stamp(s.now.Add(wait))}
	s.put(hooklaws.Service, "OUT"+m.rest, was, m.out)
}

// ended writes the end of a message.
func (s *story) ended(m *message, state, reason string, statuses ...int) {
	is := maps.Clone(m.row)
	is["state"], is["ttl"] = state, s.now.Add(30*24*time.Hour).Unix()
	if reason != "" {
		is["reason"] = reason
	}
	var log []any
	for _, status := range statuses {
		log = append(log, row{"status": int64(status)})
	}
	is["log"] = log
	s.write(hooklaws.Service, m, m.row, m.out, is, nil)
}

// delivered sends a message, which is done then.
func (s *story) delivered(m *message) {
	s.answer(s.send(m), 204)
	s.ended(m, "done", "", 204)
}

// again makes an ended message pending, as its user wished.
func (s *story) again(by hooklaws.Author, m *message) {
	is := maps.Clone(m.row)
	is["state"] = "pending"
	delete(is, "ttl")
	delete(is, "reason")
	s.write(by, m, m.row, nil, is, row{"attempts": int64(0), "nextAt": stamp(s.now)})
}

func (s *story) quiet() { s.judge.See(hooklaws.Quiet{At: s.now}) }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// holds requires that no rule was broken.
func (s *story) holds() {
	s.t.Helper()
	require.Empty(s.t, s.judge.Violations())
}

// breaks requires that the first rule that was broken is this one, for this reason.
func (s *story) breaks(law, text string) {
	s.t.Helper()
	found := s.judge.Violations()
	require.NotEmpty(s.t, found, "%s: %s", law, text)
	require.Equal(s.t, law, found[0].Law, found[0].String())
	require.Contains(s.t, found[0].Text, text)
}
