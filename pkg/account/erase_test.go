package account_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/account"
	"nexus/pkg/entity"
	"nexus/pkg/entity/departure"
	"nexus/pkg/item"
	"nexus/pkg/register"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
)

// neighbours have ids that begin or end likewise.
var neighbours = []string{"an", "anna", "ann-2", "jo-ann", "ben"}

func populated(t *testing.T) *fixture {
	w := setup(t)
	for _, user := range append(neighbours, "ann") {
		w.populate(user)
	}
	return w
}

func TestEraser_removesEveryLineOfTheRegister(t *testing.T) {
	t.Parallel()
	w := populated(t)
	require.Len(t, w.dataOf("ann"), w.populate("ann"))
	before := w.digest(neighbours...)
	own := w.digest("ann")
	found, err := w.eraser().Survey(t.Context(), "ann")
	require.NoError(t, err)
	require.Equal(t, own, w.digest("ann"), "a survey changes nothing")
	require.Equal(t, len(w.dataOf("ann")), found.Schedules+found.Repositories+found.Objects+found.Parked+found.Rows)
	require.NoError(t, w.service().LeaveNow(t.Context(), "ann"))
	noted := w.objects("leaving/")
	done, err := w.eraser().Erase(t.Context(), "ann")
	require.NoError(t, err)
	require.Equal(t, found, done.Survey, "the survey counts what the erasure removes")
	require.EqualValues(t, found.Schedules+found.Repositories+found.Objects+found.Parked+found.Rows, done.Removed)
	_, counts, _ := strings.Cut(done.String(), "account erased ")
	counts, _, _ = strings.Cut(counts, " requestedAt=2026-03-02T12:00:00")
	require.Contains(t, w.log.String(), counts, "the log and the output say the same")
	require.Empty(t, w.dataOf("ann"))
	require.Equal(t, before, w.digest(neighbours...), "law E3")
	require.Equal(t, account.Erased, w.state("ann"))
	require.NotContains(t, w.log.String(), "=ann ")
	require.Contains(t, w.log.String(), "account erased")
	name := w.pepper.Erasure("ann")
	require.Equal(t, []string{`UserErased {"deliveryId":"` + w.pepper.Delivery(name+"2026-03-02T12:00:00Z") +
		`","userId":"ann","occurredAt":"2026-03-02T12:00:00Z"}`}, w.published())
	var walk register.Walk
	for _, it := range w.rows() {
		walk.Row(it.Key().PK, it.Key().SK)
	}
	for _, object := range append(w.objects(""), noted...) {
		walk.Object(object)
	}
	for _, e := range w.bus.Events() {
		walk.Name(register.Bus, e.Type)
	}
	require.Empty(t, walk.Strange())
	require.Empty(t, walk.Missing(register.Erasures))
	row, err := w.store.Get(t.Context(), departure.StateKey(name))
	require.NoError(t, err)
	require.Equal(t, []string{"PK", "SK", "erasedAt", "state", "ttl"}, sorted(row))
	require.False(t, w.now.Before(noon.Add(account.EdgeTime)), "an answer at the edge has ended by then")
}

// What comes while the erasure is under way, of writers that read the state before, goes with the next pass.
func TestEraser_removesWhatArrivesBehindAStep(t *testing.T) {
	t.Parallel()
	w := populated(t)
	require.NoError(t, w.service().LeaveNow(t.Context(), "ann"))
	arrivals, steps := 0, 0
	// Not between the rows of a revision and the row that names it: what arrives there is found by a walk over the table.
	w.watching = func() {
		if steps++; steps%42 != 0 || arrivals == 5 || w.now.Before(noon.Add(account.Patience)) {
			return
		}
		arrivals++
		w.watching, w.steps = nil, 0
		w.populate("ann")
		w.watching = nil
	}
	w.erased("ann")
	require.NotZero(t, arrivals)
	require.Empty(t, w.dataOf("ann"))
}

func TestEraser_waitsUntilNothingIsAliveThatReadTheFormerState(t *testing.T) {
	t.Parallel()
	w := populated(t)
	require.NoError(t, w.service().LeaveNow(t.Context(), "ann"))
	present := len(w.dataOf("ann"))
	w.watching = func() {
		if w.now.Before(noon.Add(account.Patience)) {
			require.GreaterOrEqual(t, len(w.dataOf("ann")), present, "%s", w.now)
		}
	}
	w.erased("ann")
}

