package change_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
)

// oneByOne takes one change of an item in a call.
type oneByOne struct{ calls int }

func (*oneByOne) Name() string { return "one" }

func (c *oneByOne) Apply(_ context.Context, batch []change.Change) []change.Outcome {
	c.calls++
	return make([]change.Outcome, len(batch))
}

// several takes several changes of an item in a call.
type several struct{ oneByOne }

func (*several) AcceptsBatches() {}

func TestWrap_acceptsBatchesIfItsConsumerDoes(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		consumer change.Consumer
		accepts  bool
	}{{&oneByOne{}, false}, {&several{}, true}} {
		wrapped := change.Wrap(of.consumer, func(context.Context, []change.Change) []change.Outcome {
			return []change.Outcome{{Already: true}}
		})
		_, accepts := wrapped.(change.BatchConsumer)
		require.Equal(t, of.accepts, accepts)
		require.Equal(t, "one", wrapped.Name())
		require.Equal(t, []change.Outcome{{Already: true}}, wrapped.Apply(t.Context(), make([]change.Change, 1)))
	}
}
