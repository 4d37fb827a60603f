package command_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/series"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// modelDays is how far the model looks.
const modelDays = 60

// modelSeries is a series every so many days, as its user thinks of it: a list of days, and what is said about some.
type modelSeries struct {
	title       string
	first       int // days after noon's date
	hour, every int
	count       int // 0 for none
	until       int // the last day; modelDays for none
	without     map[int]bool
	own         map[int]modelOwn
	id          string
}

// modelOwn holds the fields that one occurrence has of its own; a zero field is the series'.
type modelOwn struct {
	title     string
	hour      int
	cancelled bool
}

func (m *modelSeries) days() []int {
	var out []int
	for n, day := 0, m.first; day <= min(m.until, modelDays); n, day = n+1, day+m.every {
		if m.count > 0 && n == m.count {
			break
		}
		if !m.without[day] {
			out = append(out, day)
		}
	}
	return out
}

// forgetLostDays forgets what is said about days that the series has lost.
func (m *modelSeries) forgetLostDays() {
	days := m.days()
	maps.DeleteFunc(m.own, func(day int, _ modelOwn) bool { return !slices.Contains(days, day) })
}

func modelDate(day int) string { return item.CompactDate(noon.AddDate(0, 0, day)) }

// newYork is the instant of an hour of the model's day there; noon's date and the months after it have winter time.
func newYork(day, hour int) time.Time {
	return time.Date(noon.Year(), noon.Month(), noon.Day()+day, hour+5, 0, 0, 0, time.UTC)
}

func (m *modelSeries) shown() []string {
	var out []string
	for _, day := range m.days() {
		title, hour, own := m.title, m.hour, m.own[day]
		if own.title != "" {
			title = own.title
		}
		if own.hour != 0 {
			hour = own.hour
		}
		if !own.cancelled {
			out = append(out, fmt.Sprintf("%s %s %s", modelDate(day), item.FormatInstant(newYork(day, hour)), title))
		}
	}
	return out
}

func (m *modelSeries) rule() string {
	rule := fmt.Sprintf("FREQ=DAILY;INTERVAL=%d", m.every)
	if m.count > 0 {
		rule += fmt.Sprintf(";COUNT=%d", m.count)
	}
	return rule
}

func (m *modelSeries) clone() *modelSeries {
	c := *m
	c.without, c.own = maps.Clone(m.without), maps.Clone(m.own)
	return &c
}

// modelWorld plays random commands against the service and the model.
type modelWorld struct {
	*fixture
	r    *rand.Rand
	all  []*modelSeries
	keys int
}

func (w *modelWorld) someDay(m *modelSeries) int {
	days := m.days()
	return days[w.r.IntN(len(days))]
}

// step plays one command on one series: what the command is, and what becomes of the series in the model.
func (w *modelWorld) step(m *modelSeries) (command.Command, option, []*modelSeries) {
	after := m.clone()
	day := w.someDay(m)
	title := fmt.Sprintf("title %d", w.r.IntN(1000))
	hour := 8 + w.r.IntN(8)
	master := at(w.master(m.id).Int("version"))
	start := func(day, hour int) string { return item.FormatInstant(newYork(day, hour)) }
	switch w.r.IntN(9) {
	case 0, 1:
		after.own[day] = modelOwn{title: title}
		return command.PutInstance{MasterID: m.id, Date: modelDate(day), Fields: map[string]any{"title": title}},
			w.version(m.id, modelDate(day)), []*modelSeries{after}
	case 2:
		after.own[day] = modelOwn{title: title, hour: hour}
		return command.PutInstance{MasterID: m.id, Date: modelDate(day), Fields: map[string]any{"title": title,
			"startUtc": start(day, hour)}}, w.version(m.id, modelDate(day)), []*modelSeries{after}
	case 3:
		own := after.own[day]
		own.cancelled = true
		after.own[day] = own
		return command.CancelInstance{MasterID: m.id, Date: modelDate(day)}, w.version(m.id, modelDate(day)),
			[]*modelSeries{after}
	case 4:
		delete(after.own, day)
		return command.PutInstance{MasterID: m.id, Date: modelDate(day)}, w.version(m.id, modelDate(day)),
			[]*modelSeries{after}
	case 5:
		after.every, after.count = 1+w.r.IntN(3), w.r.IntN(2)*(5+w.r.IntN(20))
		after.forgetLostDays()
		return command.UpdateSeries{ID: m.id, Patch: map[string]any{"rrule": after.rule()}}, master, []*modelSeries{after}
	case 6:
		after.without, after.hour = map[int]bool{w.r.IntN(modelDays): true, w.r.IntN(modelDays): true}, hour
		var dates []any
		for d := range after.without {
			dates = append(dates, modelDate(d))
		}
		after.forgetLostDays()
		return command.UpdateSeries{ID: m.id, Patch: map[string]any{"exdate": dates, "startUtc": start(m.first, hour),
			"endUtc": start(m.first, hour+1)}}, master, []*modelSeries{after}
	case 7:
		after.until = min(day, m.until)
		after.forgetLostDays()
		return command.EndSeries{ID: m.id, UntilUtc: start(day, 23)}, master, []*modelSeries{after}
	}
	next := m.clone()
	next.title, next.first, next.id = title, day, ""
	if m.count > 0 {
		next.count = m.count - (day-m.first)/m.every
	}
	if own, ok := next.own[day]; ok { // the split says the title, and with the hour below the time
		next.own[day] = modelOwn{hour: own.hour, cancelled: own.cancelled}
	}
	changes := map[string]any{"title": title}
	if w.r.IntN(2) == 0 {
		next.hour = hour
		changes["startUtc"] = start(day, hour)
		if own, ok := next.own[day]; ok {
			next.own[day] = modelOwn{cancelled: own.cancelled}
		}
	}
	next.forgetLostDays()
	after.until = day - 1
	after.forgetLostDays()
	return command.SplitSeries{ID: m.id, Date: modelDate(day), Changes: changes}, master, []*modelSeries{after, next}
}

