package api_test

import (
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawn is luck that rapid draws, so that it can make a history small.
type drawn struct{ *rapid.T }

// IntN draws bit by bit: rapid prefers small numbers.
func (d drawn) IntN(n int) int {
	v := 0
	for most := n - 1; most > 0; most >>= 1 {
		v <<= 1
		if rapid.Bool().Draw(d.T, "") {
			v++
		}
	}
	return v % n
}

// Two devices edit offline, lose answers and hear others late, while reminders ring, leave and come back: in the end
// both have what the server serves, nothing is lost or done twice, and no edit is written over what its user never saw.
func TestRunBatch_holdsWhatTwoDevicesEditOffline(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	rapid.Check(t, func(t *rapid.T) {
		if wrong := s.play(drawn{t}, flaws{}); wrong != "" {
			t.Fatal(wrong)
		}
	})
}

// NEXUS_EDITING_HISTORIES plays more of them.
func TestRunBatch_holdsInManyHistories(t *testing.T) {
	t.Parallel()
	histories := 300
	if text := os.Getenv("NEXUS_EDITING_HISTORIES"); text != "" {
		var err error
		histories, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	var s *server
	for seed := range uint64(histories) {
		if seed%500 == 0 { // the rows of many histories take memory
			s = newServer(t)
		}
		require.Empty(t, s.play(rand.New(rand.NewPCG(seed, 1)), flaws{}), "seed %d", seed)
	}
}

// The model finds what clients, and what stands around them, can do wrong.
func TestRunBatch_cannotHideWhatAClientDoesWrong(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("plays thousands of histories")
	}
	const histories = 4000
	for name, c := range map[string]struct {
		flaw  flaws
		shows string
		first int // the history to begin with, near one that shows it
	}{
		"the version of the answer": {flaws{versionOfTheAnswer: true}, "was written over", 50},
		"a merge of one":            {flaws{mergeOfOne: true}, "was written over", 0},
		"the base as received":      {flaws{baseAsReceived: true}, "was written over", 0},
		"receipts of a day":         {flaws{receiptsOfADay: true}, "was done, and is shown as refused", 0},
		"actions without version":   {flaws{actionsUnversioned: true, receiptsOfADay: true}, "was done 2 times", 150},
		"a dependent refused":       {flaws{dependentRefused: true}, "is shown as refused for a 424", 0},
		"lapsed at the next":        {flaws{lapsedAtNext: true}, "device . has", 1050},
		"a late answer stored":      {flaws{lateAnswerStored: true}, "device . has", 50},
		"an end off at its version": {flaws{endOffAtItsVersion: true}, "device . has", 150},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, shows := newServer(t), regexp.MustCompile(c.shows)
			for i := range histories {
				seed := uint64((c.first + i) % histories)
				if shows.MatchString(s.play(rand.New(rand.NewPCG(seed, 1)), c.flaw)) {
					t.Logf("found in history %d", seed)
					return
				}
			}
			t.Fatalf("not found in %d histories", histories)
		})
	}
}
