package verify_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/table"
	"nexus/pkg/verify"
)

// readings is a product's own sum whose ledger rows stand at the notes' bodies, which may be longer than a key.
func readings() *projection.Projection {
	return projection.NewOwnSum("readings", "r1", func(t *entity.Type, it item.Item) projection.Amounts {
		if t.Name != product.TypeNote {
			return projection.Amounts{}
		}
		return projection.Amounts{Add: map[string]int64{"notes": 1}, Open: it.Str(product.AttrBody)}
	})
}

func TestVerifier_namesAContributionThatNoRowCanHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, readings())
	for _, body := range []string{"one", "two"} {
		w.create(ann, product.TypeNote, map[string]any{"title": "t", "body": body})
	}
	require.True(t, w.drain())
	bad := w.create(ann, product.TypeNote, map[string]any{"title": "t", "body": strings.Repeat("x", 1025)})
	w.lose() // its record was parked
	sum := entity.SumKey(ann, "readings")
	row := w.get(sum).Clone() // an earlier release had counted it before it was refused
	row["sum"], row["sumVersion"] = item.Map{"notes": item.Int(3)}, item.Int(row.Int("sumVersion")+1)
	row["sumLast"] = item.Map{
		"item": bad["noteId"], "v": item.Int(1), "c": item.String(`r1 {"add":{"notes":1},"open":"` + bad.Str("body") + `"}`),
	}
	require.NoError(t, w.store.Put(t.Context(), table.Put{Item: row}))
	w.put(entity.LedgerKey(ann, "readings", "note_00000000-0000-4000-8000-000000000099"), item.Item{
		"v": item.Int(1), "c": item.String(`r1 {"add":{"notes":5}}`),
	})
	ledger := entity.LedgerKey(ann, "readings", bad.Str("noteId")).String()

	for range 2 {
		_, summary := w.verify(verify.Options{User: ann, Repair: true})
		require.EqualValues(t, 1, summary.Remaining)
		found, _ := w.verify(verify.Options{User: ann})
		require.Len(t, found, 1)
		require.Equal(t, []string{ledger, "no row"}, []string{found[0].Key, found[0].Is})
		require.Contains(t, found[0].ShouldBe, "key attribute GSI3SK is no string of 1 to 1024 bytes")
		require.EqualValues(t, 2, w.get(sum).Map("sum").Int("notes"))
		require.False(t, w.get(sum).Has("sumLast"))
	}

	w.do(ann, command.Update{Type: product.Note(), ID: bad.Str("noteId"), Patch: map[string]any{"body": "short"}}, 1)
	require.True(t, w.drain())
	require.EqualValues(t, 3, w.get(sum).Map("sum").Int("notes"))
	found, _ := w.verify(verify.Options{User: ann})
	require.Empty(t, found)
}
