package consume_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/entity"
)

func TestIsNoun_takesANameThatFitsIntoAnObjectsName(t *testing.T) {
	t.Parallel()
	for name, fits := range map[string]bool{
		"az-09": true, strings.Repeat("a", 40): true, strings.Repeat("a", 41): false,
		"`": false, "{": false, "/": false, ":": false, "A": false, "_": false,
	} {
		cfg := config(setup(t, &recordingConsumer{name: "x"}))
		cfg.Consumers = []change.Consumer{&recordingConsumer{name: name}}
		_, err := consume.New(cfg)
		require.Equal(t, fits, err == nil, "%q: %v", name, err)
	}
}

// TestParkedName_isWhatTheRecordSays: an operator finds it by its item, else by its row, else by its bytes.
func TestParkedName_isWhatTheRecordSays(t *testing.T) {
	t.Parallel()
	timer := entity.TimerKey("user_1", "task_a", 4).Item()
	records := []change.Record{{Name: change.Insert, Sequence: "200", Key: timer.Key(), New: timer}}
	s := &recordingConsumer{name: "archive", fail: func(change.Change, int) change.Outcome { return poison }}
	b := setup(t, s)
	require.Empty(t, b.handle(t, change.AppendEvent(nil, records)))
	require.Regexp(t, `^parked/archive/user_1/\.[0-9a-f]{32}/200\.json$`, b.shelf.names()[0], "a row is no item")

	b = setup(t, &recordingConsumer{name: "archive"})
	require.Empty(t, b.handle(t, event("?")))
	require.Regexp(t, `^parked/archive/user_1/\.[0-9a-f]{32}/100\.json$`, b.shelf.names()[0],
		"its key and its number could be read")

	b = setup(t, &recordingConsumer{name: "archive"})
	unnumbered := strings.Replace(string(event("?")), `"100"`, `"x/y"`, 1)
	require.NotEqual(t, string(event("?")), unnumbered)
	require.Empty(t, b.handle(t, []byte(unnumbered)))
	require.Regexp(t, `^parked/archive/user_1/\.[0-9a-f]{32}/0\.json$`, b.shelf.names()[0], "its number is none")

	for what, key := range map[string]string{
		"no user's": "SHOP#1", "of no possible user": "USER#a/b", "of a repository without a user": "U#",
	} {
		b = setup(t, &recordingConsumer{name: "archive"})
		strange := strings.ReplaceAll(string(event("?")), `"USER#user_1"`, `"`+key+`"`)
		require.NotEqual(t, string(event("?")), strange)
		require.Empty(t, b.handle(t, []byte(strange)))
		require.Regexp(t, `^parked/archive/\.unreadable/[0-9a-f]{32}\.json$`, b.shelf.names()[0], what)
	}
}

// TestFirstUnfinished_delaysNoOtherItem: the outcomes after an item that waits count all the same.
func TestFirstUnfinished_delaysNoOtherItem(t *testing.T) {
	t.Parallel()
	s := &recordingConsumer{name: "stats", folds: true, fail: func(c change.Change, _ int) change.Outcome {
		switch label(c) {
		case "a1":
			return retry
		case "b1":
			return poison
		}
		return change.Outcome{}
	}}
	b := setup(t, s)
	require.Equal(t, "100", b.handle(t, event("a1", "a2", "b1", "c1")))
	require.Equal(t, []string{"parked/stats/user_1/task_b/1-102.json"}, b.shelf.names())
	require.Equal(t, consume.Counts{Records: 4, Done: 1, Parked: 1, Unfinished: 2}, b.countsOf("stats"))
}

// countsOf leaves out how often records were tried.
func (b *fixture) countsOf(consumer string) consume.Counts {
	c := b.counts[consumer]
	c.Retried, c.Already = 0, 0
	return c
}