// play carries a command out through whatever faults, and holds the table against the model after each try.
func (w *modelWorld) play(cmd command.Command, version option, i int, after []*modelSeries) {
	before := w.expected(w.all)
	changed := slices.Concat(w.all[:i], after, w.all[i+1:])
	w.keys++
	for try := 0; ; try++ {
		require.Less(w.t, try, 50)
		if try < 3 && w.r.IntN(2) == 0 {
			w.failAt(1+w.r.IntN(8), []memory.Stage{memory.Before, memory.After}[w.r.IntN(2)])
		}
		res, err := w.do(cmd, version, key(fmt.Sprint(w.keys)))
		w.fault = nil
		var invalid *entity.ValidationError
		switch {
		case errors.As(err, &invalid):
			require.Equal(w.t, before, w.found(), "%T was refused", cmd)
			w.requireEmpty(cmd, after)
			return
		case errors.Is(err, table.ErrUnavailable):
			if found := w.found(); !slices.Equal(before, found) {
				require.Equal(w.t, w.expected(changed), found, "%T was cut short", cmd)
			}
			continue
		}
		require.NoError(w.t, err, "%#v", cmd)
		if len(after) == 2 {
			after[1].id = res.Ref.ID
		}
		w.all = changed
		require.Equal(w.t, w.expected(w.all), w.found(), "%#v", cmd)
		require.Empty(w.t, w.idle())
		return
	}
}

// requireEmpty accepts the reasons for which the model's commands are refused: nothing would be left, or the first
// occurrence is no place to split.
func (w *modelWorld) requireEmpty(cmd command.Command, after []*modelSeries) {
	for _, m := range after {
		if len(m.days()) == 0 {
			return
		}
	}
	require.Failf(w.t, "refused", "%#v", cmd)
}

func (w *modelWorld) expected(all []*modelSeries) []string {
	var out []string
	for _, m := range all {
		out = append(out, m.shown()...)
	}
	slices.Sort(out)
	return out
}

// found are the occurrences up to the model's last day by the table's rows.
func (w *modelWorld) found() []string {
	masters, err := allRows(w.store, table.Query{
		Partition: entity.UserPK(ann), Range: table.Range{Prefix: entity.ItemPrefix(entity.TypeMaster)},
	})
	require.NoError(w.t, err)
	var out []string
	for _, m := range masters {
		s, err := series.New(m, time.UTC, w.rowsOf(m.Str("masterId"))...)
		require.NoError(w.t, err)
		for _, o := range s.Overlapping(noon.AddDate(0, 0, -2), noon.AddDate(0, 0, modelDays+2)) {
			if o.Date <= modelDate(modelDays) {
				out = append(out, fmt.Sprintf("%s %s %s", o.Date, item.FormatInstant(o.Start), s.Item(o).Str("title")))
			}
		}
	}
	slices.Sort(out)
	return out
}

func TestService_randomCommandsDoWhatTheModelSays(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("carries out random commands")
	}
	for seed := range uint64(40) {
		w := &modelWorld{fixture: setupSeries(t), r: rand.New(rand.NewPCG(seed, 1))}
		m := &modelSeries{
			title: "standup", hour: 9, every: 1, until: modelDays, without: map[int]bool{}, own: map[int]modelOwn{},
		}
		m.id = w.newSeries(`"rrule":"` + m.rule() + `"`)
		w.all = []*modelSeries{m}
		for range 40 {
			i := w.r.IntN(len(w.all))
			cmd, version, after := w.step(w.all[i])
			w.play(cmd, version, i, after)
		}
	}
}
