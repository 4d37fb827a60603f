package queue_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/queue"
)

func TestCheck_namesTheFieldThatBreaksItsRule(t *testing.T) {
	t.Parallel()
	good := queue.Message{Group: "a-Z_9", ID: strings.Repeat("x", queue.MaxName), Body: []byte(`{"ä":1}`)}
	require.NoError(t, good.Check())
	tooLong := []byte(`"` + strings.Repeat("x", queue.MaxBody) + `"`)
	for name, c := range map[string]struct {
		change func(m *queue.Message)
		field  string
	}{
		"no group":        {func(m *queue.Message) { m.Group = "" }, "Group"},
		"a long group":    {func(m *queue.Message) { m.Group = strings.Repeat("x", queue.MaxName+1) }, "Group"},
		"a space":         {func(m *queue.Message) { m.Group = "a b" }, "Group"},
		"a letter":        {func(m *queue.Message) { m.ID = "ä" }, "ID"},
		"no id":           {func(m *queue.Message) { m.ID = "" }, "ID"},
		"no body":         {func(m *queue.Message) { m.Body = nil }, "Body"},
		"no JSON":         {func(m *queue.Message) { m.Body = []byte("{") }, "Body"},
		"no UTF-8":        {func(m *queue.Message) { m.Body = []byte("\"\xff\"") }, "Body"},
		"no character":    {func(m *queue.Message) { m.Body = []byte("\"\uFFFF\"") }, "Body"},
		"a body too long": {func(m *queue.Message) { m.Body = tooLong }, "Body"},
	} {
		bad := good
		c.change(&bad)
		err := bad.Check()
		var invalid *queue.InvalidError
		require.ErrorAs(t, err, &invalid, name)
		require.Equal(t, c.field, invalid.Field, name)
		require.ErrorIs(t, err, queue.ErrInvalid, name)
	}
}
