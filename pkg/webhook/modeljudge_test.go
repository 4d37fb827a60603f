package webhook_test

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	"nexus/pkg/webhook"
)

// Do is the receiver of all endpoints.
func (w *history) Do(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	w.NoError(err)
	w.checkRequest(request, string(body))
	if err := w.hook(errors.New("no connection"), false); err != nil {
		return nil, err
	}
	address := request.URL.String()
	status, known := w.answers[address]
	w.True(known, "no endpoint has had the address %s", address)
	id := request.Header.Get("webhook-id")
	if status >= 200 && status < 300 || status == 0 && w.r.IntN(2) == 0 {
		w.accepted[id] = true
	}
	if !w.quiet {
		w.now = w.now.Add(time.Duration(w.r.IntN(15_000)) * time.Millisecond)
	}
	if err := w.hook(errors.New("the answer is lost"), true); err != nil {
		return nil, err
	}
	if status == 0 {
		return nil, errors.New("no answer in time")
	}
	answer := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("thanks"))}
	if status == http.StatusTooManyRequests && w.r.IntN(2) == 0 {
		answer.Header.Set("Retry-After", strconv.Itoa(1+w.r.IntN(7200)))
	}
	return answer, nil
}

// checkRequest checks what holds of each request: its message is there first and is pending as far as the worker knows,
// id and body are those of the attempts before, it is signed at its time, its lane is the worker's, and its order
// holds.
func (w *history) checkRequest(request *http.Request, body string) {
	id := request.Header.Get("Webhook-Id")
	w.tried[id]++
	if before, known := w.bodies[id]; known {
		w.Equal(before, body, "W2: %s has another body", id)
	}
	w.bodies[id] = body
	out := w.message(id)
	w.NotNil(out, "no row of the message %s was put before it is sent", id)
	key, err := outbox.Parse(out.Key().SK)
	w.NoError(err)
	w.Equal(out.Str("body"), body, "W2: another body than the stored one")
	w.checkSignature(request, key.Hook, body)
	w.checkLease(key.Hook)
	w.checkOrder(key, body)
}

// message returns the row MSG# of a message.
func (w *history) message(id string) item.Item {
	for _, row := range w.rows(outbox.RowMessage) {
		if strings.HasSuffix(row.Key().SK, "#"+id) {
			return row
		}
	}
	return nil
}

// checkSignature checks the headers by the text of Standard Webhooks.
func (w *history) checkSignature(request *http.Request, hook, body string) {
	stamp := request.Header.Get("webhook-timestamp")
	w.Equal(strconv.FormatInt(w.now.Unix(), 10), stamp, "the timestamp is not that of the attempt")
	content := []byte(request.Header.Get("webhook-id") + "." + stamp + "." + body)
	signatures := strings.Split(request.Header.Get("webhook-signature"), " ")
	signs := func(generation int64) bool {
		keys := w.secrets[hook][generation-1].keys
		return slices.Contains(signatures, "v1,"+hmacOf(keys.Secret, content)) &&
			slices.ContainsFunc(signatures, func(one string) bool { return verifies(keys.PublicKey, content, one) })
	}
	present := w.current.hook.Int("generation")
	w.True(signs(present), "the present secret does not sign")
	if rotated, ok := w.current.hook.Time("rotatedAt"); ok && w.now.Before(rotated.Add(24*time.Hour)) {
		w.True(signs(present-1), "the former secret does not sign, %s after the rotation", w.now.Sub(rotated))
	} else if present > 1 {
		w.False(signs(present-1), "the former secret signs for ever")
	}
}

func hmacOf(secret string, content []byte) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return ""
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(content)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func verifies(public string, content []byte, signature string) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(public, "whpk_"))
	if err != nil || len(key) != ed25519.PublicKeySize {
		return false
	}
	signed, ok := strings.CutPrefix(signature, "v1a,")
	raw, err := base64.StdEncoding.DecodeString(signed)
	return ok && err == nil && ed25519.Verify(key, content, raw)
}

// checkLease checks that the worker has the lane, or had it less than its length ago and no other worker has it.
func (w *history) checkLease(hook string) {
	lane := w.row(outbox.LaneKey(user, hook))
	w.NotEmpty(w.current.owner, "no worker has taken the lane")
	if w.now.UnixMilli() < w.current.until && lane != nil {
		w.Equal(w.current.owner, lane.Str("leaseOwner"), "two workers are in one lane")
	}
}

// checkOrder checks W3: with the ordering fifo, no earlier version of the item that the worker could read is pending.
func (w *history) checkOrder(of outbox.ID, body string) {
	if w.endpoint(of.Hook).Str("ordering") != "fifo" {
		return
	}
	for _, row := range w.rows(outbox.OutPrefix(of.Hook)) {
		sk := row.Key().SK
		id, err := outbox.Parse(sk)
		w.NoError(err)
		if id.Version >= of.Version || !w.current.seen[sk] || w.redelivered[sk] > w.current.readAt {
			continue
		}
		other := w.row(outbox.MessageKey(user, id))
		w.NotEqual(itemOf(other.Str("body")), itemOf(body), "W3: version %d is sent before %d is done", of.Version,
			id.Version)
	}
}

