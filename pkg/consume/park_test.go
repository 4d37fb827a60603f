package consume_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

func TestPark_storesAWholeRecordAndTheItemGoesOn(t *testing.T) {
	t.Parallel()
	s := &recordingConsumer{name: "stats", fail: only(poison, always, "a2")}
	b := setup(t, s)
	require.Empty(t, b.handle(t, event("a1", "a2", "a3", "b1")))
	require.Equal(t, []string{"a1", "b1", "a3"}, s.done)
	require.Equal(t, consume.Counts{Records: 4, Done: 3, Parked: 1}, b.counts["stats"])
	require.Equal(t, []string{"parked/stats/user_1/task_a/2-101.json"}, b.shelf.names())
	parked, err := consume.ReadParked(b.shelf.objects[b.shelf.names()[0]])
	require.NoError(t, err)
	require.Equal(t, consume.Parked{
		Consumer: "stats", Reason: errBad.Error(), ParkedAt: time.Unix(1767225600, 0).UTC(), Record: records("a1", "a2")[1],
	}, parked)
	require.Contains(t, b.log.String(), b.shelf.names()[0])
}

func TestPark_storesARecordWithoutAReason(t *testing.T) {
	t.Parallel()
	s := &recordingConsumer{name: "stats", fail: only(change.Outcome{Verdict: change.Poison}, always, "a1")}
	b := setup(t, s)
	require.Empty(t, b.handle(t, event("a1")))
	require.Len(t, b.shelf.objects, 1)
}

func TestPark_storesAnUndecodableRecordForEveryConsumer(t *testing.T) {
	t.Parallel()
	stats, links := &recordingConsumer{name: "stats"}, &recordingConsumer{name: "links"}
	b := setup(t, stats, links)
	payload := strings.Replace(string(event("a1", "?", "b1", "a2")), `]}`, ", {\"x\":1}, 7,\n\"\xff\", null ]}", 1)
	require.Empty(t, b.handle(t, []byte(payload)))
	require.Equal(t, []string{"a1", "b1", "a2"}, stats.done)
	require.Equal(t, []string{"a1", "b1", "a2"}, links.done)
	require.Len(t, b.shelf.objects, 10)
	var kept []string
	for _, name := range b.shelf.names() {
		require.Regexp(t, `^parked/(stats|links)/(user_1/\.[0-9a-f]{32}|\.unreadable)/[0-9a-f]{1,32}\.json$`, name)
		parked, err := consume.ReadParked(b.shelf.objects[name])
		require.NoError(t, err)
		require.Contains(t, parked.Reason, change.ErrUndecodable.Error())
		records, err := consume.Records(b.shelf.objects[name])
		require.NoError(t, err)
		require.Equal(t, []json.RawMessage{parked.Record}, records)
		if parked.Consumer == "links" {
			kept = append(kept, string(parked.Record))
		}
	}
	require.ElementsMatch(t, []string{string(records("a1", "?")[1]), `{"x":1}`, `7`, "\"\xff\"", `null`}, kept)
}

func TestParkedName_differsForTwoRecords(t *testing.T) {
	t.Parallel()
	// Bookkeeping changes an item under the same version; rows have no version at all; an id may be long.
	timer := entity.TimerKey("user_1", "task_a", 4)
	long := item.Key{PK: entity.UserPK(strings.Repeat("U", 64)), SK: "TASK#task_" + strings.Repeat("X", 50)}
	var batch []change.Record
	for i, key := range []item.Key{
		timer, timer, long, long, {PK: long.PK, SK: "TASK#task_Y"}, {PK: "USER#V", SK: long.SK},
	} {
		it := key.Item()
		it[entity.AttrType], it[entity.AttrVersion] = item.String(product.TypeTask), item.Int(9)
		batch = append(batch, change.Record{Name: change.Insert, Sequence: fmt.Sprint(200 + i), Key: key, New: it})
	}
	s := &recordingConsumer{name: "archive", fail: func(change.Change, int) change.Outcome { return poison }}
	b := setup(t, s)
	require.Empty(t, b.handle(t, change.AppendEvent(nil, batch)))
	require.Len(t, b.shelf.objects, len(batch))
	for _, name := range b.shelf.names() {
		for _, segment := range strings.Split(name, "/") {
			require.LessOrEqual(t, len(segment), 120, name)
		}
		require.Regexp(t, `^[A-Za-z0-9._/-]+$`, name)
	}
}

