package recent

import (
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/item"
	"nexus/pkg/span"
)

func add(c *Changes, sequence int, consumer string, state consume.State) Added {
	d := &change.Decoded{Sequence: strconv.Itoa(sequence), Raw: make([]byte, 1000), Key: item.Key{PK: "p", SK: "s"}}
	s := consume.Settled{Consumer: consumer, Record: d, State: state, Attempts: 1}
	if state == consume.StateParked {
		s.Err = errors.New("bad")
	}
	return c.Add(s, func(d *change.Decoded) Change {
		return Change{User: "u" + d.Sequence[len(d.Sequence)-1:], Sequence: d.Sequence, At: time.Unix(int64(sequence), 0)}
	})
}

func TestChanges_addUpTheDeliveriesOfARecord(t *testing.T) {
	t.Parallel()
	c := NewChanges()
	require.True(t, add(c, 1, "stats", consume.StateDone).IsNew)
	require.False(t, add(c, 1, "links", consume.StateParked).IsNew)
	now := add(c, 1, "stats", consume.StateAlready).Change()
	require.Len(t, now.Deliveries, 3)
	require.Equal(t, Outcome{Verdict: consume.StateAlready, Deliveries: 2, Attempts: 2}, now.Outcomes["stats"])
	require.Equal(t, "bad", now.Outcomes["links"].Error)
	for name, f := range map[string]Filter{
		"verdict": {Verdicts: []consume.State{consume.StateParked}}, "consumer": {Consumer: "links"},
		"both": {Consumer: "stats", Verdicts: []consume.State{consume.StateAlready}}, "user": {User: "u1"},
		"time": {From: time.Unix(1, 0), To: time.Unix(2, 0)},
	} {
		found, more, truncated := c.Find(f, 10)
		require.Len(t, found, 1, name)
		require.False(t, more || truncated)
	}
	for name, f := range map[string]Filter{
		"other verdict": {Consumer: "stats", Verdicts: []consume.State{consume.StateParked}}, "retried": {Retried: true},
		"before": {Before: 1}, "later": {From: time.Unix(2, 0)}, "earlier": {To: time.Unix(1, 0)},
	} {
		found, _, _ := c.Find(f, 10)
		require.Empty(t, found, name)
	}
}

func TestChanges_areBoundedInNumberAndBytes(t *testing.T) {
	t.Parallel()
	c := NewChanges()
	for i := range 60_000 {
		add(c, i, "stats", consume.StateDone)
	}
	require.LessOrEqual(t, c.ring.bytes, mostChangeBytes)
	require.LessOrEqual(t, len(c.ring.values), mostChanges)
	require.Len(t, c.at, len(c.ring.values), "the index has what the list has")
	found, more, truncated := c.Find(Filter{}, 3)
	require.True(t, more)
	require.False(t, truncated, "there is more to come")
	require.Equal(t, "59999", found[0].Sequence)
	found, more, truncated = c.Find(Filter{Before: found[2].Position}, 100_000)
	require.False(t, more)
	require.True(t, truncated)
	require.Equal(t, "59996", found[0].Sequence)
	require.True(t, add(c, 0, "stats", consume.StateDone).IsNew, "it has left")
}

func TestChanges_forgetAUser(t *testing.T) {
	t.Parallel()
	c := NewChanges()
	for i := range 100 {
		add(c, i, "stats", consume.StateDone)
	}
	c.Forget("u7")
	found, _, _ := c.Find(Filter{}, 1000)
	for _, one := range found {
		require.NotEqual(t, "u7", one.User)
	}
	require.Len(t, c.at, 90)
}

func TestSpans_nameRepetitionsAndReplaceTheWrite(t *testing.T) {
	t.Parallel()
	s := NewSpans()
	s.Add(span.Span{Trace: "t", Part: span.PartCommand, Name: "known of its record"}, span.PlaceWrite)
	s.Add(span.Span{Trace: "t", Part: span.PartCommand, Name: "POST"}, span.PlaceWrite)
	for range 3 {
		s.Add(span.Span{Trace: "t", Part: "stats"}, "stats")
	}
	found, truncated := s.Trace("t")
	require.False(t, truncated)
	require.Len(t, found, 4)
	require.Equal(t, "POST", found[0].Name)
	first := span.ID("t", "stats", "stats")
	require.Equal(t, first, found[1].ID)
	require.Equal(t, span.ID("t", "stats", "stats#3"), found[3].ID)
	require.Equal(t, []string{first}, found[3].Links)
}

func TestSpans_areBounded(t *testing.T) {
	t.Parallel()
	s := NewSpans()
	for i := range 70_000 {
		s.Add(span.Span{Trace: fmt.Sprint(i / 10), Part: "stats"}, "stats")
	}
	require.LessOrEqual(t, len(s.ring.values), mostSpans)
	require.LessOrEqual(t, len(s.byTrace), mostSpans/10+1)
	_, truncated := s.Trace("0")
	require.True(t, truncated)
	for range 2 * maxOfTrace {
		s.Add(span.Span{Trace: "one", Part: "stats"}, "stats")
	}
	found, _ := s.Trace("one")
	require.Len(t, found, maxOfTrace)
}
