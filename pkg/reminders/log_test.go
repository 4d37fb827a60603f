package reminders_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/pepper/peppertest"
)

// logged returns what was logged, without the time.
func (w *fixture) logged() []map[string]any {
	w.Helper()
	var out []map[string]any
	for text := range strings.Lines(w.log.String()) {
		var line map[string]any
		require.NoError(w, json.Unmarshal([]byte(text), &line))
		delete(line, "time")
		out = append(out, line)
	}
	return out
}

func TestNotifier_logsADeliveryUnderTheTraceOfItsRequest(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.level.Set(slog.LevelInfo)
	w.create("evt_1", fmt.Sprintf(eventAt, at(noon.Add(2*time.Hour)), "15"))
	w.advance(3 * time.Hour)
	require.Equal(t, []map[string]any{{
		"level": "INFO", "msg": "reminder delivered", "user": peppertest.Fixed(t).Pseudonym("ann"),
		"item": "evt_1", "offsetMinutes": 15.0, "due": "2025-12-01T13:45:00Z", "deliveryId": w.bus.details(t)[0].DeliveryID,
		"traceId": entity.TraceID("ann", "evt_1", 1),
	}}, w.logged())
	require.NotContains(t, w.log.String(), "Standup", "no log shows titles")
}

func TestNotifier_keepsTheTraceOfARedrivenDelivery(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.level.Set(slog.LevelInfo)
	w.create("rem_1", fmt.Sprintf(remAt, at(noon.Add(time.Hour))))
	w.runUntilIdle()
	payload := w.scheduler.due(noon.Add(time.Hour))[0]
	w.now = noon.Add(time.Hour)
	for step := 1; len(w.bus.Events()) == 0; step++ {
		w.fault.at, w.fault.die, w.fault.steps = step, true, 0
		require.Error(t, w.fault.under(func() error { return w.notifier.Handle(t.Context(), payload) }))
	}
	w.set("rem_1", entity.AttrTitle, item.String("another")) // a later write, which asked for nothing
	w.runUntilIdle()
	lines := w.logged()
	require.Len(t, lines, 1)
	require.Equal(t, entity.TraceID("ann", "rem_1", 1), lines[0]["traceId"])
}

func TestObservation_isLoggedOnceForMissedAndDropped(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.level.Set(slog.LevelInfo)
	w.create("evt_1", fmt.Sprintf(eventAt, at(noon.Add(2*time.Hour)), "15"))
	w.now = noon.Add(40 * time.Hour) // the record was not delivered until now
	w.runUntilIdle()
	payload := `{"userId":"ann","itemType":"TASK","itemId":"task_1","offsetMinutes":5,` +
		`"occurrenceUtc":"2025-12-01T14:00:00Z","dueUtc":"2025-12-01T13:55:00Z"}`
	require.NoError(t, w.notifier.Handle(t.Context(), []byte(payload)))
	lines := w.logged()
	require.Len(t, lines, 2)
	require.Equal(t, []any{"WARN", "reminder missed", entity.TraceID("ann", "evt_1", 1)},
		[]any{lines[0]["level"], lines[0]["msg"], lines[0]["traceId"]})
	require.Equal(t, []any{"INFO", "reminder dropped", "task_1"},
		[]any{lines[1]["level"], lines[1]["msg"], lines[1]["item"]})
	require.NotContains(t, lines[1], "traceId", "no write asked for it")
}
