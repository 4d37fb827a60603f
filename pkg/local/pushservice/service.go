// Package pushservice is a push service for the local platform (RFC 8030, 8291, 8292): it takes messages for
// subscriptions that it makes, and shows what a browser would get.
//
// It promises that a message is replaced by a later one of its topic, and gone after its TTL by the clock that it was
// given. It answers as a test tells it. The keys of a subscription follow from its id and the service's secret, so
// subscriptions outlive the process; messages do not. It must never serve another machine: who knows the id of a
// subscription can read its messages here.
package pushservice

import (
	"crypto/ecdh"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// Path begins the paths of the endpoints; the id of a subscription follows it.
	Path = "/push/"
	// maxBody is the size that each push service takes (RFC 8030 §7.2).
	maxBody = 4096
	// maxMessages bounds what is shown.
	maxMessages = 1000
	authLength  = 16
)

// Config holds the dependencies of a [Service]. All are required.
type Config struct {
	// Secret makes the keys of subscriptions.
	Secret []byte
	// Now is the clock by which messages end.
	Now func() time.Time
}

// Service is the push service. It is safe for concurrent use.
type Service struct {
	Config
	mu       sync.Mutex
	messages []Message
	answers  map[string]Answer
	count    int
}

// Message is one that a browser would get.
type Message struct {
	ID           int       `json:"id"`
	Subscription string    `json:"subscription"`
	At           time.Time `json:"at"`
	Until        time.Time `json:"until"`
	Topic        string    `json:"topic,omitempty"`
	Urgency      string    `json:"urgency,omitempty"`
	Text         string    `json:"text"` // decrypted
}

// Subscription has the members that a browser tells of itself.
type Subscription struct {
	ID     string `json:"id"`
	P256dh string `json:"p256dh"`
	Auth   string `json:"auth"`
}

// Answer is how the service answers for a subscription. Status 0 is none: the request waits until its sender gives up.
type Answer struct {
	Status     int `json:"status"`
	RetryAfter int `json:"retryAfter,omitempty"` // seconds
}

// New returns a service without messages.
func New(c Config) *Service { return &Service{Config: c, answers: map[string]Answer{}} }

// Subscribe returns the subscription of an id.
func (s *Service) Subscribe(id string) Subscription {
	private, auth := s.keys(id)
	text := base64.RawURLEncoding.EncodeToString
	return Subscription{id, text(private.PublicKey().Bytes()), text(auth)}
}

// keys returns the secrets of a subscription.
func (s *Service) keys(id string) (*ecdh.PrivateKey, []byte) {
	for try := byte(0); ; try++ { // all but a few numbers of 32 bytes are keys
		sum := hmac.New(sha256.New, s.Secret)
		sum.Write(append([]byte{try}, id...))
		if private, err := ecdh.P256().NewPrivateKey(sum.Sum(nil)); err == nil {
			auth := hmac.New(sha256.New, s.Secret)
			auth.Write([]byte("auth " + id))
			return private, auth.Sum(nil)[:authLength]
		}
	}
}

// SetAnswer has the service answer so for a subscription from now on; [http.StatusCreated] takes messages again.
func (s *Service) SetAnswer(id string, a Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[id] = a
}

// Messages returns the messages that have not ended, the oldest first.
func (s *Service) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
	return slices.Clone(s.messages)
}

// end removes the messages whose time is over.
func (s *Service) end() {
	now := s.Now()
	s.messages = slices.DeleteFunc(s.messages, func(m Message) bool { return !now.Before(m.Until) })
}

// ServeHTTP takes a message.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimPrefix(r.URL.Path, Path)
	s.mu.Lock()
	told, isTold := s.answers[id]
	s.mu.Unlock()
	switch {
	case isTold && told.Status == 0:
		_, _ = io.Copy(io.Discard, r.Body) // only behind the body the server hears that the sender has given up
		<-r.Context().Done()
		return
	case isTold && told.Status != http.StatusCreated:
		if told.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(told.RetryAfter))
		}
		w.WriteHeader(told.Status)
		return
	}
	m, status, err := s.read(w, r, id)
	if err != nil {
		http.Error(w, err.Error(), status)
		return
	}
	w.Header().Set("Location", fmt.Sprintf("%s%s/%d", Path, id, s.keep(m)))
	w.WriteHeader(http.StatusCreated)
}

// read reads a message, and says what is wrong with a request.
func (s *Service) read(w http.ResponseWriter, r *http.Request, id string) (m Message, status int, err error) {
	ttl, errTTL := strconv.ParseUint(r.Header.Get("TTL"), 10, 31)
	switch {
	case r.Method != http.MethodPost:
		return m, http.StatusMethodNotAllowed, fmt.Errorf("%s is no way to send a message", r.Method)
	case !strings.HasPrefix(r.Header.Get("Authorization"), "vapid t="):
		return m, http.StatusUnauthorized, fmt.Errorf("the sender does not name itself (RFC 8292)")
	case errTTL != nil:
		return m, http.StatusBadRequest, fmt.Errorf("TTL is missing (RFC 8030 §5.2)")
	case r.Header.Get("Content-Encoding") != "aes128gcm":
		return m, http.StatusBadRequest, fmt.Errorf("the message is not encrypted (RFC 8291)")
	case len(r.Header.Get("Topic")) > 32:
		return m, http.StatusBadRequest, fmt.Errorf("the topic is longer than 32 characters (RFC 8030 §5.4)")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return m, http.StatusRequestEntityTooLarge, err
	}
	text, err := s.decrypt(id, body)
	if err != nil {
		return m, http.StatusBadRequest, err
	}
	now := s.Now().UTC()
	return Message{
		Subscription: id, At: now, Until: now.Add(time.Duration(ttl) * time.Second), Topic: r.Header.Get("Topic"),
		Urgency: r.Header.Get("Urgency"), Text: string(text),
	}, 0, nil
}

// keep keeps a message in the place of one of its topic, and returns its number.
func (s *Service) keep(m Message) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
	s.count++
	m.ID = s.count
	s.messages = slices.DeleteFunc(s.messages, func(other Message) bool {
		return m.Topic != "" && other.Topic == m.Topic && other.Subscription == m.Subscription
	})
	if s.messages = append(s.messages, m); len(s.messages) > maxMessages {
		s.messages = s.messages[1:]
	}
	return m.ID
}
