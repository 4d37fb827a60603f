package schedule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/schedule"
)

func TestCheck_namesTheFieldThatBreaksItsRule(t *testing.T) {
	t.Parallel()
	good := schedule.Schedule{Name: "a-Z_0.9", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Payload: []byte(`{"a":1}`)}
	require.NoError(t, good.Check())

	tests := []struct {
		name   string
		change func(*schedule.Schedule)
		field  string
	}{
		{"no name", func(s *schedule.Schedule) { s.Name = "" }, "Name"},
		{"a name of 65", func(s *schedule.Schedule) { s.Name = strings.Repeat("a", 65) }, "Name"},
		{"a slash in the name", func(s *schedule.Schedule) { s.Name = "a/b" }, "Name"},
		{"a name that stands for a folder", func(s *schedule.Schedule) { s.Name = ".." }, "Name"},
		{"a letter outside ASCII", func(s *schedule.Schedule) { s.Name = "ä" }, "Name"},
		{"no time", func(s *schedule.Schedule) { s.At = time.Time{} }, "At"},
		{"a fraction of a second", func(s *schedule.Schedule) { s.At = s.At.Add(time.Millisecond) }, "At"},
		{"a year of five digits", func(s *schedule.Schedule) { s.At = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }, "At"},
		{"no payload", func(s *schedule.Schedule) { s.Payload = nil }, "Payload"},
		{"a payload that is not JSON", func(s *schedule.Schedule) { s.Payload = []byte("{") }, "Payload"},
		{"a payload that is not UTF-8", func(s *schedule.Schedule) { s.Payload = []byte("\"\xff\"") }, "Payload"},
		{"a payload too large", func(s *schedule.Schedule) {
			s.Payload = []byte(`"` + strings.Repeat("a", schedule.MaxPayload) + `"`)
		}, "Payload"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := good
			tt.change(&s)
			err := s.Check()
			require.ErrorIs(t, err, schedule.ErrInvalid)
			var invalid *schedule.InvalidError
			require.ErrorAs(t, err, &invalid)
			require.Equal(t, tt.field, invalid.Field)
		})
	}
}

func TestCheckName_takesSixtyFourCharactersAndTheLastSecond(t *testing.T) {
	t.Parallel()
	require.NoError(t, schedule.Schedule{
		Name:    strings.Repeat("x", schedule.MaxName),
		At:      time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		Payload: []byte("null"),
	}.Check())
}
