// Package scheduletest is the conformance suite of the schedule port. Every adapter runs it, so the code above the
// port may be tested on any of them. It promises that an adapter which passes behaves as the port says, as far as a
// test can observe it without waiting for real time.
package scheduletest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/schedule"
)

// Subject is an empty scheduler with access to state that the port does not offer.
type Subject struct {
	Scheduler interface {
		schedule.Scheduler
		schedule.Lister
	}
	// Pending returns the schedules that wait for their call, in any order.
	Pending func(t *testing.T) []schedule.Schedule
	// Fire moves the time to now and returns the calls made, in any order. It is called with growing times.
	Fire func(t *testing.T, now time.Time) []schedule.Schedule
}

// Run runs the suite; open returns a new subject for each test.
func Run(t *testing.T, open func(t *testing.T) Subject) {
	for name, test := range map[string]func(*testing.T, Subject){
		"a schedule is called at its instant and not before":       calledAtItsInstant,
		"a put replaces the whole schedule":                        putReplaces,
		"a put after the call waits again at the same instant":     putAfterCall,
		"a deleted schedule is not called":                         deleted,
		"deleting a missing schedule is done":                      deletedTwice,
		"a schedule that was called can be deleted and put anew":   deletedAfterCall,
		"every allowed character of a name counts":                 names,
		"the payload arrives byte for byte":                        payload,
		"the payload is the caller's again when put returns":       payloadIsCopied,
		"an instant means the same in every zone":                  zones,
		"an invalid schedule is refused and changes nothing":       invalid,
		"writers of one name leave one whole schedule":             concurrentWriters,
		"puts and deletes of one name end in either state":         concurrentDeletes,
		"a cancelled caller gets an error that says so":            cancelled,
		"a later put is called although an earlier one was called": rescheduledLater,
		"what is scheduled is found and listed":                    foundAndListed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// noon is the suite's first instant, far in the future, so that no real clock reaches it.
var noon = time.Date(2130, 6, 1, 12, 0, 0, 0, time.UTC)

func one(name string, at time.Time) schedule.Schedule {
	return schedule.Schedule{Name: name, At: at, Payload: []byte(fmt.Sprintf(`{"name":%q}`, name))}
}

func put(t *testing.T, s Subject, in schedule.Schedule) {
	t.Helper()
	require.NoError(t, s.Scheduler.Put(t.Context(), in))
}

// same compares as sets: the instants as instants, the payloads as text.
func same(t *testing.T, want, got []schedule.Schedule) {
	t.Helper()
	text := func(in []schedule.Schedule) []string {
		out := make([]string, 0, len(in))
		for _, s := range in {
			out = append(out, s.Name+" "+s.At.UTC().Format(time.RFC3339Nano)+" "+string(s.Payload))
		}
		slices.Sort(out)
		return out
	}
	require.Equal(t, text(want), text(got))
}

func calledAtItsInstant(t *testing.T, s Subject) {
	a, b := one("a", noon.Add(time.Minute)), one("b", noon.Add(time.Hour))
	put(t, s, b)
	put(t, s, a)
	same(t, []schedule.Schedule{a, b}, s.Pending(t))
	require.Empty(t, s.Fire(t, noon.Add(time.Minute-time.Second)))
	same(t, []schedule.Schedule{a}, s.Fire(t, noon.Add(time.Minute)))
	same(t, []schedule.Schedule{b}, s.Pending(t))
	same(t, []schedule.Schedule{b}, s.Fire(t, noon.Add(24*time.Hour)))
	require.Empty(t, s.Fire(t, noon.Add(48*time.Hour)), "called once each")
}

func putReplaces(t *testing.T, s Subject) {
	put(t, s, one("a", noon.Add(time.Hour)))
	moved := schedule.Schedule{Name: "a", At: noon.Add(time.Minute), Payload: []byte(`["other"]`)}
	put(t, s, moved)
	same(t, []schedule.Schedule{moved}, s.Pending(t))
	same(t, []schedule.Schedule{moved}, s.Fire(t, noon.Add(2*time.Hour)))
}

func putAfterCall(t *testing.T, s Subject) {
	a := one("a", noon)
	put(t, s, a)
	same(t, []schedule.Schedule{a}, s.Fire(t, noon))
	require.Empty(t, s.Pending(t))
	put(t, s, a)
	same(t, []schedule.Schedule{a}, s.Pending(t))
	same(t, []schedule.Schedule{a}, s.Fire(t, noon.Add(time.Second)))
}

func rescheduledLater(t *testing.T, s Subject) {
	put(t, s, one("a", noon))
	s.Fire(t, noon)
	next := one("a", noon.Add(time.Hour))
	put(t, s, next)
	require.Empty(t, s.Fire(t, noon.Add(time.Minute)))
	same(t, []schedule.Schedule{next}, s.Fire(t, noon.Add(time.Hour)))
}

func deleted(t *testing.T, s Subject) {
	a, b := one("a", noon), one("b", noon)
	put(t, s, a)
	put(t, s, b)
	require.NoError(t, s.Scheduler.Delete(t.Context(), "a"))
	same(t, []schedule.Schedule{b}, s.Pending(t))
	same(t, []schedule.Schedule{b}, s.Fire(t, noon))
}

func deletedTwice(t *testing.T, s Subject) {
	require.NoError(t, s.Scheduler.Delete(t.Context(), "never"))
	put(t, s, one("a", noon))
	require.NoError(t, s.Scheduler.Delete(t.Context(), "a"))
	require.NoError(t, s.Scheduler.Delete(t.Context(), "a"))
	require.Empty(t, s.Pending(t))
}

func deletedAfterCall(t *testing.T, s Subject) {
	a := one("a", noon)
	put(t, s, a)
	s.Fire(t, noon)
	require.NoError(t, s.Scheduler.Delete(t.Context(), "a"))
	require.Empty(t, s.Fire(t, noon.Add(time.Minute)))
	put(t, s, a)
	same(t, []schedule.Schedule{a}, s.Fire(t, noon.Add(2*time.Minute)))
}

func names(t *testing.T, s Subject) {
	var want []schedule.Schedule
	for _, name := range []string{
		"a", "A", "0", "-", "_", "...", ".a", "a.json", "a-b_c.D", strings.Repeat("z", schedule.MaxName),
		strings.Repeat("Z", schedule.MaxName),
	} {
		in := one(name, noon)
		put(t, s, in)
		want = append(want, in)
	}
	same(t, want, s.Pending(t))
	require.NoError(t, s.Scheduler.Delete(t.Context(), "A"))
	require.Len(t, s.Fire(t, noon), len(want)-1)
}

func payload(t *testing.T, s Subject) {
	in := one("a", noon)
	in.Payload = []byte("  {\n\"text\": \"<b>&amp; \u2028 \\u00e4 ä 😀 \\\"\",\t\"n\": 1.0e+02 } ")
	put(t, s, in)
	largest := one("b", noon)
	largest.Payload = []byte(`"` + strings.Repeat("x", schedule.MaxPayload-2) + `"`)
	put(t, s, largest)
	same(t, []schedule.Schedule{in, largest}, s.Pending(t))
	same(t, []schedule.Schedule{in, largest}, s.Fire(t, noon))
}

func payloadIsCopied(t *testing.T, s Subject) {
	in := one("a", noon)
	in.Payload = []byte(`"before"`)
	put(t, s, in)
	copy(in.Payload, `"after!"`)
	require.Equal(t, `"before"`, string(s.Fire(t, noon)[0].Payload))
}

func zones(t *testing.T, s Subject) {
	in := one("a", noon.In(time.FixedZone("east", 5*3600+1800)))
	put(t, s, in)
	require.Empty(t, s.Fire(t, noon.Add(-time.Second)))
	fired := s.Fire(t, noon)
	same(t, []schedule.Schedule{in}, fired)
	require.Equal(t, time.UTC, fired[0].At.Location())
}

func invalid(t *testing.T, s Subject) {
	a := one("a", noon)
	put(t, s, a)
	bad := []schedule.Schedule{
		one("", noon), one("a/b", noon), one("..", noon), one(strings.Repeat("a", schedule.MaxName+1), noon),
		one("a", noon.Add(time.Millisecond)), one("a", time.Time{}), {Name: "a", At: noon},
		{Name: "a", At: noon, Payload: []byte("{")},
	}
	for _, in := range bad {
		require.ErrorIs(t, s.Scheduler.Put(t.Context(), in), schedule.ErrInvalid, "%+v", in)
	}
	require.ErrorIs(t, s.Scheduler.Delete(t.Context(), "a/b"), schedule.ErrInvalid)
	require.ErrorIs(t, s.Scheduler.Delete(t.Context(), ""), schedule.ErrInvalid)
	same(t, []schedule.Schedule{a}, s.Pending(t))
}

func concurrentWriters(t *testing.T, s Subject) {
	const writers = 4
	var group sync.WaitGroup
	errs := make([]error, writers)
	for i := range writers {
		group.Go(func() {
			in := schedule.Schedule{Name: "a", At: noon.Add(time.Duration(i) * time.Second), Payload: []byte(fmt.Sprint(i))}
			errs[i] = s.Scheduler.Put(context.Background(), in)
		})
	}
	group.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	pending := s.Pending(t)
	require.Len(t, pending, 1)
	require.Equal(t, fmt.Sprint(int(pending[0].At.Sub(noon)/time.Second)), string(pending[0].Payload))
}

func concurrentDeletes(t *testing.T, s Subject) {
	var group sync.WaitGroup
	var putErr, deleteErr error
	group.Go(func() { putErr = s.Scheduler.Put(context.Background(), one("a", noon)) })
	group.Go(func() { deleteErr = s.Scheduler.Delete(context.Background(), "a") })
	group.Wait()
	require.NoError(t, putErr)
	require.NoError(t, deleteErr)
	require.LessOrEqual(t, len(s.Pending(t)), 1)
	put(t, s, one("a", noon))
	same(t, []schedule.Schedule{one("a", noon)}, s.Pending(t))
}

func cancelled(t *testing.T, s Subject) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range []error{s.Scheduler.Put(ctx, one("a", noon)), s.Scheduler.Delete(ctx, "a")} {
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, schedule.ErrUnavailable)
	}
}

