package replay_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// fullVariable asks for the long form of the tests of this file.
const fullVariable = "NEXUS_FULL"

func passes(r change.Record) bool {
	matches := func(row readers.Reader) bool { return row.Filter.Match(r) }
	return slices.ContainsFunc(readers.Table(product.Registry()), matches)
}

// size is that of a history and of what of it is parked.
func size() (records, parked int) {
	if os.Getenv(fullVariable) != "" {
		return 20_000, 1000
	}
	return 2000, 100
}

func TestSystem_endsAsARecountAfterLateParkedRecords(t *testing.T) {
	t.Parallel()
	for _, shards := range []int{1, 2} {
		for _, later := range []time.Duration{0, 40 * 24 * time.Hour} {
			t.Run(fmt.Sprintf("%d shards, %s later", shards, later), func(t *testing.T) {
				t.Parallel()
				records, parked := size()
				h := newHistory(t, uint64(shards), shards)
				aside := map[string][]json.RawMessage{} // by consumer
				written := 0
				for written < records {
					for range 200 {
						h.write()
					}
					written += h.read()
					for batch := h.next(); batch != nil; batch = h.next() {
						for _, c := range consumers {
							feeder, err := h.system.Feeder.Only(c)
							require.NoError(t, err)
							var rest []json.RawMessage
							for _, r := range batch {
								if len(aside[c]) < parked && h.luck.IntN(records) < parked {
									aside[c] = append(aside[c], r)
								} else {
									rest = append(rest, r)
								}
							}
							h.feedTo(feeder, rest)
						}
					}
				}
				h.deliverAll()
				h.system.MoveTo(h.system.Now().Add(later))
				if later > 0 {
					h.system.Store.Sweep(h.system.Now(), 0)
					h.deliverAll()
				}
				for _, c := range consumers {
					feeder, err := h.system.Feeder.Only(c)
					require.NoError(t, err)
					require.Greater(t, len(aside[c]), parked/2)
					h.luck.Shuffle(len(aside[c]), func(i, j int) { aside[c][i], aside[c][j] = aside[c][j], aside[c][i] })
					h.feedTo(feeder, aside[c])
				}
				h.deliverAll()
				h.requireRecount()
			})
		}
	}
}

// deliverAll delivers until nothing more is written.
func (h *history) deliverAll() {
	for rounds := 0; ; rounds++ {
		require.Less(h.t, rounds, 20, "the stream does not go quiet")
		n := h.read()
		for batch := h.next(); batch != nil; batch = h.next() {
			h.feedTo(h.system.Feeder, batch)
		}
		calls, err := h.system.Fire(h.t.Context())
		require.NoError(h.t, err)
		if n+calls == 0 {
			return
		}
	}
}

// requireRecount holds what is derived against the items as they stand in the table, and the latest ever as they were
// written.
func (h *history) requireRecount() {
	totals := map[string]map[string]int{}
	var links, scheduled, cold []string
	require.NoError(h.t, h.system.Store.Walk(h.t.Context(), 0, 1, func(row item.Item) error {
		user, err := entity.ParseUserPK(row.Str(item.AttrPK))
		require.NoError(h.t, err)
		sk, err := entity.ParseSortKey(row.Str(item.AttrSK))
		require.NoError(h.t, err)
		if sk.IsRow() || sk.Prefix == entity.TypeUserMeta {
			return nil
		}
		if totals[user] == nil {
			totals[user] = map[string]int{}
		}
		totals[user][sk.Prefix]++
		for _, l := range entity.LinksOf(row) {
			links = append(links,
				fmt.Sprintf("link %s %s %s %s %s", user, sk.Prefix, sk.Components[0], l.Target.Type, l.Target.ID))
		}
		cancelled := row.Str(entity.AttrStatus) == "CANCELLED"
		switch {
		case sk.Prefix == product.TypeEvent && cancelled:
			cold = append(cold, fmt.Sprintf("cold %s %s version %d", user, sk.Components[0], row.Int(entity.AttrVersion)))
		case sk.Prefix == product.TypeEvent || sk.Prefix == product.TypeReminder:
			scheduled = append(scheduled, user+" "+sk.Components[0])
		}
		return nil
	}))
	slices.Sort(links)
	slices.Sort(cold)
	slices.Sort(scheduled)

	state, err := h.system.View().State(h.t.Context())
	require.NoError(h.t, err)
	require.Equal(h.t, h.wantedStats(totals), state.Stats)
	require.Equal(h.t, links, prefixed("link ", state.Links))
	var events, schedules []string
	for _, line := range state.Cold {
		if strings.Contains(line, " "+product.Event().IDPrefix+"_") {
			events = append(events, "cold "+line)
		}
	}
	require.Equal(h.t, cold, events)
	for _, line := range state.Schedules {
		var said struct{ UserID, ItemID string }
		require.NoError(h.t, json.Unmarshal([]byte(line[len("2006-01-02T15:04:05Z "):]), &said))
		schedules = append(schedules, said.UserID+" "+said.ItemID)
	}
	slices.Sort(schedules)
	require.Equal(h.t, scheduled, schedules)
}

