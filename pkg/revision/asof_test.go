package revision_test

import (
	"testing"
	"time"

	"nexus/pkg/item"
	"nexus/pkg/revision"
	"nexus/pkg/table/memory"
)

// asOf returns the revision that was the present one at the instant, empty if there was none, and the calls that the
// answer took.
func (b *publishFixture) asOf(instant time.Time) (revID string, calls int) {
	b.fault = func(c memory.Call) error {
		if c.Stage == memory.Before {
			calls++
		}
		return nil
	}
	defer func() { b.fault = nil }()
	got, err := b.notes.AsOf(b.ctx, today, instant)
	var missing *revision.NotFoundError
	if err != nil {
		b.ErrorAs(err, &missing)
	}
	return got.RevID, calls
}

// burst commits so many revisions without a tick of the clock, and returns the last.
func (b *publishFixture) burst(parent string, n int) revision.Result[[]string] {
	var res revision.Result[[]string]
	for range n {
		var err error
		res, err = b.commit(parent, "", "word")
		b.NoError(err)
		parent = res.RevID
	}
	return res
}

func TestAsOf_nowIsThePresentRevision(t *testing.T) {
	t.Parallel()
	for n, calls := range map[int]int{1: 3, 2: 3, 60: 3, 61: 4, 62: 4, 200: 6} {
		b := newBench(t)
		last := b.burst("", n)
		b.Equal(b.now.Add(time.Duration(n-1)*time.Second), last.RevTs, "times rise")
		b.Equal(b.now, last.CommittedAt)
		revID, made := b.asOf(b.now)
		b.Equal(last.RevID, revID, n)
		b.Equal(calls, made, n)
		none, _ := b.asOf(b.now.Add(-time.Second))
		b.Empty(none, n)
	}
}

func TestAsOf_excludesWhatWasCommittedAfterAnInstant(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.burst("", 3)
	then := b.now
	b.now = b.now.Add(2 * time.Second)
	second := b.burst(first.RevID, 25) // within the minute that is looked through, and more than one page
	for instant, want := range map[time.Time]string{
		then: first.RevID, then.Add(time.Second): first.RevID, b.now: second.RevID,
	} {
		got, _ := b.asOf(instant)
		b.Equal(want, got, instant)
	}
}

func TestAsOf_includesASlowSnapshotFromWhenItsHeadMoved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.burst("", 1)
	b.now = b.now.Add(time.Hour)
	begun := b.now
	b.fault = func(c memory.Call) error {
		if c.Op == "Load" && c.Stage == memory.After {
			b.now = begun.Add(5 * time.Second)
		}
		return nil
	}
	slow, err := b.commit(first.RevID, "", words(40)...)
	b.NoError(err)
	b.fault = nil
	b.Equal(begun, slow.RevTs)
	b.Equal(begun.Add(5*time.Second), slow.CommittedAt)
	entry, err := b.notes.Entry(b.ctx, today, slow.RevID)
	b.NoError(err)
	b.Equal(slow.Commit, entry)
	for instant, want := range map[time.Time]string{
		begun: first.RevID, begun.Add(4 * time.Second): first.RevID,
		begun.Add(5*time.Second + 900*time.Millisecond): slow.RevID,
	} {
		got, _ := b.asOf(instant)
		b.Equal(want, got, instant)
	}
}

func TestAsOf_takesTheTimeOfAnEntryWithoutAnInstant(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.burst("", 1)
	row, err := b.store.Get(b.ctx, today.LogKey(first.RevID))
	b.NoError(err)
	b.False(row.Has("committedAt"))
	second := b.burst(first.RevID, 1)
	row, err = b.store.Get(b.ctx, today.LogKey(second.RevID))
	b.NoError(err)
	b.Equal(item.String("2026-01-19T08:00:00Z"), row["committedAt"])
	b.Equal(item.String("2026-01-19T08:00:01Z"), row["revTs"])
}
