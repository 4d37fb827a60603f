// Package watch knows which users have an app open, and sends them live hints. It owns the WATCH row, which says until
// when some app of a user is open.
//
// It promises that nothing depends on a hint. [Watchers.Hint] returns no error, ends within its bound whatever the port
// does, sends each hint once, and contains a port that panics. So a caller's result is the same with every hint lost.
// Repeating it is safe: a hint has no data, and a second one makes an app ask once more for changes. A row past its ttl
// counts as none, swept or not. It must never read or tell anything of a user but whether an app is open.
package watch

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/device"
	"nexus/pkg/item"
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
	if err := entity.CheckUserID(user); err != nil {
		return Watch{}, fmt.Errorf("user: %w", err)
	}
	until := s.now().UTC().Truncate(time.Second).Add(Duration)
	channel, reached := push.Channel(user)
	if !reached || s.place == (push.Place{}) {
		return Watch{Until: until}, nil
	}
	key := device.WatchKey(user)
	row := key.Item()
	row[entity.AttrTTL] = item.Int(until.Unix())
	if err := s.store.Put(ctx, table.Put{Item: row}); err != nil {
		return Watch{}, fmt.Errorf("put %s: %w", key, err)
	}
	return Watch{until, s.place, channel}, nil
}

// Config configures [Watchers]. All but Bound and Observe are required.
type Config struct {
	Store  table.Reader
	Pusher push.Pusher
	Now    func() time.Time
	// Bound is the time that all hints of a call have together, with the read of who watches; 0 for no bound.
	Bound time.Duration
	Log   *slog.Logger
	// Observe receives the numbers of hints that were sent and of those that were not, once a call.
	Observe func(sent, dropped int)
}

// Watchers sends hints to the users with an open app. It is safe for concurrent use.
type Watchers struct{ cfg Config }

// NewWatchers returns the sender. It panics if a part of the Config is missing: a mistake in the program.
func NewWatchers(c Config) *Watchers {
	if c.Store == nil || c.Pusher == nil || c.Now == nil || c.Log == nil {
		panic("watch: a part of the Config is missing")
	}
	if c.Observe == nil {
		c.Observe = func(int, int) {}
	}
	return &Watchers{c}
}

// Hint sends each of the users who have an app open the token that the change log has reached. Tokens are by user. It
// reads who watches in one batch (half a read unit a user), and sends the hints side by side.
func (w *Watchers) Hint(ctx context.Context, tokens map[string]string) {
	if w.cfg.Bound > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.cfg.Bound)
		defer cancel()
	}
	users, err := w.watching(ctx, tokens)
	results := make(chan error, len(users)) // a hint that is late ends, too
	queue := make(chan string, len(users))
	for _, user := range users {
		queue <- user
	}
	close(queue)
	for range min(len(users), atOnce) {
		go func() {
			for user := range queue {
				results <- w.send(ctx, user, tokens[user])
			}
		}()
	}
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
		w.cfg.Log.LogAttrs(ctx, slog.LevelWarn, "hints dropped", slog.Int("sent", sent),
			slog.Int("dropped", len(users)-sent), slog.String("error", err.Error()))
	}
	w.cfg.Observe(sent, len(users)-sent)
}

// send sends one hint, while there is time. A panic is its error.
func (w *Watchers) send(ctx context.Context, user, token string) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("panic: %v", value)
		}
	}()
	return w.cfg.Pusher.Hint(ctx, user, token)
}

// watching returns the users among those of the tokens who have an app open and a channel.
func (w *Watchers) watching(ctx context.Context, tokens map[string]string) ([]string, error) {
	var keys []item.Key
	for _, user := range slices.Sorted(maps.Keys(tokens)) {
		if _, reached := push.Channel(user); reached {
			keys = append(keys, device.WatchKey(user))
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	rows, err := w.cfg.Store.Peek(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read who watches: %w", err)
	}
	var users []string
	for _, row := range rows {
		user, err := entity.ParseUserPK(row.Key().PK)
		if err == nil && row.Has(entity.AttrTTL) && !entity.Expired(row, w.cfg.Now()) {
			users = append(users, user)
		}
	}
	return users, nil
}