func itemOf(body string) string {
	var content struct {
		Data struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	_ = json.Unmarshal([]byte(body), &content)
	return content.Data.ID
}

// check checks what holds after each step.
func (w *history) check() {
	now := w.takers()
	for _, of := range w.during {
		maps.DeleteFunc(of, func(id string, _ bool) bool { return !now[id] })
	}
	for _, id := range hookIDs {
		if w.endpoint(id).Str("status") == "DISABLED" {
			w.disabled[id] = true
		}
	}
	for _, row := range w.rows(outbox.RowMessage) {
		key := row.Key().SK
		w.NotEmpty(row.Str("body"), "an outcome has made the row %s", key)
		state := row.Str("state")
		wasAgain := w.redelivering > 0 || w.redelivered[strings.Replace(key, "MSG", "OUT", 1)] > 0
		if before, ended := w.ended[key]; ended && !wasAgain {
			w.Equal(before, state, "%s goes on after its end", key)
		}
		if state == "pending" {
			w.False(row.Has("ttl"), "%s leaves while it is pending", key)
			continue
		}
		w.ended[key] = state
		w.True(row.Has("ttl"), "%s stays for ever", key)
		id, err := outbox.Parse(key)
		w.NoError(err)
		switch {
		case state == "done":
			w.True(w.accepted[id.Message], "%s says that it was told, and no receiver has it", key)
		case row.Str("reason") == "failed":
			w.GreaterOrEqual(w.tried[id.Message], 10, key)
		default:
			w.Contains([]string{"disabled", "deleted"}, row.Str("reason"), key)
			w.True(w.disabled[id.Hook], "%s: its endpoint was never disabled", key)
		}
	}
	for _, row := range w.rows(outbox.RowOut) {
		w.places.Row(row.Key().PK, row.Key().SK)
		w.True(row.Has("nextAt"), "an outcome has made the row %s", row.Key())
		w.False(row.Has("body"))
	}
	for _, row := range w.rows(outbox.RowLane) {
		w.True(row.Has("leaseUntil"), "an outcome has made the row %s", row.Key())
	}
}

// finish ends the faults, has each record handled that was not, and makes all calls until none is left.
func (w *history) finish() {
	w.check()
	w.quiet, w.current = true, &actor{}
	for address := range w.answers {
		w.answers[address] = 200
	}
	for rounds := 0; ; rounds++ {
		w.Less(rounds, 10_000)
		switch next, any := w.schedules.Next(); {
		case w.passed < len(w.stream):
			w.deliver()
		case len(w.failed) > 0 || len(w.invoked) > 0:
			w.call()
		case !any:
			w.checkEnd()
			return
		default:
			if next.After(w.now) {
				w.now = next
			}
			w.call()
		}
		w.check()
	}
}

// checkEnd checks W1: each event of which an endpoint had to be told is done or dead, and nothing waits for ever.
func (w *history) checkEnd() {
	for _, prefix := range []string{outbox.RowMessage, outbox.RowOut, outbox.RowLane, "WEBHOOK"} {
		for _, row := range w.rows(prefix) {
			w.places.Row(row.Key().PK, row.Key().SK)
		}
	}
	w.Empty(w.rows(outbox.RowOut), "W1: something waits, and nothing calls for it")
	ended := map[string]bool{}
	for _, row := range w.rows(outbox.RowMessage) {
		w.NotEqual("pending", row.Str("state"), "W1: %s", row.Key())
		id, err := outbox.Parse(row.Key().SK)
		w.NoError(err)
		ended[id.Hook+" "+itemOf(row.Str("body"))+" "+strconv.FormatInt(id.Version, 10)] = true
	}
	for _, e := range w.stream {
		for hook := range e.owed {
			w.True(ended[hook+" "+e.Ref.ID+" "+strconv.FormatInt(e.Version, 10)],
				"W1: %s was not told of %s, version %d", hook, e.Ref.ID, e.Version)
		}
	}
	for _, row := range w.rows(outbox.RowLane) {
		w.NotNil(w.endpoint(strings.Split(row.Key().SK, "#")[1]), "the lane of no endpoint stays")
		w.Less(row.Int("leaseUntil"), w.now.UnixMilli(), "a lane is held for ever")
	}
	w.direct(func() {
		w.NoError(w.worker.Check(context.Background(), user, func(f webhook.Fault) error {
			w.Fail("outbox", "%s: %s", f.Key, f.Is)
			return nil
		}))
	})
}
