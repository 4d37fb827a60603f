package limit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity/metering"
	"nexus/pkg/limit"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

func TestLimiter_givesABucketAndThenWhatComesBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	l := b.instance(nil)
	require.Equal(t, limit.State{
		Policy: limit.Policy{Name: "user", Quota: 600, Window: time.Minute}, Remaining: 0, Full: time.Minute,
	}, b.take(l, 600))
	require.Equal(t, time.Minute, b.refused(b.instance(nil), 1))
	for range 50 { // ten points come back each second
		b.now = b.now.Add(time.Second)
		b.take(b.instance(nil), 10)
		b.refused(b.instance(nil), 1)
	}
	b.now = b.now.Add(time.Hour)
	require.Equal(t, 599, b.take(l, 1).Remaining, "a bucket holds no more than is full")
}

func TestLimiter_tellsTheFieldsOfTheDraft(t *testing.T) {
	t.Parallel()
	b := setup(t)
	state := b.take(b.instance(nil), 123)
	require.Equal(t, `"user";q=600;w=60`, state.Policy.String())
	require.Equal(t, `"user";r=477;t=13`, state.String())
}

func TestLimiter_keepsARefusalWithoutACall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	l := b.instance(nil)
	require.NoError(t, l.Refused("ann", limit.User))
	b.take(l, 600)
	b.now = b.now.Add(30 * time.Second)
	require.Equal(t, 30*time.Second, b.refused(l, 301))
	b.fault = func(memory.Call) error { return table.ErrUnavailable }
	for _, c := range []struct{ after, left time.Duration }{
		{0, 30 * time.Second}, {12500 * time.Millisecond, 18 * time.Second}, {29500 * time.Millisecond, time.Second},
	} {
		b.now = noon.Add(30*time.Second + c.after)
		var refused *limit.RateError
		require.ErrorAs(t, l.Refused("ann", limit.User), &refused)
		require.Equal(t, c.left, refused.RetryAfter)
		require.Zero(t, refused.State.Remaining, "300 points are there, and nothing may use them")
		require.NoError(t, l.Refused("bob", limit.User))
		require.NoError(t, l.Refused("ann", limit.Feed))
	}
	b.now = noon.Add(time.Minute)
	require.NoError(t, l.Refused("ann", limit.User))
}

func TestLimiter_keepsNoRefusalLongerThanAMinute(t *testing.T) {
	t.Parallel()
	b := setup(t)
	l := b.instance(nil)
	for range 60 {
		_, err := l.Take(t.Context(), "ann", limit.Feed, 1)
		require.NoError(t, err)
	}
	_, err := l.Take(t.Context(), "ann", limit.Feed, 1)
	var refused *limit.RateError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, time.Minute, refused.RetryAfter)
	require.Equal(t, time.Hour, refused.State.Full)
	b.now = b.now.Add(-time.Hour) // the clock was set back
	require.NoError(t, l.Refused("ann", limit.Feed))
}

func TestLimiter_owesAtMostOneBucket(t *testing.T) {
	t.Parallel()
	b := setup(t)
	l := b.instance(nil)
	b.take(l, 600)
	for range 3 {
		state, err := l.Owe(t.Context(), "ann", limit.User, 500)
		require.NoError(t, err)
		require.Zero(t, state.Remaining)
	}
	require.Equal(t, time.Minute, b.refused(l, 1), "a refusal is kept for a minute, whatever is owed")
	b.now = b.now.Add(time.Minute)
	require.Equal(t, time.Minute, b.refused(b.instance(nil), 1), "the debt is a bucket")
	b.now = b.now.Add(time.Second)
	b.take(b.instance(nil), 10)
}

func TestLimiter_believesNoClockThatWasWrong(t *testing.T) {
	t.Parallel()
	b := setup(t)
	l := b.instance(nil)
	b.now = noon.Add(1000 * time.Hour)
	b.take(l, 1)
	b.now = noon
	b.refused(l, 1)
	b.now = noon.Add(2 * time.Minute)
	b.refused(b.instance(nil), 1)
	row, err := table.Find(t.Context(), b.store, metering.RateKey("ann", limit.User))
	require.NoError(t, err)
	require.Greater(t, row.Int("fullAt"), noon.Add(999*time.Hour).UnixMilli(), "a refusal writes nothing")
	_, err = l.Owe(t.Context(), "ann", limit.User, 1)
	require.NoError(t, err, "what is owed brings the row back to one bucket of debt")
	row, err = table.Find(t.Context(), b.store, metering.RateKey("ann", limit.User))
	require.NoError(t, err)
	require.Equal(t, b.now.Add(2*time.Minute).UnixMilli(), row.Int("fullAt"))
}

// The row that came back from the last try decides: there is room, and then the use counts for nothing.
func TestLimiter_judgesTheRowThatOvertookIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		lost, left    int
		passes        bool
		remainingThen int
	}{
		{"once", 1, 5, true, 1},
		{"once, and then there is none", 1, 3, false, 2},
		{"twice, with room", 2, 5, true, 3},
		{"twice, and then there is none", 2, 4, false, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			l, other := b.instance(nil), b.instance(nil)
			b.take(l, 600-c.left)
			b.lose(c.lost, other)
			_, err := l.Take(t.Context(), "ann", limit.User, 3)
			b.fault = nil
			require.Equal(t, c.passes, err == nil, "%v", err)
			row, err := table.Find(t.Context(), b.store, metering.RateKey("ann", limit.User))
			require.NoError(t, err)
			require.EqualValues(t, c.remainingThen, 600-(row.Int("fullAt")-noon.UnixMilli())/100)
		})
	}
}

func TestLimiter_keepsLittleOfManyUsers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	l := b.instance(map[string]int{limit.User: 1})
	for n := range 10_000 {
		user := "u" + time.Duration(n).String()
		_, err := l.Take(t.Context(), user, limit.User, 2)
		require.Error(t, err)
		require.Error(t, l.Refused(user, limit.User), "the newest is kept")
	}
	require.LessOrEqual(t, l.Kept(), 4096)
}

func TestLimiter_withoutAStoreIsNone(t *testing.T) {
	t.Parallel()
	require.Nil(t, limit.New(limit.Config{}, limit.Keys{}))
	b := setup(t)
	require.Panics(t, func() { limit.New(limit.Config{Store: b.store}, keys()) })
}
