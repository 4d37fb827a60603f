package stack_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddOutputs_nameTheReleaseAndTheOneToWhichItMayGoBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		require.Equal(t, deployed.Name, t.outputs["Release"])
		require.Equal(t, deployed.Before, t.outputs["ReleaseBefore"])
	})
}
