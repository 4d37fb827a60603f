package pushservice_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"crypto/rand"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deliver"
	"nexus/pkg/deliver/webpush"
	"nexus/pkg/local/pushservice"
	"nexus/pkg/outbound"
)

// fixture is a service on loopback, and a sender to it.
type fixture struct {
	*require.Assertions
	t       *testing.T
	now     time.Time
	service *pushservice.Service
	url     string
	sender  *webpush.Sender
}

func setup(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Assertions: require.New(t), t: t, now: time.Date(2030, 3, 1, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return f.now }
	f.service = pushservice.New(pushservice.Config{Secret: []byte("secret"), Now: clock})
	server := httptest.NewServer(f.service)
	t.Cleanup(server.Close)
	f.url = server.URL
	key, err := webpush.NewKey(rand.Reader)
	f.NoError(err)
	client := outbound.New(outbound.Config{
		Own: netip.MustParseAddrPort(server.Listener.Addr().String()), Timeout: time.Second,
	})
	t.Cleanup(client.Close)
	f.sender = webpush.New(webpush.Config{Client: client, Key: key, Contact: "https://localhost", Now: clock})
	return f
}

func (f *fixture) send(id, text, topic string, ttl time.Duration) (deliver.Answer, error) {
	f.t.Helper()
	s := f.service.Subscribe(id)
	return f.sender.Send(context.Background(), deliver.Push{
		Endpoint: f.url + pushservice.Path + id, Keys: deliver.Keys{P256dh: s.P256dh, Auth: s.Auth}, Payload: []byte(text),
		Topic: topic, TTL: ttl,
	})
}

func TestService_hasWhatABrowserWouldGet(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, text := range []string{"first", "second"} {
		answer, err := f.send("a", text, "topic", time.Hour)
		f.NoError(err)
		f.Equal(http.StatusCreated, answer.Status)
	}
	_, err := f.send("b", "other", "topic", 2*time.Hour)
	f.NoError(err)
	all := f.service.Messages()
	f.Len(all, 2, "a later message of the topic replaces the former, of the same subscription")
	f.Equal("second", all[0].Text)
	f.Equal("high", all[0].Urgency)
	f.Equal(f.now.Add(time.Hour), all[0].Until)
	f.now = f.now.Add(time.Hour)
	f.Len(f.service.Messages(), 1)
	again := pushservice.New(f.service.Config)
	f.Equal(f.service.Subscribe("a"), again.Subscribe("a"), "a subscription outlives the process")
	f.NotEqual(f.service.Subscribe("a").Auth, f.service.Subscribe("b").Auth)
}

func TestService_answersAsItIsTold(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, status := range []int{404, 410, 429, 500} {
		f.service.SetAnswer("a", pushservice.Answer{Status: status, RetryAfter: 7})
		answer, err := f.send("a", "x", "", time.Hour)
		f.NoError(err)
		f.Equal(deliver.Answer{Status: status, RetryAfter: 7 * time.Second}, answer)
	}
	f.service.SetAnswer("a", pushservice.Answer{})
	_, err := f.send("a", "x", "", time.Hour)
	f.Error(err, "no answer")
	f.Empty(f.service.Messages())
	f.service.SetAnswer("a", pushservice.Answer{Status: http.StatusCreated})
	_, err = f.send("a", "x", "", time.Hour)
	f.NoError(err)
	f.Len(f.service.Messages(), 1)
}

func TestService_refusesWhatNoPushServiceTakes(t *testing.T) {
	t.Parallel()
	f := setup(t)
	request := func(method, body string, header map[string]string) int {
		r := httptest.NewRequest(method, pushservice.Path+"a", strings.NewReader(body))
		for name, value := range header {
			r.Header.Set(name, value)
		}
		answer := httptest.NewRecorder()
		f.service.ServeHTTP(answer, r)
		return answer.Code
	}
	named := map[string]string{"Authorization": "vapid t=x, k=y", "TTL": "60", "Content-Encoding": "aes128gcm"}
	without := func(name string) map[string]string {
		out := map[string]string{}
		for key, value := range named {
			if key != name {
				out[key] = value
			}
		}
		return out
	}
	f.Equal(http.StatusMethodNotAllowed, request(http.MethodGet, "", named))
	f.Equal(http.StatusUnauthorized, request(http.MethodPost, "x", without("Authorization")))
	f.Equal(http.StatusBadRequest, request(http.MethodPost, "x", without("TTL")))
	f.Equal(http.StatusBadRequest, request(http.MethodPost, "x", without("Content-Encoding")))
	f.Equal(http.StatusBadRequest, request(http.MethodPost, strings.Repeat("x", 200), named))
	f.Equal(http.StatusRequestEntityTooLarge, request(http.MethodPost, strings.Repeat("x", 5000), named))
	f.Empty(f.service.Messages())
}
