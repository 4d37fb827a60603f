package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"nexus/pkg/local"
)

// httpTable prints the figures of reads over HTTP, on each store.
func httpTable(ctx context.Context, out io.Writer, o options) error {
	fmt.Fprintf(out, "%d users, each with %d items and %d series; clients and system on one machine, in one process; %s\n",
		o.users, o.items, o.series, machine())
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "store\tasked for\tclients\tfor\trequests\ta second\taim\tprocessor time each\tp50\tp99\taim\tmax\t")
	for _, store := range o.stores {
		if err := onPlatform(ctx, w, store, o); err != nil {
			return fmt.Errorf("store %s: %w", store, err)
		}
	}
	return w.Flush()
}

func onPlatform(ctx context.Context, w io.Writer, store local.Store, o options) (err error) {
	p, err := local.Start(ctx, local.Options{Store: store, Ephemeral: store == local.DynamoDB, Addr: "127.0.0.1:0"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Err(), p.Stop(context.WithoutCancel(ctx))) }()
	c := newClient(p.URL(), o.clients)
	defer c.http.CloseIdleConnections()
	s := &subject{client: c, monday: mondayAfter(time.Now())}
	population := populate(s.monday, o.items, o.series)
	for i := range o.users {
		name := fmt.Sprintf("user-%d", i)
		events, err := c.fill(ctx, name, population)
		if err != nil {
			return fmt.Errorf("fill %s: %w", name, err)
		}
		s.users, s.events = append(s.users, name), append(s.events, events)
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	for _, phase := range []struct {
		name    string
		path    func(*rand.Rand) (user, path string)
		clients int
		length  time.Duration
		rate    string
		p99     string
	}{
		{"week views", s.week, o.clients, o.long, "1000", ""},
		{"week views", s.week, 1, o.each, "", "10ms"},
		{"the board", s.board, 1, o.each, "", "10ms"},
		{"one item", s.item, 1, o.each, "", "5ms"},
	} {
		used, err := processorTime()
		if err != nil {
			return err
		}
		took, elapsed, err := s.askFor(ctx, phase.path, phase.clients, phase.length)
		if err != nil {
			return fmt.Errorf("%s: %w", phase.name, err)
		}
		after, err := processorTime()
		if err != nil {
			return err
		}
		each := (after - used) / time.Duration(len(took))
		fmt.Fprintf(w, "%s\t%s\t%d\t%v\t%d\t%.0f\t%s\t%v\t%v\t%v\t%s\t%v\t\n", store, phase.name, phase.clients,
			elapsed.Round(time.Second/10), len(took),
			float64(len(took))/elapsed.Seconds(), phase.rate, each.Round(10*time.Microsecond), shown(took, 50), shown(took, 99),
			phase.p99, shown(took, 100))
	}
	return nil
}

// mondayAfter is a Monday eight weeks on: far from the notes, which belong to the time they were written.
func mondayAfter(now time.Time) time.Time {
	at := now.UTC().Truncate(day).AddDate(0, 0, 56)
	for at.Weekday() != time.Monday {
		at = at.AddDate(0, 0, 1)
	}
	return at
}

// subject is the system that is asked.
type subject struct {
	*client
	monday time.Time
	users  []string
	events [][]string // of each user
}

// settle waits until the consumers have done what follows from the population.
func (s *subject) settle(ctx context.Context) error {
	const attempts = 20 // each waits half a minute in the system
	var err error
	for range attempts {
		if _, err = s.do(ctx, "", http.MethodPost, "/dev/settle", map[string]any{}); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

func (s *subject) week(r *rand.Rand) (user, path string) {
	return s.users[r.IntN(len(s.users))], weekView(s.monday, 100)
}

func (s *subject) board(r *rand.Rand) (user, path string) {
	return s.users[r.IntN(len(s.users))], "/v1/board"
}

func (s *subject) item(r *rand.Rand) (user, path string) {
	i := r.IntN(len(s.users))
	return s.users[i], "/v1/events/" + s.events[i][r.IntN(len(s.events[i]))]
}

// weekView is what a calendar asks for to show a week that begins at the instant.
func weekView(monday time.Time, limit int) string {
	return "/v1/agenda?" + url.Values{
		"from": {monday.Format(time.RFC3339)}, "to": {monday.Add(week).Format(time.RFC3339)}, "limit": {fmt.Sprint(limit)},
	}.Encode()
}

// askFor has clients ask for the time, each one request after the other, and returns how long each took, in order of
// length.
func (s *subject) askFor(
	ctx context.Context, path func(*rand.Rand) (user, path string), clients int, length time.Duration,
) ([]time.Duration, time.Duration, error) {
	took, wrong := make([][]time.Duration, clients), make([]error, clients)
	began := time.Now()
	var work sync.WaitGroup
	for n := range clients {
		work.Go(func() {
			chance := rand.New(rand.NewPCG(1, uint64(n)))
			for time.Since(began) < length && wrong[n] == nil {
				user, path := path(chance)
				sent := time.Now()
				_, wrong[n] = s.do(ctx, user, http.MethodGet, path, nil)
				took[n] = append(took[n], time.Since(sent))
			}
		})
	}
	work.Wait()
	elapsed := time.Since(began)
	all := slices.Concat(took...)
	slices.Sort(all)
	return all, elapsed, errors.Join(wrong...)
}

// shown is the smallest time that so many per cent do not exceed (nearest rank).
func shown(sorted []time.Duration, percent int) time.Duration {
	return sorted[max(0, (len(sorted)*percent+99)/100-1)].Round(10 * time.Microsecond)
}
