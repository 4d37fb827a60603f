package replay_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/replay"
	"nexus/pkg/table/memory"
)

func TestState_showsTheOwnSumOfAProjection(t *testing.T) {
	t.Parallel()
	clock := func() time.Time { return noon }
	store := memory.New(clock, memory.Options{})
	words := projection.NewOwnSum("words", "w1", func(*entity.Type, item.Item) projection.Amounts {
		return projection.Amounts{Add: map[string]int64{"one": 1, "two": 2}, Max: map[string]string{"latest": "z"}}
	})
	typ := product.Note()
	note := typ.NewItem("ann", "note_1", item.Item{entity.AttrTitle: item.String("n")}, noon, nil)
	record := change.Change{
		Type: typ, User: "ann", Ref: typ.Ref(note), Key: note.Key(), New: note, Version: 1, Created: noon,
	}
	outcomes := projection.NewConsumer(words, store, clock).Apply(t.Context(), []change.Change{record})
	require.NoError(t, outcomes[0].Err)

	state, err := replay.View{Walker: store}.State(t.Context())
	require.NoError(t, err)
	require.Contains(t, state.String(), "sum ann words latest=z one=1 two=2\n")
	require.Contains(t, state.String(), "ledger ann words note_1 w1 ")

	state, err = replay.View{Walker: store, Users: map[string]bool{"bob": true}}.State(t.Context())
	require.NoError(t, err)
	require.Empty(t, state.String())
}
