package eventsource_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/entity"
	"nexus/pkg/eventsource"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// poison fails every batch with the sequence number in it, as a handler does that reports nothing.
func poison(sequence string) func([]string) ([]byte, error) {
	return func(got []string) ([]byte, error) {
		if slices.Contains(got, sequence) {
			return nil, errBroken
		}
		return nil, nil
	}
}

func TestMapping_repeatsAFailedBatchUntilItSucceeds(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func() ([]byte, error){
		"an error":                  func() ([]byte, error) { return nil, errBroken },
		"an error beside an answer": func() ([]byte, error) { return []byte(`{}`), errBroken },
		"a panic":                   func() ([]byte, error) { panic("no") },
		"an answer without sense":   func() ([]byte, error) { return []byte(`?`), nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := setup(t, eventsource.Config{Name: "m"})
				s.source.add("a", "1", "2")
				began, tries := time.Now(), 0
				s.handle = func([]string) ([]byte, error) {
					if tries++; tries <= 20 {
						return fail()
					}
					return nil, nil
				}
				s.run(t)
				s.waitUntilIdle(t)
				require.Equal(t, 21, tries)
				require.InDelta(t, 142.7, time.Since(began).Seconds(), 0.01, "0.1 + 0.2 + ... + 6.4 s, then 13 times 10 s")
				require.Error(t, s.deliveries()[0].Err)
				require.NoError(t, s.deliveries()[20].Err)
			})
		})
	}
}

func TestMapping_failsAHandlerThatOverrunsItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m", Timeout: time.Second})
		s.source.add("a", "1")
		slow := true
		s.wiring.Handler = func(ctx context.Context, _ []byte) ([]byte, error) {
			if slow {
				slow = false
				<-ctx.Done()
			}
			return nil, nil
		}
		s.run(t)
		s.waitUntilIdle(t)
		require.Len(t, s.deliveries(), 2)
		require.ErrorContains(t, s.deliveries()[0].Err, "timed out")
		require.Equal(t, time.Second, s.deliveries()[0].Took)
	})
}

func TestMapping_isolatesOnePoisonRecordByHalves(t *testing.T) {
	t.Parallel()
	for _, at := range []int{1, 2, 33, 50, 51, 99, 100} {
		synctest.Test(t, func(t *testing.T) {
			s := setup(t, eventsource.Config{Name: "m", Bisect: true, RetryAttempts: 3})
			var all []string
			for i := range 100 {
				all = append(all, strconv.Itoa(1001+i))
			}
			bad := all[at-1]
			s.source.add("a", all...)
			s.handle = poison(bad)
			s.run(t)
			s.waitUntilIdle(t)
			require.Len(t, s.givenUp(), 1)
			failure := s.givenUp()[0]
			require.Equal(t, bad, failure.Records[0].Sequence)
			require.Len(t, failure.Records, 1)
			require.Equal(t, eventsource.RetryAttemptsExhausted, failure.Condition)
			alone := 0
			var good []string
			for _, d := range s.deliveries() {
				if len(d.Records) == 1 && d.Records[0].Sequence == bad {
					alone++
				}
				for _, r := range d.Records[:d.Finished] {
					good = append(good, r.Sequence)
				}
			}
			require.Equal(t, 1+3, alone, "cutting uses up no retry")
			require.Equal(t, slices.DeleteFunc(slices.Clone(all), func(q string) bool { return q == bad }), good,
				"in order, each once")
			require.Equal(t, all[99], s.saved(t)["a"].Sequence)
		})
	}
}

func TestMapping_isolatesAReportedPoisonRecord(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m", Bisect: true, RetryAttempts: 1})
		s.source.add("a", "1", "2", "3", "4", "5")
		s.handle = func(got []string) ([]byte, error) {
			if slices.Contains(got, "3") {
				return reportFailed("3"), nil
			}
			return nil, nil
		}
		s.run(t)
		s.waitUntilIdle(t)
		require.Equal(t, [][]string{{"1", "2", "3", "4", "5"}, {"3", "4", "5"}, {"3"}, {"3"}, {"4", "5"}}, s.batches())
		require.Len(t, s.givenUp(), 1)
		require.False(t, s.givenUp()[0].FunctionError)
	})
}

func TestMapping_givesUpTheWholeRestWithoutHalves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m", RetryAttempts: 2})
		s.source.add("a", "1", "2", "3")
		s.handle = func(got []string) ([]byte, error) {
			if slices.Contains(got, "2") {
				return reportFailed("2"), nil
			}
			return nil, nil
		}
		s.run(t)
		s.waitUntilIdle(t)
		require.Equal(t, [][]string{{"1", "2", "3"}, {"2", "3"}, {"2", "3"}}, s.batches())
		require.Len(t, s.givenUp(), 1)
		require.Len(t, s.givenUp()[0].Records, 2)
		require.Equal(t, 3, s.givenUp()[0].Invocations)
		require.Equal(t, "3", s.saved(t)["a"].Sequence)
	})
}

