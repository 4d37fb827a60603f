package setting_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/setting"
)

func TestReader_readsBothFormsOfAValue(t *testing.T) {
	t.Parallel()
	for _, values := range []map[string]any{
		{"text": "a b", "list": []any{"a", "b"}, "number": 7.0, "numbers": map[string]any{"a": 1.0, "b": 2.0}, "flag": true},
		{"text": "a b", "list": "a, b", "number": "7", "numbers": "a=1,b=2", "flag": "true"},
	} {
		r := &setting.Reader{Stage: "dev", Values: values}
		require.Equal(t, "a b", r.Text("text"))
		require.Equal(t, []string{"a", "b"}, r.List("list"))
		require.Equal(t, 7, r.Number("number"))
		require.Equal(t, map[string]int{"a": 1, "b": 2}, r.Numbers("numbers"))
		require.True(t, r.Flag("flag"))
		require.Empty(t, r.Wrong)
	}
}

func TestReader_notesEachFault(t *testing.T) {
	t.Parallel()
	for _, value := range []any{[]any{1.5}, map[string]any{"a": "b"}, 1.5, "x=y"} {
		r := &setting.Reader{Stage: "dev", Values: map[string]any{"a": value}}
		if _, isText := value.(string); !isText {
			require.Empty(t, r.Text("a"))
			r.List("a")
			require.Len(t, r.Wrong, 2)
			require.ErrorContains(t, r.Wrong[0], "stage dev: a: want")
		}
		r.Wrong = nil
		require.Zero(t, r.Number("a"))
		r.Numbers("a")
		require.False(t, r.Flag("a"))
		require.Len(t, r.Wrong, 3, "%v", value)
	}
	none := &setting.Reader{}
	require.Empty(t, none.Text("a"))
	require.Empty(t, none.List("a"))
	require.Zero(t, none.Number("a"))
	require.Empty(t, none.Numbers("a"))
	require.False(t, none.Flag("a"))
	require.Empty(t, none.Wrong)
}
