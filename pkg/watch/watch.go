// Package watch records which users have an app open, and sends live hints. It owns the watch: the row that says until
// when some app of the user is open. It sorts right behind the newest row of the user's change log. So who appends to
// the log reads it there, at no price of its own, and knows who gets a hint.
//
// It promises that nothing depends on a hint. [Sender.Hint] returns no error, ends within its bound whatever the port
// does, sends each hint once, and contains a port that panics. So a caller's result is the same with every hint lost.
// Repeating it is safe: a hint has no data, and a second one makes an app ask once more for changes. A watch past its
// ttl counts as none, swept or not. It must never read or tell anything of a user but whether an app is open.
package watch

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"nexus/pkg/changes/changelog"
	"nexus/pkg/push"
	"nexus/pkg/table"
)

const (
	// Duration is how long a watch lasts. An app repeats it every 30 minutes, so one lost request loses no hint.
	Duration = 40 * time.Minute
	// Bound is the time that all hints of a batch have together, in a function.
	Bound = 150 * time.Millisecond
	// atOnce is the number of hints that are sent at a time: each takes a connection.
	atOnce = 32
)

// Watch is the answer to an app that is open.
type Watch struct {
	// Until is when the watch ends, unless it is repeated.
	Until time.Time
	// Place and Channel are where to subscribe. Without hints Channel is empty.
	Place   push.Place
	Channel string
}

// Service records open apps. It is safe for concurrent use.
type Service struct {
	store table.Writer
	place push.Place
	now   func() time.Time
}

// New returns the service. A zero place says that there are no hints for anyone.
func New(store table.Writer, place push.Place, now func() time.Time) *Service {
	return &Service{store, place, now}
}

// Start records that an app of the user is open. For a user whom no hint can reach it records nothing.
func (s *Service) Start(ctx context.Context, user string) (Watch, error) {
	until := s.now().UTC().Truncate(time.Second).Add(Duration)
	row, err := changelog.OpenRow(user, until)
	if err != nil {
		return Watch{}, err
	}
	channel, reached := push.Channel(user)
	if !reached || s.place == (push.Place{}) {
		return Watch{Until: until}, nil
	}
	if err := s.store.Put(ctx, table.Put{Item: row}); err != nil {
		return Watch{}, fmt.Errorf("put %s: %w", row.Key(), err)
	}
	return Watch{until, s.place, channel}, nil
}

// Config configures a [Sender]. Pusher and Log are required.
type Config struct {
	Pusher push.Pusher
	// Bound is the time that all hints of a call have together; 0 for no bound.
	Bound time.Duration
	Log   *slog.Logger
	// Observe receives the numbers of hints that were sent and of those that were not, once a call.
	Observe func(sent, dropped int)
}

// Sender sends hints. It is safe for concurrent use.
type Sender struct{ cfg Config }

// NewSender returns the sender. It panics if a part of the Config is missing: a mistake in the program.
func NewSender(c Config) *Sender {
	if c.Pusher == nil || c.Log == nil {
		panic("watch: a part of the Config is missing")
	}
	if c.Observe == nil {
		c.Observe = func(int, int) {}
	}
	return &Sender{c}
}

// Hint sends each of the users, who have an app open, the token that the change log has reached. Tokens are by user. It
// sends the hints side by side.
func (s *Sender) Hint(ctx context.Context, tokens map[string]string) {
	if s.cfg.Bound > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.cfg.Bound)
		defer cancel()
	}
	users := slices.Sorted(maps.Keys(tokens))
	results := make(chan error, len(users)) // a hint that is late ends, too
	queue := make(chan string, len(users))
	for _, user := range users {
		queue <- user
	}
	close(queue)
	for range min(len(users), atOnce) {
		go func() {
			for user := range queue {
				results <- s.send(ctx, user, tokens[user])
			}
		}()
	}
	var err error
	sent := 0
	for answered := 0; answered < len(users); answered++ {
		select {
		case failure := <-results:
			if failure == nil {
				sent++
			} else if err == nil {
				err = failure
			}
			continue
		case <-ctx.Done():
			err = ctx.Err()
		}
		break
	}
	if err != nil {
		s.cfg.Log.LogAttrs(ctx, slog.LevelWarn, "hints dropped", slog.Int("sent", sent),
			slog.Int("dropped", len(users)-sent), slog.String("error", err.Error()))
	}
	s.cfg.Observe(sent, len(users)-sent)
}

// send sends one hint, while there is time. A panic is its error.
func (s *Sender) send(ctx context.Context, user, token string) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("panic: %v", value)
		}
	}()
	return s.cfg.Pusher.Hint(ctx, user, token)
}
