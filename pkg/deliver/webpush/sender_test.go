package webpush_test

import (
	"bytes"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deliver"
	"nexus/pkg/deliver/webpush"
	"nexus/pkg/outbound"
)

// browser is a subscription with its secrets.
type browser struct {
	private *ecdh.PrivateKey
	auth    []byte
}

func newBrowser(t *testing.T) browser {
	t.Helper()
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	require.NoError(t, err)
	auth := make([]byte, 16)
	_, _ = rand.Read(auth)
	return browser{private, auth}
}

var base64url = base64.RawURLEncoding

func (b browser) keys() deliver.Keys {
	return deliver.Keys{
		P256dh: base64url.EncodeToString(b.private.PublicKey().Bytes()), Auth: base64url.EncodeToString(b.auth),
	}
}

// service is a push service that keeps the requests.
type service struct {
	*httptest.Server
	requests []*http.Request
	bodies   [][]byte
	answer   func(http.ResponseWriter)
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{answer: func(w http.ResponseWriter) { w.WriteHeader(http.StatusCreated) }}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		s.requests, s.bodies = append(s.requests, r), append(s.bodies, body)
		s.answer(w)
	}))
	t.Cleanup(s.Close)
	return s
}

var now = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func newSender(t *testing.T, s *service) (*webpush.Sender, webpush.Key) {
	t.Helper()
	key, err := webpush.NewKey(rand.Reader)
	require.NoError(t, err)
	client := outbound.New(outbound.Config{Own: netip.MustParseAddrPort(s.Listener.Addr().String())})
	t.Cleanup(client.Close)
	return webpush.New(webpush.Config{
		Client: client, Key: key, Contact: "https://operator.example", Now: func() time.Time { return now },
	}), key
}

// decrypted holds the content of a request as the other reader found it.
type decrypted struct {
	Text   string         `json:"text"`
	Claims map[string]any `json:"claims"`
	Key    string         `json:"key"`
}

// readers decrypts requests with http_ece and node; it skips the test where these are not installed (make httpece).
func readers(t *testing.T, s *service, b browser) []decrypted {
	t.Helper()
	library := filepath.Join("..", "..", "..", "bin", "http_ece.cjs")
	_, err := exec.LookPath("node")
	if _, missing := os.Stat(library); err != nil || missing != nil {
		t.Skip("http_ece is not installed: make httpece")
	}
	var questions []map[string]string
	for i, r := range s.requests {
		questions = append(questions, map[string]string{
			"body": base64url.EncodeToString(s.bodies[i]), "authorization": r.Header.Get("Authorization"),
			"private": base64url.EncodeToString(b.private.Bytes()), "auth": base64url.EncodeToString(b.auth),
		})
	}
	input, err := json.Marshal(questions)
	require.NoError(t, err)
	var answers []decrypted
	run(t, input, &answers, "read.cjs", library)
	require.Len(t, answers, len(questions))
	return answers
}

// run gives a program of node its input, and reads its output.
func run(t *testing.T, input []byte, output any, program string, arguments ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", append([]string{filepath.Join("httpece", program)}, arguments...)...)
	var out, complaints bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &complaints
	require.NoError(t, cmd.Run(), "%s", &complaints)
	require.NoError(t, json.Unmarshal(out.Bytes(), output))
}

func TestSender_encryptsToTheDeviceAndNamesTheDeployment(t *testing.T) {
	t.Parallel()
	s, b := newService(t), newBrowser(t)
	sender, key := newSender(t, s)
	texts := []string{"x", `{"v":1,"title":"Gießen 🌱"}`, strings.Repeat("y", deliver.MaxPayload)}
	for _, text := range texts {
		answer, err := sender.Send(t.Context(), deliver.Push{
			Endpoint: s.URL + "/push/1", Keys: b.keys(), Payload: []byte(text), TTL: 90*time.Minute + time.Millisecond,
			Topic: "delivery_-1",
		})
		require.NoError(t, err)
		require.Equal(t, deliver.Answer{Status: http.StatusCreated}, answer)
	}
	for i, r := range s.requests {
		require.Equal(t, "aes128gcm", r.Header.Get("Content-Encoding"))
		require.Equal(t, "5400", r.Header.Get("TTL"))
		require.Equal(t, "delivery_-1", r.Header.Get("Topic"))
		require.Equal(t, "high", r.Header.Get("Urgency"))
		require.LessOrEqual(t, len(s.bodies[i]), 4096, "the most that each push service takes (RFC 8030 §7.2)")
	}
	for i, got := range readers(t, s, b) {
		require.Equal(t, texts[i], got.Text)
		require.Equal(t, key.Public(), got.Key)
		require.Equal(t, s.URL, got.Claims["aud"])
		require.Equal(t, "https://operator.example", got.Claims["sub"])
		end := time.Unix(int64(got.Claims["exp"].(float64)), 0)
		require.WithinDuration(t, time.Now().Add(12*time.Hour), end, time.Minute, "RFC 8292 allows 24 hours at most")
	}
}

