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
	measured   = 400 // requests of the other user, in each half
	// offered is the pause between two requests of a neighbour, who asks as often as the rate gives points back.
	offered = 100 * time.Millisecond
	// slowedAtMost bounds the p99 of the other user beside them, as a multiple of that without.
	slowedAtMost = 2
)

// BenchmarkPlatform_besideUsersAtTheirLimits measures a user's requests without and beside 16 users who have used up
// their rate and go on asking as often as it comes back. Both are measured in turns, in one run.
func BenchmarkPlatform_besideUsersAtTheirLimits(b *testing.B) {
	for _, store := range []local.Store{local.Memory, local.DynamoDB} {
		b.Run(string(store), func(b *testing.B) {
			p, err := local.Start(b.Context(), local.Options{
				Store: store, Ephemeral: store == local.DynamoDB, Addr: "127.0.0.1:0", Limits: limit.Default(),
			})
			require.NoError(b, err)
			s := clientOf(b, p)
			b.Cleanup(s.stop)
			var times [2][]time.Duration
			for b.Loop() {
				alone, beside := measureBeside(b, s)
				times[0], times[1] = append(times[0], alone...), append(times[1], beside...)
			}
			alone, beside := p99(times[0]), p99(times[1])
			b.ReportMetric(float64(alone.Microseconds()), "p99-alone-µs")
			b.ReportMetric(float64(beside.Microseconds()), "p99-beside-µs")
			require.LessOrEqual(b, float64(beside), slowedAtMost*float64(alone))
		})
	}
}

// measureBeside returns the times of a user's requests without the neighbours and beside them.
func measureBeside(b *testing.B, s *system) (alone, beside []time.Duration) {
	b.Helper()
	ctx, stop := context.WithCancel(b.Context())
	var asking sync.WaitGroup
	var gate sync.RWMutex // held while the neighbours have to be quiet
	for n := range neighbours {
		user := "neighbour" + strconv.Itoa(n)
		s.useUp(b, user)
		asking.Go(func() { ask(ctx, s, &gate, user) })
	}
	defer asking.Wait()
	defer stop()
	var times [2][]time.Duration
	const turns = 40
	for turn := range turns {
		quiet := turn%2 == 0
		if quiet {
			gate.Lock()
		}
		for n := range 2 * measured / turns {
			// Another user each time: the one who is measured is not at a limit.
			times[turn%2] = append(times[turn%2], s.timed(b, "other"+strconv.Itoa(turn*1000+n)))
		}
		if quiet {
			gate.Unlock()
		}
	}
	return times[0], times[1]
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

// ask asks at the pace of the measurement until the context ends.
func ask(ctx context.Context, s *system, gate *sync.RWMutex, user string) {
	tick := time.NewTicker(offered)
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