// The death of the process before and after every call of an erasure ends in the same.
func TestEraser_endsTheSameWhereverItsProcessDies(t *testing.T) {
	t.Parallel()
	whole := populated(t)
	require.NoError(t, whole.service().LeaveNow(t.Context(), "ann"))
	whole.steps = 0
	whole.erased("ann")
	calls := whole.steps
	t.Logf("an erasure of all lines has %d calls, counted twice", calls)
	before := populated(t).digest(neighbours...)
	for step := 1; step <= calls; step++ {
		w := populated(t)
		require.NoError(t, w.service().LeaveNow(t.Context(), "ann"))
		w.steps, w.dieAt = 0, step
		require.Error(t, w.erase("ann"), "step %d", step)
		w.steps, w.dieAt = 0, 0
		w.now = w.now.Add(21 * time.Minute)
		_, err := w.eraser().Run(t.Context())
		require.NoError(t, err, "step %d", step)
		require.Equal(t, account.Erased, w.state("ann"), "step %d", step)
		require.Empty(t, w.dataOf("ann"), "step %d", step)
		require.Equal(t, before, w.digest(neighbours...), "step %d", step)
		require.Len(t, w.published(), 1, "step %d: %v", step, w.published())
		require.Len(t, w.objects("erased/"), 1, "step %d", step)
		require.Empty(t, w.objects("leaving/"), "step %d", step)
	}
}

func (w *fixture) objects(prefix string) []string {
	w.isLooking = true
	defer func() { w.isLooking = false }()
	names, err := w.archive.List(w.Context(), prefix, 1000, "")
	require.NoError(w, err)
	return names
}

func TestEraser_leavesAnErasureToTheWorkerThatMovesIt(t *testing.T) {
	t.Parallel()
	w := populated(t)
	require.NoError(t, w.service().LeaveNow(t.Context(), "ann"))
	w.steps, w.dieAt = 0, 60
	require.Error(t, w.erase("ann"))
	w.dieAt = 0
	finished, err := w.eraser().Run(t.Context())
	require.NoError(t, err)
	require.Zero(t, finished, "less than 20 minutes have passed")
	require.Equal(t, account.Erasing, w.state("ann"))
	w.now = w.now.Add(21 * time.Minute)
	finished, err = w.eraser().Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, finished)
}

func TestEraser_stopsWhenAnotherTakesTheErasureOver(t *testing.T) {
	t.Parallel()
	w := populated(t)
	require.NoError(t, w.service().LeaveNow(t.Context(), "ann"))
	steps, other := 0, error(nil)
	w.watching = func() {
		if steps++; steps == 80 {
			w.watching = nil
			other = w.erase("ann")
		}
	}
	require.ErrorIs(t, w.erase("ann"), account.ErrOvertaken)
	require.NoError(t, other)
	require.Equal(t, account.Erased, w.state("ann"))
	require.Empty(t, w.dataOf("ann"))
	require.Len(t, w.published(), 1)
}

func TestEraser_erasesNoAccountBeforeTheInstantOfTheAnswer(t *testing.T) {
	t.Parallel()
	w := populated(t)
	eraseAt, err := w.service().Leave(t.Context(), "ann")
	require.NoError(t, err)
	require.Equal(t, noon.Add(account.Notice), eraseAt)
	present := w.digest("ann")
	run := func() int {
		finished, err := w.eraser().Run(t.Context())
		require.NoError(t, err)
		return finished
	}
	w.now = eraseAt.Add(-time.Second)
	require.Zero(t, run())
	require.ErrorIs(t, w.erase("ann"), account.ErrNotDue)
	require.ErrorIs(t, w.erase("ben"), account.ErrNotDue, "there is no request")
	require.Equal(t, present, w.digest("ann"))
	w.now = eraseAt
	require.Equal(t, 1, run())
	require.Equal(t, account.Erased, w.state("ann"))
	require.Zero(t, run())
}

func TestEraser_refusesATableThatIsNotInThePresentForm(t *testing.T) {
	t.Parallel()
	w := populated(t)
	require.NoError(t, w.store.Delete(t.Context(), table.Delete{Key: departure.FormKey()}))
	require.NoError(t, w.service().LeaveNow(t.Context(), "ann"))
	require.ErrorIs(t, w.erase("ann"), account.ErrForm)
	_, err := w.eraser().Run(t.Context())
	require.ErrorIs(t, err, account.ErrForm)
	require.Equal(t, account.Leaving, w.state("ann"))
}