// holding returns a service that has got bodies, from a sender without a token.
func holding(bodies [][]byte) *service {
	s := &service{}
	for _, body := range bodies {
		s.requests, s.bodies = append(s.requests, &http.Request{Header: http.Header{}}), append(s.bodies, body)
	}
	return s
}

// What npm web-push encrypts of a text, and what this program sends of it, is one text to a browser.
func TestSender_saysWhatWebPushSays(t *testing.T) {
	t.Parallel()
	s, b := newService(t), newBrowser(t)
	sender, _ := newSender(t, s)
	texts := []string{"x", `{"v":1,"title":"Gießen 🌱"}`, "\x00\x02", strings.Repeat("y", deliver.MaxPayload)}
	for _, text := range texts {
		_, err := sender.Send(t.Context(), deliver.Push{
			Endpoint: s.URL + "/push/1", Keys: b.keys(), Payload: []byte(text), TTL: time.Hour, Topic: "a",
		})
		require.NoError(t, err)
	}
	ours := readers(t, s, b)
	folder := filepath.Join("..", "..", "..", "bin")
	if _, err := os.Stat(filepath.Join(folder, "web_push.cjs")); err != nil {
		t.Skip("web-push is not installed: make httpece")
	}
	input, err := json.Marshal(map[string]any{"p256dh": b.keys().P256dh, "auth": b.keys().Auth, "texts": texts})
	require.NoError(t, err)
	var encoded []string
	run(t, input, &encoded, "encrypt.cjs", filepath.Join(folder, "web_push.cjs"), filepath.Join(folder, "http_ece.cjs"))
	var bodies [][]byte
	for _, text := range encoded {
		body, err := base64url.DecodeString(text)
		require.NoError(t, err)
		bodies = append(bodies, body)
	}
	theirs := readers(t, holding(bodies), b)
	require.Len(t, theirs, len(texts))
	for i, text := range texts {
		require.Equal(t, text, theirs[i].Text)
		require.Equal(t, text, ours[i].Text)
	}
}

func TestSender_readsWhenToComeAgain(t *testing.T) {
	t.Parallel()
	s, b := newService(t), newBrowser(t)
	sender, _ := newSender(t, s)
	for text, want := range map[string]time.Duration{
		"": 0, "17": 17 * time.Second, "-5": 0, "soon": 0, "99999999999": 0,
		now.Add(time.Hour).Format(http.TimeFormat): time.Hour, now.Add(-time.Hour).Format(http.TimeFormat): 0,
	} {
		s.answer = func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", text)
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprint(w, "later")
		}
		answer, err := sender.Send(t.Context(), deliver.Push{Endpoint: s.URL, Keys: b.keys(), Payload: []byte("x")})
		require.NoError(t, err)
		require.Equal(t, deliver.Answer{Status: http.StatusTooManyRequests, RetryAfter: want}, answer, text)
	}
}

func TestSender_distinguishesAnAddressThatMayNotBeCalledFromASilentService(t *testing.T) {
	t.Parallel()
	s, b := newService(t), newBrowser(t)
	sender, _ := newSender(t, s)
	for _, endpoint := range []string{"https://10.0.0.1/x", "https://localhost/x", "http://push.example.com/x"} {
		_, err := sender.Send(t.Context(), deliver.Push{Endpoint: endpoint, Keys: b.keys(), Payload: []byte("x")})
		require.ErrorIs(t, err, deliver.ErrAddress)
	}
	s.Close()
	_, err := sender.Send(t.Context(), deliver.Push{Endpoint: s.URL, Keys: b.keys(), Payload: []byte("x")})
	require.Error(t, err)
	require.NotErrorIs(t, err, deliver.ErrAddress)
}

func TestKey_isKeptInItsFileAndShownNowhere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "vapid")
	key, err := webpush.OpenFile(path, rand.Reader)
	require.NoError(t, err)
	again, err := webpush.OpenFile(path, rand.Reader)
	require.NoError(t, err)
	require.Equal(t, key, again)
	require.NotContains(t, fmt.Sprintf("%v %+v %s", key, key, key), key.Text())
	require.NoError(t, os.WriteFile(path, []byte("x\n"), 0o600))
	_, err = webpush.OpenFile(path, rand.Reader)
	require.ErrorIs(t, err, webpush.ErrKey)
	for _, bad := range []string{"", "AAAA", strings.Repeat("A", 43), strings.Repeat("_", 43)} {
		_, err := webpush.ParseKey(bad)
		require.ErrorIs(t, err, webpush.ErrKey, bad)
	}
}