func TestMapping_givesUpOldRecordsAfterOneTry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m", MaxAge: time.Minute})
		s.source.add("a", "1", "2")
		time.Sleep(time.Minute)
		s.source.add("a", "3")
		broken := true
		s.handle = func(got []string) ([]byte, error) {
			if broken {
				return nil, errBroken
			}
			return nil, nil
		}
		s.destination = func(eventsource.Failure) error { broken = false; return nil }
		s.run(t)
		s.waitUntilIdle(t)
		require.Equal(t, [][]string{{"1", "2", "3"}, {"3"}}, s.batches())
		require.Equal(t, eventsource.MaximumRecordAgeExceeded, s.givenUp()[0].Condition)
		require.Len(t, s.givenUp()[0].Records, 2)
	})
}

func TestMapping_countsNoAttemptsOfAProductsReader(t *testing.T) {
	t.Parallel()
	for _, line := range readers.Table(product.Registry()) {
		synctest.Test(t, func(t *testing.T) {
			const fast = 20_000 // failures of a function that does not start
			config := line.Config
			config.Filter = nil
			s := setup(t, config)
			failed := 0
			s.wiring.Backoff = func(int) time.Duration {
				if failed < fast {
					return 100 * time.Millisecond
				}
				return time.Hour
			}
			s.source.add("a", "1")
			began, givenUp := time.Now(), 0
			s.handle = func([]string) ([]byte, error) {
				if failed++; failed == fast {
					givenUp = len(s.givenUp())
					require.Less(t, time.Since(began), time.Hour)
				}
				return nil, errBroken
			}
			s.run(t)
			s.waitUntilIdle(t)
			require.Greater(t, failed, fast)
			require.Zero(t, givenUp)
			require.Len(t, s.givenUp(), 1)
			require.Equal(t, eventsource.MaximumRecordAgeExceeded, s.givenUp()[0].Condition)
			require.GreaterOrEqual(t, s.givenUp()[0].At.Sub(began), 23*time.Hour)
		})
	}
}

func TestMapping_retriesInAnOutageUntilTheRecordsAreTooOld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m", MaxAge: time.Hour, Bisect: true})
		began := time.Now()
		s.source.add("a", "1", "2", "3", "4")
		s.handle = func([]string) ([]byte, error) { return nil, errBroken }
		s.run(t)
		s.waitUntilIdle(t)
		require.Len(t, s.givenUp(), 4, "each alone, so that one of them cannot take the others along")
		for i, failure := range s.givenUp() {
			require.Equal(t, strconv.Itoa(i+1), failure.Records[0].Sequence)
			require.GreaterOrEqual(t, failure.At.Sub(began), time.Hour)
			require.True(t, failure.FunctionError)
		}
	})
}

func TestMapping_asksAFailedDestinationAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m", RetryAttempts: 1, Bisect: true})
		s.source.add("a", "1", "2")
		s.handle = poison("1")
		asked := 0
		s.destination = func(eventsource.Failure) error {
			if asked++; asked < 4 {
				return errBroken
			}
			return nil
		}
		s.run(t)
		time.Sleep(time.Second / 2)
		synctest.Wait()
		require.Empty(t, s.saved(t), "nothing passes a record that was not delivered")
		require.NotContains(t, s.batches(), []string{"2"})
		s.waitUntilIdle(t)
		require.Equal(t, 4, asked)
		require.Len(t, s.givenUp(), 1)
		require.Contains(t, s.batches(), []string{"2"})
		require.Equal(t, "2", s.saved(t)["a"].Sequence)
		require.ErrorIs(t, s.trouble()[0].Err, errBroken)
	})
}

func TestMapping_stopsWithoutFailureAndKeepsWhatIsFinished(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m", RetryAttempts: 1})
		s.source.add("a", "1", "2", "3")
		s.wiring.Handler = func(ctx context.Context, event []byte) ([]byte, error) {
			<-ctx.Done() // it notices and reports where it stopped
			return reportFailed("2"), nil
		}
		s.run(t)
		synctest.Wait()
		s.stop()
		require.Equal(t, "1", s.saved(t)["a"].Sequence)
		require.Empty(t, s.givenUp())
		require.Empty(t, s.trouble())
	})
}

func TestMapping_neverExceedsAnInvocationsPayload(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m"})
		var records []change.Record
		for i := range 40 {
			r := record(strconv.Itoa(100+i), entity.ItemKey("u1", entity.Ref{
				Type: product.TypeNote, ID: "note_" + strconv.Itoa(i),
			}))
			r.New[product.AttrBody] = item.String(strings.Repeat("x", 380<<10))
			records = append(records, r)
		}
		s.source.put("a", records...)
		largest := 0
		receive := s.wiring.Handler
		s.wiring.Handler = func(ctx context.Context, event []byte) ([]byte, error) {
			largest = max(largest, len(event))
			return receive(ctx, event)
		}
		s.run(t)
		s.waitUntilIdle(t)
		require.LessOrEqual(t, largest, 6<<20)
		require.Len(t, slices.Concat(s.batches()...), 40)
		require.Equal(t, "139", s.saved(t)["a"].Sequence)
	})
}