func prefixed(prefix string, lines []string) (out []string) {
	for _, line := range lines {
		out = append(out, prefix+line)
	}
	return out
}

func (h *history) wantedStats(totals map[string]map[string]int) (out []string) {
	for n := range historyUsers {
		user := fmt.Sprint("user", n)
		line := user
		for _, one := range []struct{ name, value string }{
			{product.StatLastEventCreated, instant(h.lastEvent[user])},
			{product.StatLastTaskCompleted, instant(h.lastDone[user])},
			{product.StatTotalEvents, fmt.Sprint(totals[user][product.TypeEvent])},
			{product.StatTotalNotes, fmt.Sprint(totals[user][product.TypeNote])},
			{product.StatTotalReminders, fmt.Sprint(totals[user][product.TypeReminder])},
			{product.StatTotalTasks, fmt.Sprint(totals[user][product.TypeTask])},
		} {
			if one.value != "0" && one.value != "" {
				line += " " + one.name + "=" + one.value
			}
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}

func instant(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return item.FormatInstant(at)
}

func TestSystem_handsConsumersNoWriteOfConsumersAndGoesQuiet(t *testing.T) {
	t.Parallel()
	h := newHistory(t, 7, 2)
	for range 1300 { // some change nothing and leave no record
		h.write()
	}
	feed := h.system.Store.Feed()
	last, handed, all := map[string]string{}, map[string]int{}, 0
	for rounds := 0; ; rounds++ {
		require.Less(t, rounds, 10, "the stream does not go quiet")
		shards, err := feed.Shards(t.Context())
		require.NoError(t, err)
		fresh := 0
		for _, shard := range shards {
			slice, err := feed.Read(t.Context(), shard.ID, last[shard.ID], 100_000)
			require.NoError(t, err)
			var records []json.RawMessage
			for _, r := range slice.Records {
				last[shard.ID] = r.Sequence
				all++
				sk, err := entity.ParseSortKey(r.Key.SK)
				require.NoError(t, err)
				for _, row := range readers.Table(product.Registry()) {
					if !row.Filter.Match(r) {
						continue
					}
					handed[row.Name]++
					require.False(t, sk.IsRow(), "%s gets %s", row.Name, r.Key)
					require.False(t, sk.Prefix == entity.TypeUserMeta && row.Name != "effects", "%s gets %s", row.Name, r.Key)
				}
				records = append(records, change.AppendRecord(nil, r))
				fresh++
			}
			h.feedTo(h.system.Feeder, records)
		}
		if fresh == 0 {
			break
		}
	}
	require.GreaterOrEqual(t, handed["projections"], 1000)
	// Archive's own mark on an item comes by once; the statistics reach effects alone. All the rest of the stream is
	// filtered out.
	require.Less(t, handed["projections"], 1500)
	require.Greater(t, all, 2*handed["projections"])
	t.Logf("%d records in the stream; handed on %v", all, handed)
}