func foundAndListed(t *testing.T, s Subject) {
	want := map[string]schedule.Schedule{}
	for i := range 8 {
		in := one(fmt.Sprintf("a-%d", i), noon.Add(time.Duration(i)*time.Hour))
		put(t, s, in)
		want[in.Name] = in
	}
	put(t, s, one("b-1", noon))
	s.Fire(t, noon.Add(time.Hour)) // a schedule that was called stays under its name
	require.NoError(t, s.Scheduler.Delete(t.Context(), "a-5"))
	delete(want, "a-5")
	listed := map[string]schedule.Schedule{}
	require.NoError(t, s.Scheduler.Each(t.Context(), "a-", func(name string) error {
		found, err := s.Scheduler.Find(t.Context(), name)
		require.NoError(t, err)
		require.NotContains(t, listed, name)
		listed[name] = found
		return nil
	}))
	same(t, slices.Collect(maps.Values(want)), slices.Collect(maps.Values(listed)))
	_, err := s.Scheduler.Find(t.Context(), "a-5")
	require.ErrorIs(t, err, schedule.ErrNotFound)
	enough := errors.New("enough")
	visits := 0
	require.ErrorIs(t, s.Scheduler.Each(t.Context(), "", func(string) error {
		visits++
		return enough
	}), enough)
	require.Equal(t, 1, visits)
}
