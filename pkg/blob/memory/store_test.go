package memory_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/blob"
	"nexus/pkg/blob/blobtest"
	"nexus/pkg/blob/memory"
)

func TestStore_conforms(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(*testing.T) blob.Store { return memory.New(nil) })
}

func TestFault_beforeChangesNothingAndAfterLeavesTheEffect(t *testing.T) {
	t.Parallel()
	crash := errors.New("crash")
	var failOp string
	var failAfter bool
	s := memory.New(func(op, _ string, after bool) error {
		if op == failOp && after == failAfter {
			return crash
		}
		return nil
	})
	exists := func() bool {
		failOp = ""
		_, err := s.Get(t.Context(), "a")
		return err == nil
	}
	for _, step := range []struct {
		op     string
		after  bool
		exists bool
	}{{"put", false, false}, {"put", true, true}, {"delete", false, true}, {"delete", true, false}} {
		failOp, failAfter = step.op, step.after
		if step.op == "put" {
			require.ErrorIs(t, s.Put(t.Context(), "a", nil), crash)
		} else {
			require.ErrorIs(t, s.Delete(t.Context(), "a"), crash)
		}
		require.Equal(t, step.exists, exists(), "%+v", step)
	}
	for _, after := range []bool{false, true} {
		failOp, failAfter = "list", after
		_, err := s.List(t.Context(), "", 1, "")
		require.ErrorIs(t, err, crash)
		failOp = "get"
		require.NoError(t, s.Put(t.Context(), "a", nil))
		_, err = s.Get(t.Context(), "a")
		require.ErrorIs(t, err, crash)
	}
}
