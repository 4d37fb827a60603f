package entity_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
)

func TestANameThatIsNotKnownLeadsToTheOneThatIsMeant(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of   *entity.Type
		want string
	}{
		"due_utc":     {entity.Task(), "dueUtc"},
		"startTime":   {entity.Event(), "startUtc"},
		"start_time":  {entity.Event(), "startUtc"},
		"endAt":       {entity.Event(), "endUtc"},
		"dueAt":       {entity.Task(), "dueUtc"},
		"triggerTzid": {entity.Reminder(), "tzid"},
		"titel":       {entity.Task(), "title"},
		"priorty":     {entity.Task(), "priority"},
	} {
		_, wrong := c.of.Parse(map[string]any{name: "x"})
		require.Len(t, wrong, 1, name)
		require.Equal(t, "is not a known field; did you mean "+c.want+"?", wrong[0].Detail, name)
	}
}