func TestEraser_continuesAtItsNextCallWhatNoCallIsLongEnoughFor(t *testing.T) {
	t.Parallel()
	w := populated(t)
	require.NoError(t, w.service().LeaveNow(t.Context(), "ann"))
	short, cancel := context.WithCancel(t.Context())
	w.watching = func() {
		if w.now.After(noon.Add(time.Minute)) {
			cancel()
		}
	}
	_, err := w.eraser().Erase(short, "ann")
	require.ErrorIs(t, err, context.Canceled)
	w.watching = nil
	require.Equal(t, account.Erasing, w.state("ann"))
	require.NotEmpty(t, w.dataOf("ann"))
	w.erased("ann")
	require.Empty(t, w.dataOf("ann"))
}

// Rows, calls and parked records of an owner that no name says go by what they say, and no others.
func TestEraser_leavesParkedRecordsThatNameAnotherUser(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for name, body := range map[string]string{
		"key":        `{"dynamodb":{"Keys":{"PK":{"S":"USER#ann"}}}}`,
		"repository": `{"PK":{"S":"U#ann#PLAN#2026-03-02"}}`,
		"attribute":  `{"userId":{"S":"ann"}}`,
		"in a text":  `{"reason":"{\"userId\":\"ann\"}"}`,
		"longer":     `{"PK":{"S":"USER#anna"},"userId":{"S":"ann-2"}}`,
		"words":      `{"title":{"S":"ann writes"},"note":"of ann"}`,
	} {
		name = strings.ReplaceAll(name, " ", "_")
		require.NoError(t, w.parking.Put(t.Context(), "parked/stats/.unreadable/"+name+".json", []byte(body)))
		require.NoError(t, w.parking.Put(t.Context(), "parked/stats/0123456789abcdef0123456789abcdef/"+name+".json",
			[]byte(body)), "in the form before")
	}
	require.NoError(t, w.service().LeaveNow(t.Context(), "ann"))
	w.erased("ann")
	names, err := w.parking.List(t.Context(), "", 100, "")
	require.NoError(t, err)
	require.Equal(t, []string{
		"parked/stats/.unreadable/longer.json", "parked/stats/.unreadable/words.json",
		"parked/stats/0123456789abcdef0123456789abcdef/longer.json",
		"parked/stats/0123456789abcdef0123456789abcdef/words.json",
	}, names)
}

func TestEraser_endsRequestsThatACrashLeftAfterAnHour(t *testing.T) {
	t.Parallel()
	w := populated(t)
	w.dieAt = 1
	for w.steps = 0; len(w.objects("leaving/")) == 0; w.dieAt++ {
		w.steps = 0
		_, err := w.service().Leave(t.Context(), "ann")
		require.Error(t, err)
	}
	w.dieAt = 0
	require.Equal(t, account.Present, w.state("ann"))
	_, err := w.eraser().Run(t.Context())
	require.NoError(t, err)
	require.Len(t, w.objects("leaving/"), 1, "the request may be under way")
	w.now = w.now.Add(time.Hour)
	_, err = w.eraser().Run(t.Context())
	require.NoError(t, err)
	require.Empty(t, w.objects("leaving/"))

	_, err = w.service().Leave(t.Context(), "ann")
	require.NoError(t, err)
	w.now = w.now.Add(2 * time.Hour)
	_, err = w.eraser().Run(t.Context())
	require.NoError(t, err)
	require.Len(t, w.objects("leaving/"), 1, "it has its row")
}

func TestEraser_deletesTwentyThousandItemsAtItsRate(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var rows []item.Item
	for i := range 20_000 {
		row := entity.ItemKey("ann", entity.Ref{Type: "NOTE", ID: fmt.Sprintf("note_%05d", i)})
		rows = append(rows, row.Item())
	}
	require.NoError(t, w.store.Load(t.Context(), rows))
	require.NoError(t, w.calls.Put(t.Context(), schedule.Schedule{
		Name: "reminder-" + part("ann") + "-x", At: noon, Payload: []byte("{}"),
	}))
	require.NoError(t, w.service().LeaveNow(t.Context(), "ann"))
	w.erased("ann")
	took := w.now.Sub(noon)
	t.Logf("the clock of the erasure shows %s", took)
	require.GreaterOrEqual(t, took, account.Patience+20_000/account.Rate*time.Second)
	require.LessOrEqual(t, took, account.EdgeTime+time.Minute)
	require.Len(t, w.rows(), 3, "the account's row, the check of the pepper and the form")
}
