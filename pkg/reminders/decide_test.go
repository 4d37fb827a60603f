package reminders

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

const day = 24 * time.Hour

// lookedAt is a snapshot of an event at noon, before anything is due.
func lookedAt() snapshot {
	events := product.Registry().ByName(product.TypeEvent)
	return snapshot{
		target: target{"ann", events, "evt_1"}, now: time.Date(2025, 12, 1, 12, 0, 0, 0, time.UTC), lead: maxLead,
		zone:       time.UTC,
		item:       item.Item{entity.AttrTitle: item.String("Standup"), entity.AttrVersion: item.Int(3)},
		deliveries: map[item.Key]item.Item{},
	}
}

// add makes an instant due after the snapshot's, and requested after that. Its delivery is absent or has the state.
func (s *snapshot) add(offset int64, after, requested time.Duration, state string) due {
	at := s.now.Add(after)
	start := at.Add(time.Duration(offset) * time.Minute)
	d := newDue(offset, start, start, at.Add(requested))
	s.dues = append(s.dues, d)
	if state != "" {
		row := s.deliveryOf(d).row()
		row[attrState] = item.String(state)
		s.deliveries[row.Key()] = row
	}
	return d
}

func TestDecide_deliversAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after, requested time.Duration // the due instant after now, and its request after the due instant
		state            string        // of its delivery
		want             string        // what is to be done about the instant
	}{
		"due now":                              {0, -time.Hour, "", "deliver"},
		"late by 24 h":                         {-day, -time.Hour, "", "deliver"},
		"requested at its instant":             {-time.Hour, 0, "", "deliver"},
		"late by more than 24 h":               {-day - time.Second, -time.Hour, "", "report"},
		"late by 30 days":                      {-30 * day, -time.Hour, "", "report"},
		"late by more than 30 days":            {-30*day - time.Second, -time.Hour, "", ""},
		"requested after its instant":          {-time.Hour, time.Second, "", ""},
		"requested days after its instant":     {-3 * day, day, "", ""},
		"to come":                              {time.Second, -time.Hour, "", "schedule"},
		"to come, requested for the past":      {time.Second, time.Hour, "", "schedule"},
		"pending":                              {-time.Hour, -time.Hour, statePending, "publish"},
		"pending for 29 days":                  {-29 * day, -time.Hour, statePending, "publish"},
		"pending, no longer requested":         {-time.Hour, time.Minute, statePending, "publish"},
		"sent":                                 {-time.Hour, -time.Hour, stateSent, ""},
		"sent, and more than a day ago":        {-2 * day, -time.Hour, stateSent, ""},
		"sent by a clock ahead of this one":    {time.Second, -time.Hour, stateSent, ""},
		"pending by a clock ahead of this one": {time.Second, -time.Hour, statePending, "publish"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := lookedAt()
			d := s.add(15, c.after, c.requested, c.state)
			want := plan{deletions: []int64{15}}
			switch c.want {
			case "deliver":
				key := d.deliveryKey(s.target)
				want.late = []delivery{{
					target: s.target, due: d, version: 3, deliveryID: digest(key.PK, key.SK), title: "Standup", firedAt: s.now,
				}}
			case "report":
				want.missed = []due{d}
			case "publish":
				want.pending = []item.Item{s.deliveries[d.deliveryKey(s.target)]}
			case "schedule":
				want.deletions = nil
				want.schedules = []wanted{{d, scheduleOf(s.target, d, s.now.Add(s.lead))}}
			}
			require.Equal(t, want, decide(s, scope{15: true}))
		})
	}
}

func TestDecide_ringsATriggerOnceAndEachSnooze(t *testing.T) {
	t.Parallel()
	s := lookedAt()
	s.item.SetTime(product.AttrLastFiredUtc, s.now)
	s.add(0, -time.Minute, -time.Hour, "")
	require.Empty(t, decide(s, scope{0: true}).late, "the trigger has rung, under another delivery")
	s.dues[0].snooze = true
	require.Len(t, decide(s, scope{0: true}).late, 1, "a snooze rings, whatever rang last")
	s.item[product.AttrDoneTriggerUtc], s.item[product.AttrTriggerUtc] = item.String("x"), item.String("x")
	s.dues[0] = newDue(0, s.now.Add(time.Hour), s.now.Add(time.Hour), s.now)
	require.Equal(t, []int64{0}, decide(s, scope{0: true}).deletions, "a trigger that is done is to come in no zone")
}

// Whatever is due: each offset of the scope has one schedule, for its next due instant, or none; no schedule is early
// or leaves the scheduler no time; nothing outside the scope is touched; the same snapshot gives the same plan.
func TestDecide_keepsTheLawsOfSchedules(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(of ...time.Duration) time.Duration { return of[r.IntN(len(of))] }
	for range 300 {
		s := lookedAt()
		offsets := scope{}
		for _, offset := range []int64{0, 5, 40320} {
			if r.IntN(3) > 0 {
				offsets[offset] = true
			}
			for range r.IntN(4) {
				after := pick(-31*day, -2*day, -day, -time.Minute, 0, time.Second, time.Minute, time.Hour, 400*day)
				s.add(offset, after, pick(-time.Hour, 0, time.Hour), []string{"", "", statePending, stateSent}[r.IntN(4)])
			}
		}
		s.now = s.now.Add(time.Duration(r.IntN(2)) * 300 * time.Millisecond) // dues are in whole seconds, the clock is not
		dues, rows := slices.Clone(s.dues), maps.Clone(s.deliveries)
		p := decide(s, offsets)
		require.Equal(t, p, decide(s, offsets))
		require.Equal(t, dues, s.dues)
		require.Equal(t, rows, s.deliveries)

		next, scheduled := map[int64]time.Time{}, scope{}
		for _, d := range s.dues {
			at, ok := next[d.offset]
			if offsets[d.offset] && d.at.After(s.now) && !s.hasDelivery(d) && (!ok || d.at.Before(at)) {
				next[d.offset] = d.at
			}
		}
		for _, w := range p.schedules {
			require.False(t, scheduled[w.due.offset], "two schedules of one offset")
			scheduled[w.due.offset] = true
			require.Equal(t, next[w.due.offset], w.due.at)
			require.Equal(t, ScheduleName("ann", "evt_1", w.due.offset), w.schedule.Name)
			earliest := s.now.Add(time.Minute)
			require.False(t, w.schedule.At.Before(w.due.at) || w.schedule.At.Before(earliest))
			require.True(t, w.schedule.At.Equal(w.due.at) || w.schedule.At.Before(earliest.Add(time.Second)), "needlessly late")
			require.Zero(t, w.schedule.At.Nanosecond())
		}
		require.Len(t, scheduled, len(next))
		for _, offset := range p.deletions {
			require.True(t, offsets[offset] && !scheduled[offset])
			scheduled[offset] = true
		}
		require.Equal(t, offsets, scheduled)
		for _, f := range p.late {
			require.True(t, offsets[f.due.offset])
		}
		for _, d := range p.missed {
			require.True(t, offsets[d.offset])
		}
		for _, row := range p.pending {
			require.True(t, offsets[row.Int(attrOffsetMinutes)])
		}
	}
}
