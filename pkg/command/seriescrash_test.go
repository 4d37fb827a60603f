package command_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/item"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// manyExceptions is how many the series has that the tests of crashes split, end, delete and change.
const manyExceptions = 300

// crashCase is a command about such a series.
type crashCase struct {
	name string
	cmd  func(id string) command.Command
}

func crashCases() []crashCase {
	middle := item.CompactDate(noon.AddDate(0, 0, manyExceptions/2))
	return []crashCase{
		{"split", func(id string) command.Command {
			return command.SplitSeries{ID: id, Date: middle, Changes: doc(`{"title":"second"}`)}
		}},
		{"split that moves", func(id string) command.Command {
			return command.SplitSeries{
				ID: id, Date: middle, Changes: doc(`{"startUtc":"2026-05-01T09:00:00Z","rrule":"FREQ=DAILY;INTERVAL=2"}`),
			}
		}},
		{"end", func(id string) command.Command { return command.EndSeries{ID: id, UntilUtc: "2026-03-01T00:00:00Z"} }},
		{"delete", func(id string) command.Command { return command.DeleteSeries{ID: id} }},
		{"another rule", func(id string) command.Command {
			return command.UpdateSeries{ID: id, Patch: doc(`{"rrule":"FREQ=DAILY;INTERVAL=2"}`)}
		}},
		{"another time of day", func(id string) command.Command {
			return command.UpdateSeries{
				ID: id, Patch: doc(`{"startUtc":"2025-12-01T16:00:00Z","endUtc":"2025-12-01T17:00:00Z"}`),
			}
		}},
	}
}

// prepared are the rows of a daily series with many exceptions, each kind of them, some of which an earlier change took
// out of sight without getting to undo them.
func prepared(t *testing.T) (id string, rows []item.Item) {
	t.Helper()
	b := setupSeries(t)
	id = b.newSeries(`"rrule":"FREQ=DAILY","reminderMinutes":[5]`)
	hidden := map[string]item.Item{}
	for i := range manyExceptions {
		date := item.CompactDate(noon.AddDate(0, 0, i))
		switch i % 4 {
		case 0:
			b.must(command.CancelInstance{MasterID: id, Date: date}, at(1))
		case 1:
			b.must(command.PutInstance{MasterID: id, Date: date, Fields: doc(fmt.Sprintf(`{"title":"number %d"}`, i))}, at(1))
		case 2:
			start := noon.AddDate(0, 0, i).Format("2006-01-02") + "T20:00:00Z"
			b.must(command.PutInstance{MasterID: id, Date: date, Fields: doc(`{"startUtc":"` + start + `"}`)}, at(1))
		default:
			b.must(command.PutInstance{MasterID: id, Date: date, Fields: doc(`{"description":"undone"}`)}, at(1))
			b.must(command.PutInstance{MasterID: id, Date: date, Fields: doc(`{}`)}, at(2))
		}
		if i%50 == 1 {
			hidden[date] = b.instance(id, date)
		}
	}
	var dates []any
	for date := range hidden {
		dates = append(dates, date)
	}
	b.must(command.UpdateSeries{ID: id, Patch: map[string]any{"exdate": dates}}, at(1))
	for _, row := range hidden {
		require.NoError(t, b.store.Put(t.Context(), table.Put{Item: row}))
	}
	require.NoError(t, b.store.Walk(t.Context(), 0, 1, func(it item.Item) error {
		rows = append(rows, it)
		return nil
	}))
	return id, rows
}

// on is a bench of its own with the rows.
func on(t *testing.T, rows []item.Item) *fixture {
	t.Helper()
	b := setupSeries(t)
	require.NoError(t, b.store.Load(t.Context(), rows))
	return b
}

// failAt makes the call with the number fail, at the stage; it counts from 1. It returns the number of calls.
func (b *fixture) failAt(number int, stage memory.Stage) *int {
	n := 0
	b.fault = func(c memory.Call) error {
		if c.Stage != stage {
			return nil
		}
		if n++; n == number {
			return fmt.Errorf("call %d, %s: %w", number, c.Op, table.ErrUnavailable)
		}
		return nil
	}
	return &n
}

func TestService_leavesTheStateBeforeOrAfterACrashAnywhere(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("cuts commands short at each of their calls")
	}
	id, rows := prepared(t)
	before := on(t, rows).shown()
	for _, c := range crashCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			whole := on(t, rows)
			whole.must(c.cmd(id), at(2))
			after := whole.shown()
			require.NotEqual(t, before, after)
			require.Empty(t, whole.idle())
			for _, stage := range []memory.Stage{memory.Before, memory.After} {
				for _, options := range [][]option{{at(2)}, {at(2), key("k")}} {
					if stage == memory.Before && len(options) == 1 {
						continue // what has no effect leaves nothing that a key could tell of
					}
					for n, passed := 1, false; !passed; n++ {
						require.Less(t, n, 50)
						b := on(t, rows)
						b.failAt(n, stage)
						_, err := b.do(c.cmd(id), options...)
						b.fault = nil
						passed = err == nil
						if err != nil {
							require.ErrorIs(t, err, table.ErrUnavailable)
							b.requireEither(before, after)
						}
						_, err = b.do(c.cmd(id), options...)
						requireDone(t, err, len(options) == 2)
						require.Equal(t, after, b.shown(), "call %d, %v", n, stage)
						require.Empty(t, b.idle(), "call %d, %v", n, stage)
					}
				}
			}
		})
	}
}

