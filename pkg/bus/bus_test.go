package bus_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/bus"
)

func TestCheck_namesTheEventAndTheFieldThatBreaksItsRule(t *testing.T) {
	t.Parallel()
	good := bus.Event{Type: "ReminderDue", Detail: []byte(" {}"), Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)}
	require.NoError(t, bus.Check(nil))
	require.NoError(t, bus.Check([]bus.Event{good, good}))

	tests := []struct {
		name   string
		change func(*bus.Event)
		field  string
	}{
		{"no type", func(e *bus.Event) { e.Type = "" }, "Type"},
		{"a long type", func(e *bus.Event) { e.Type = strings.Repeat("x", 129) }, "Type"},
		{"a type that is not UTF-8", func(e *bus.Event) { e.Type = "\xff" }, "Type"},
		{"no detail", func(e *bus.Event) { e.Detail = nil }, "Detail"},
		{"a detail that is not JSON", func(e *bus.Event) { e.Detail = []byte("{") }, "Detail"},
		{"a detail that is not an object", func(e *bus.Event) { e.Detail = []byte("[]") }, "Detail"},
		{"a detail that is not UTF-8", func(e *bus.Event) { e.Detail = []byte("{\"a\":\"\xff\"}") }, "Detail"},
		{"a detail too large", func(e *bus.Event) {
			e.Detail = []byte(`{"a":"` + strings.Repeat("x", bus.MaxDetail) + `"}`)
		}, "Detail"},
		{"no time", func(e *bus.Event) { e.Time = time.Time{} }, "Time"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			bad := good
			tt.change(&bad)
			err := bus.Check([]bus.Event{good, bad})
			require.ErrorIs(t, err, bus.ErrInvalid)
			var invalid *bus.InvalidError
			require.ErrorAs(t, err, &invalid)
			require.Equal(t, 1, invalid.Index)
			require.Equal(t, tt.field, invalid.Field)
		})
	}
}
