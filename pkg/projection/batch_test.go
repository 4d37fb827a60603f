package projection_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/projection"
)

// Records that ask for nothing stand before one that does: one of no item, and one that leaves its contribution as it
// was.
func TestConsumer_readsABatchToItsEnd(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]change.Change{
		"of no item": {}, "that changes nothing": retitled(titled("bob", "note_0", "same"), "same"),
	} {
		r := newRefusing(t)
		require.Equal(t, []change.Verdict{isDone, isDone}, r.apply(ahead, titled("ann", "note_1", "a")), name)
		require.EqualValues(t, 1, r.notes("ann"), name)
		require.Nil(t, r.sumRow("bob"), name)
	}
}

// A transaction takes a hundred actions: the sum and 99 ledger rows. Each that follows has the sum among its own, too.
func TestConsumer_fillsSeveralTransactionsWithABatchOfOneUser(t *testing.T) {
	t.Parallel()
	r := newRefusing(t)
	var batch []change.Change
	for i := range 250 {
		batch = append(batch, titled("ann", fmt.Sprintf("note_%d", i), "a"))
	}
	for i, verdict := range r.apply(batch...) {
		require.Equal(t, isDone, verdict, i)
	}
	require.EqualValues(t, len(batch), r.notes("ann"))
}

// Who reads a sum twice knows by its version that it changed in between.
func TestConsumer_raisesTheVersionOfASumWithEachWrite(t *testing.T) {
	t.Parallel()
	r := newRefusing(t)
	for i := range 3 {
		require.Equal(t, []change.Verdict{isDone}, r.apply(titled("ann", fmt.Sprintf("note_%d", i), "a")))
		require.EqualValues(t, i+1, r.sumRow("ann").Int("sumVersion"))
	}
}

func TestConsumer_keepsALedgerRowIfAnythingOfAnItemCounts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		amounts projection.Amounts
		counts  bool
	}{
		"nothing": {projection.Amounts{}, false},
		"nothing, in empty lists": {
			projection.Amounts{Add: map[string]int64{}, Max: map[string]string{}}, false,
		},
		"a number": {projection.Amounts{Add: map[string]int64{"n": 1}}, true},
		"a text":   {projection.Amounts{Max: map[string]string{"latest": "a"}}, true},
		"a place":  {projection.Amounts{Open: "a"}, true},
	} {
		r := newRefusing(t)
		sum := projection.NewOwnSum(openings, "o1", func(*entity.Type, item.Item) projection.Amounts { return c.amounts })
		r.consumer = projection.NewConsumer(sum, r.store, clock)
		note := titled("ann", "note_1", "a")
		require.Equal(t, []change.Verdict{isDone}, r.apply(note), name)
		require.Equal(t, []change.Verdict{isDone}, r.apply(titled("ann", "note_2", "a")), name)
		require.Equal(t, c.counts, r.ledger("ann", "note_1") != nil, name)
		require.Equal(t, c.counts, r.sumRow("ann") != nil, name)
	}
}

// A text of which the greatest counts has at most 1,024 bytes.
func TestSum_takesTheLongestTextOfWhichTheGreatestCounts(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int]change.Verdict{1024: isDone, 1025: isPoison} {
		r := newRefusing(t)
		note := titled("ann", "note_1", "a")
		note.New[product.AttrBody] = item.String(strings.Repeat("x", bytes))
		require.Equal(t, []change.Verdict{want}, r.apply(note), bytes)
		require.Equal(t, want == isDone, r.sumRow("ann") != nil)
	}
}
