package entity_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/product"
)

func TestType_proposesTheNameThatIsMeant(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of   *entity.Type
		want string
	}{
		"due_utc":     {product.Task(), "dueUtc"},
		"startTime":   {product.Event(), "startUtc"},
		"start_time":  {product.Event(), "startUtc"},
		"endAt":       {product.Event(), "endUtc"},
		"dueAt":       {product.Task(), "dueUtc"},
		"triggerTzid": {product.Reminder(), "tzid"},
		"titel":       {product.Task(), "title"},
		"priorty":     {product.Task(), "priority"},
	} {
		_, wrong := c.of.Parse(map[string]any{name: "x"})
		require.Len(t, wrong, 1, name)
		require.Equal(t, "is not a known field; did you mean "+c.want+"?", wrong[0].Detail, name)
	}
}