func TestPark_isRetriedIfItCannotStore(t *testing.T) {
	t.Parallel()
	for _, labels := range [][]string{{"a1", "b2", "b3", "c1"}, {"b1", "?", "a2", "c1"}} {
		s := &recordingConsumer{name: "stats", fail: only(poison, always, "b2")}
		b := setup(t, s)
		b.shelf.fail = consume.DefaultAttempts - 1
		require.Empty(t, b.handle(t, event(labels...)))
		require.Len(t, b.shelf.objects, 1)
		require.Len(t, b.waits, consume.DefaultAttempts-1)
		require.Len(t, s.done, 3)

		s = &recordingConsumer{name: "stats", fail: s.fail}
		b = setup(t, s)
		b.shelf.fail = consume.DefaultAttempts
		require.Equal(t, "101", b.handle(t, event(labels...)))
		require.Empty(t, b.shelf.objects)
		require.Len(t, s.done, 2, "the item's next change waits, the others go on")
		require.Contains(t, b.log.String(), "shelf is closed")
		require.Empty(t, b.handle(t, event(labels...)), "it comes again")
	}
}

func TestPark_doesNotApplyARecordAgainThatItCannotStore(t *testing.T) {
	t.Parallel()
	s := &recordingConsumer{name: "stats", fail: only(poison, always, "a1")}
	b := setup(t, s)
	b.shelf.fail = 2
	require.Empty(t, b.handle(t, event("a1")))
	require.Equal(t, 1, s.tries["100"])
}

func TestHandle_parksAPanicAfterTheRetries(t *testing.T) {
	t.Parallel()
	for _, folds := range []bool{false, true} {
		s := &recordingConsumer{name: "stats", folds: folds}
		s.fail = func(c change.Change, _ int) change.Outcome {
			if label(c) == "b1" {
				panic("index out of range")
			}
			return change.Outcome{}
		}
		b := setup(t, s)
		require.Empty(t, b.handle(t, event("a1", "b1", "c1", "b2", "a2")))
		require.Subset(t, s.done, []string{"a1", "c1", "b2", "a2"})
		require.NotContains(t, s.done, "b1")
		require.Equal(t, consume.Counts{Records: 5, Done: 4, Parked: 1, Retried: 3}, b.counts["stats"])
		parked, err := consume.ReadParked(b.shelf.objects["parked/stats/user_1/task_b/1-101.json"])
		require.NoError(t, err)
		require.Contains(t, parked.Reason, "panic: index out of range")
		require.Contains(t, parked.Reason, "goroutine")
		for _, call := range s.calls[1:] {
			if len(call) > 1 {
				require.NotContains(t, call, "b1", "after its panic it takes no other along")
			}
		}
	}
}

func TestHandle_forgetsAPassingPanic(t *testing.T) {
	t.Parallel()
	calls := 0
	s := &recordingConsumer{name: "stats", before: func(context.Context, []change.Change) {
		if calls++; calls <= 2 {
			panic(errBusy)
		}
	}}
	b := setup(t, s)
	require.Empty(t, b.handle(t, event("a1", "b1", "a2")))
	require.ElementsMatch(t, []string{"a1", "b1", "a2"}, s.done)
	require.Empty(t, b.shelf.objects)
}

func TestReadParked_refusesWhatIsNone(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		``, `{`, `[]`, `{}`, `{"consumer":"stats"}`, `{"record":{}}`, `{"consumer":"x","record":1,"parkedAt":"soon"}`,
	} {
		_, err := consume.ReadParked([]byte(body))
		require.Error(t, err, body)
	}
}

func TestBody_boundsAReason(t *testing.T) {
	t.Parallel()
	long := change.Outcome{Verdict: change.Poison, Err: fmt.Errorf("%s\xff", strings.Repeat("ä", 1_000_000))}
	b := setup(t, &recordingConsumer{name: "stats", fail: only(long, always, "a1")})
	require.Empty(t, b.handle(t, event("a1")))
	for _, body := range b.shelf.objects {
		require.Less(t, len(body), 10_000)
		parked, err := consume.ReadParked(body)
		require.NoError(t, err)
		require.NotContains(t, parked.Reason, "\ufffd")
		require.True(t, strings.HasSuffix(parked.Reason, "ä…"))
	}
}
