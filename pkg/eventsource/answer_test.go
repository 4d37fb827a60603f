package eventsource_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/eventsource"
)

func TestFinished_readsAnAnswerAsLambdaReadsIt(t *testing.T) {
	t.Parallel()
	const all = 4
	for _, c := range []struct {
		name, answer string
		finished     int
	}{
		{"no answer is success", ``, all},
		{"blank is success", " \n", all},
		{"null is success", `null`, all},
		{"an empty object is success", `{}`, all},
		{"a null list is success", `{"batchItemFailures":null}`, all},
		{"an empty list is success", `{"batchItemFailures":[]}`, all},
		{"a misspelt list is an empty object", `{"batchItemfailures":[{"itemIdentifier":"102"}]}`, all},
		{"one failure", `{"batchItemFailures":[{"itemIdentifier":"102"}]}`, 1},
		{"the first failed", `{"batchItemFailures":[{"itemIdentifier":"101"}]}`, 0},
		{"the lowest of several counts, wherever it stands",
			`{"batchItemFailures":[{"itemIdentifier":"104"},{"itemIdentifier":"102"},{"itemIdentifier":"103"}]}`, 1},
		{"the same one twice", `{"batchItemFailures":[{"itemIdentifier":"103"},{"itemIdentifier":"103"}]}`, 2},
		{"other members do not matter", `{"more":1,"batchItemFailures":[{"itemIdentifier":"103","why":"x"}]}`, 2},
		{"an unknown identifier fails all", `{"batchItemFailures":[{"itemIdentifier":"999"}]}`, 0},
		{"an unknown identifier beside a known one fails all",
			`{"batchItemFailures":[{"itemIdentifier":"104"},{"itemIdentifier":"999"}]}`, 0},
		{"the event id is no identifier", `{"batchItemFailures":[{"itemIdentifier":"event-102"}]}`, 0},
		{"an empty identifier fails all", `{"batchItemFailures":[{"itemIdentifier":""}]}`, 0},
		{"a null identifier fails all", `{"batchItemFailures":[{"itemIdentifier":null}]}`, 0},
		{"a misspelt identifier fails all", `{"batchItemFailures":[{"itemidentifier":"102"}]}`, 0},
		{"a failure of nothing fails all", `{"batchItemFailures":[{}]}`, 0},
		{"a number for an identifier fails all", `{"batchItemFailures":[{"itemIdentifier":102}]}`, 0},
		{"a list of strings fails all", `{"batchItemFailures":["102"]}`, 0},
		{"no JSON fails all", `{"batchItemFailures":[`, 0},
		{"text behind the JSON fails all", `{} {}`, 0},
		{"a string fails all", `"ok"`, 0},
		{"a list fails all", `[]`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := setup(t, eventsource.Config{Name: "m"})
				s.source.add("s1", "101", "102", "103", "104")
				answers := []string{c.answer}
				s.handle = func(got []string) ([]byte, error) {
					if len(answers) == 0 {
						return nil, nil
					}
					answer := answers[0]
					answers = nil
					return []byte(answer), nil
				}
				s.run(t)
				s.waitUntilIdle(t)
				sent := []string{"101", "102", "103", "104"}
				want := [][]string{sent}
				if c.finished < all {
					want = append(want, sent[c.finished:])
				}
				require.Equal(t, want, s.batches())
				require.Equal(t, "104", s.saved(t)["s1"].Sequence)
				require.Equal(t, c.finished, s.deliveries()[0].Finished)
			})
		})
	}
}

// One read brings more records than a batch has.
func TestCheckpoint_neverPassesWhatIsReadAndNotDelivered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m", BatchSize: 2})
		s.source.add("s1", "1", "2", "3", "4", "5")
		s.handle = func(got []string) ([]byte, error) {
			if got[0] == "3" {
				return nil, errors.New("no")
			}
			return nil, nil
		}
		s.run(t)
		time.Sleep(time.Minute) // of the bubble's clock
		require.Equal(t, "2", s.saved(t)["s1"].Sequence)
		require.Equal(t, 1, s.source.reads["s1"])
		s.stop()
		s.handle = func([]string) ([]byte, error) { return nil, nil }
		s.run(t)
		s.waitUntilIdle(t)
		batches := s.batches()
		require.Equal(t, [][]string{{"3", "4"}, {"5"}}, batches[len(batches)-2:])
	})
}

func TestCheckpoint_neverPassesTheReportedRecord(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m"})
		s.source.add("s1", "9", "10", "11")
		s.handle = func(got []string) ([]byte, error) { return reportFailed("10"), nil }
		s.run(t)
		time.Sleep(time.Minute) // of the bubble's clock
		require.Equal(t, "9", s.saved(t)["s1"].Sequence)
		status := s.mapping.Status()
		require.Equal(t, "9", status[0].Position)
		require.Equal(t, 2, status[0].InFlight)
		require.Positive(t, status[0].Failures)
		require.Equal(t, time.Minute, status[0].Lag)
	})
}
