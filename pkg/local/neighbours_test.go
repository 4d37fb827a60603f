package local_test

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/limit"
	"nexus/pkg/local"
)

// The measurement of what users at their limits cost another one.
const (
	neighbours = 16
	rounds     = 5
	turns      = 8  // of a round, every other one without them
	measured   = 20 // requests of the other user in a turn
	// offered is the pause between two requests of a neighbour, who asks as often as the rate gives points back.
	offered = 100 * time.Millisecond
	// slowedAtMost bounds the p99 of the other user beside them, as a multiple of that without: in half of the rounds, for
	// the machine may be busy with something else in any.
	slowedAtMost = 2
)

// BenchmarkPlatform_besideUsersAtTheirLimits measures a user's requests without and beside 16 users who have used up
// their rate and go on asking as often as it comes back. Both are measured in turns, in one run. In a second run on the
// engine one of the 16 asks again as soon as it is answered.
func BenchmarkPlatform_besideUsersAtTheirLimits(b *testing.B) {
	for _, c := range []struct {
		store  local.Store
		eager  int // neighbours who do not pause
		suffix string
	}{
		{local.Memory, 0, ""}, {local.DynamoDB, 0, ""}, {local.DynamoDB, 1, "/one-without-pause"},
	} {
		store := c.store
		b.Run(string(store)+c.suffix, func(b *testing.B) {
			p, err := local.Start(b.Context(), local.Options{
				Store: store, Ephemeral: store == local.DynamoDB, Addr: "127.0.0.1:0", Limits: limit.Default(),
			})
			require.NoError(b, err)
			s := clientOf(b, p)
			b.Cleanup(s.stop)
			var all [2][]time.Duration
			var ratios []float64
			for b.Loop() {
				for _, round := range measureBeside(b, s, c.eager) {
					ratios = append(ratios, float64(p99(round[1]))/float64(p99(round[0])))
					all[0], all[1] = append(all[0], round[0]...), append(all[1], round[1]...)
				}
			}
			slices.Sort(ratios)
			median := ratios[len(ratios)/2]
			b.ReportMetric(float64(p99(all[0]).Microseconds()), "p99-alone-µs")
			b.ReportMetric(float64(p99(all[1]).Microseconds()), "p99-beside-µs")
			b.ReportMetric(median, "median-ratio")
			require.LessOrEqual(b, median, float64(slowedAtMost), "%v", ratios)
		})
	}
}

// measureBeside returns, for each round, the times of a user's requests without the neighbours and beside them.
func measureBeside(b *testing.B, s *system, eager int) (times [rounds][2][]time.Duration) {
	b.Helper()
	ctx, stop := context.WithCancel(b.Context())
	var asking sync.WaitGroup
	var gate sync.RWMutex // held while the neighbours have to be quiet
	for n := range neighbours {
		user := "neighbour" + strconv.Itoa(n)
		s.useUp(b, user)
		pause := offered
		if n < eager {
			pause = 0
		}
		asking.Go(func() { ask(ctx, s, &gate, user, pause) })
	}
	defer asking.Wait()
	defer stop()
	for turn := range rounds * turns {
		round, beside := turn/turns, turn%2
		if beside == 0 {
			gate.Lock()
		}
		for n := range measured {
			// Another user each time: the one who is measured is not at a limit.
			times[round][beside] = append(times[round][beside], s.timed(b, "other"+strconv.Itoa(turn*1000+n)))
		}
		if beside == 0 {
			gate.Unlock()
		}
	}
	return times
}

// useUp takes all points of the user's rate, with commands that change nothing.
func (s *system) useUp(b *testing.B, user string) {
	b.Helper()
	command := `{"id":"a","type":"DeleteNote","expectedVersion":1,"data":{"noteId":"note_1"}},`
	body := `{"commands":[` + strings.TrimSuffix(strings.Repeat(command, 100), ",") + `]}`
	for status := http.StatusOK; status != http.StatusTooManyRequests; {
		var err error
		status, err = s.post(b.Context(), user, "/v1/commands", body)
		require.NoError(b, err)
	}
}

// ask asks with the pause between two requests until the context ends.
func ask(ctx context.Context, s *system, gate *sync.RWMutex, user string, pause time.Duration) {
	tick := time.NewTicker(max(pause, time.Microsecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		gate.RLock()
		_, err := s.post(ctx, user, "/v1/notes", aNote)
		gate.RUnlock()
		if err != nil {
			return
		}
	}
}

const aNote = `{"title":"x"}`

// post sends a request and returns the status.
func (s *system) post(ctx context.Context, user, path, body string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+user)
	request.Header.Set("Content-Type", "application/json")
	response, err := s.client.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

func (s *system) timed(b *testing.B, user string) time.Duration {
	b.Helper()
	begun := time.Now()
	status, err := s.post(b.Context(), user, "/v1/notes", aNote)
	took := time.Since(begun)
	require.NoError(b, err)
	require.Equal(b, http.StatusCreated, status)
	return took
}

func p99(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)*99/100]
}