// requireDone accepts the answers of a repetition: success, or without an idempotency key that it was done before.
func requireDone(t *testing.T, err error, keyed bool) {
	t.Helper()
	var (
		stale   *command.StaleError
		missing *command.NotFoundError
	)
	if err != nil && !keyed && (errors.As(err, &stale) || errors.As(err, &missing)) {
		return
	}
	require.NoError(t, err)
}

// requireEither requires that one of two states is shown, and returns whether it is the second.
func (b *fixture) requireEither(before, after []string) bool {
	b.t.Helper()
	shown := b.shown()
	if len(shown) == len(before) && fmt.Sprint(shown) == fmt.Sprint(before) {
		return false
	}
	require.Equal(b.t, after, shown, "neither the state before nor the state after")
	return true
}

func TestService_completesACommandThatIsInterruptedRepeatedly(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("cuts commands short at each of their calls")
	}
	id, rows := prepared(t)
	before := on(t, rows).shown()
	for _, c := range crashCases() {
		for _, stage := range []memory.Stage{memory.Before, memory.After} {
			t.Run(fmt.Sprint(c.name, stage), func(t *testing.T) {
				t.Parallel()
				whole := on(t, rows)
				whole.must(c.cmd(id), at(2))
				after := whole.shown()
				b := on(t, rows)
				committed := false
				for n := 1; ; n++ {
					require.Less(t, n, 60)
					b.failAt(n, stage)
					_, err := b.do(c.cmd(id), at(2), key("k"))
					b.fault = nil
					now := b.requireEither(before, after)
					require.True(t, now || !committed, "what was done is undone")
					committed = now
					if err == nil {
						break
					}
				}
				require.True(t, committed)
				require.Empty(t, b.idle())
			})
		}
	}
}

func TestSplitSeries_losesNoExceptionWrittenAtTheSameTime(t *testing.T) {
	t.Parallel()
	for round := range 8 {
		b := setupSeries(t)
		id := b.newSeries(`"rrule":"FREQ=DAILY"`)
		split := noon.AddDate(0, 0, 20)
		acknowledged := make([]bool, 40)
		var (
			wg   sync.WaitGroup
			next string
		)
		start := make(chan struct{})
		for worker := range 4 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				<-start
				for i := worker; i < len(acknowledged); i += 4 {
					cmd := command.PutInstance{
						MasterID: id, Date: item.CompactDate(noon.AddDate(0, 0, i)), Fields: doc(fmt.Sprintf(`{"title":"number %d"}`, i)),
					}
					for range 100 {
						_, err := b.do(cmd, at(1))
						if acknowledged[i] = err == nil; !errors.Is(err, table.ErrConflict) {
							break
						}
					}
				}
			}()
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			<-start
			for range 200 {
				res, err := b.do(command.SplitSeries{ID: id, Date: item.CompactDate(split)}, at(1))
				if err == nil {
					next = res.Ref.ID
				}
				if !errors.Is(err, table.ErrConflict) {
					return
				}
			}
		}()
		close(start)
		wg.Wait()
		require.NotEmpty(t, next, "round %d", round)
		require.Empty(t, b.idle())
		for i, ok := range acknowledged {
			date, owner := item.CompactDate(noon.AddDate(0, 0, i)), id
			if !noon.AddDate(0, 0, i).Before(split) {
				owner = next
			}
			require.Equal(t, ok, b.instance(owner, date).Has("modifiedFields"), "%s", date)
			if ok {
				require.Equal(t, fmt.Sprintf("number %d", i), b.instance(owner, date).Str("title"))
			}
		}
	}
}

func TestEndSeries_agreesWithAnExceptionAtTheSameTime(t *testing.T) {
	t.Parallel()
	for range 8 {
		b := setupSeries(t)
		id := b.newSeries(`"rrule":"FREQ=DAILY"`)
		acknowledged := make([]bool, 20)
		var wg sync.WaitGroup
		for i := range acknowledged {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range 100 {
					_, err := b.do(command.CancelInstance{MasterID: id, Date: item.CompactDate(noon.AddDate(0, 0, i))}, at(1))
					if acknowledged[i] = err == nil; !errors.Is(err, table.ErrConflict) {
						return
					}
				}
			}()
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 200 {
				if _, err := b.do(command.EndSeries{ID: id, UntilUtc: "2025-12-10T20:00:00Z"}, at(1)); !errors.Is(err,
					table.ErrConflict) {
					return
				}
			}
		}()
		wg.Wait()
		require.Equal(t, "2025-12-10T20:00:00Z", b.master(id).Str("rruleUntil"))
		require.Empty(t, b.idle())
		for i := range 10 {
			date := item.CompactDate(noon.AddDate(0, 0, i))
			require.Equal(t, acknowledged[i], b.instance(id, date).Has("modifiedFields"), date)
		}
	}
}

func TestDeleteSeries_leavesNoExceptionWrittenAtTheSameTime(t *testing.T) {
	t.Parallel()
	for range 8 {
		b := setupSeries(t)
		id := b.newSeries(`"rrule":"FREQ=DAILY"`)
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				_, _ = b.do(command.CancelInstance{MasterID: id, Date: item.CompactDate(noon.AddDate(0, 0, i))}, at(1))
			}()
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 200 {
				if _, err := b.do(command.DeleteSeries{ID: id}, at(1)); !errors.Is(err, table.ErrConflict) {
					return
				}
			}
		}()
		wg.Wait()
		require.Nil(t, b.master(id))
		require.Empty(t, b.rowsOf(id))
	}
}
