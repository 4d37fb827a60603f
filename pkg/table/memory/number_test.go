package memory_test

import (
	"cmp"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nexus/pkg/item"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

func TestCanonical_storesNumbersInOneForm(t *testing.T) {
	t.Parallel()
	b := setup(t, memory.Options{})
	for given, want := range map[string]string{
		"0": "0", "-0": "0", "0.00": "0", "0e5": "0", "+7": "7", "007": "7", "1.50": "1.5", "-1.50": "-1.5", "1e3": "1000",
		"1.25E+2": "125", "1e-3": "0.001", "-12.5e-1": "-1.25", "100": "100", ".5": "0.5", "5.": "5",
		"12345678901234567890123456789012345678":   "12345678901234567890123456789012345678",
		"12345678901234567890123456789012345678.0": "12345678901234567890123456789012345678",
	} {
		b.put("a", item.Item{"n": item.Number(given), "list": item.List{item.Number(given)}, "set": item.NumberSet{given}})
		row, err := b.store.Get(b.ctx, noteKey("a"))
		b.NoError(err)
		b.Equal(note("a", item.Item{
			"n": item.Number(want), "list": item.List{item.Number(want)}, "set": item.NumberSet{want},
		}), row, given)
	}
	for _, n := range []string{
		"", "-", "+", ".", "e5", "1e", "1e+", "--1", "1-", "1 ", "0x1", "1e126", "1e-131", "1e999999", "1_0", "Inf",
	} {
		err := b.store.Put(b.ctx, table.Put{Item: note("a", item.Item{"n": item.Number(n)})})
		b.ErrorIs(err, table.ErrInvalid, n)
	}
	b.ErrorIs(b.store.Put(b.ctx, table.Put{Item: note("a", item.Item{"set": item.NumberSet{"1", "1.0"}})}),
		table.ErrInvalid)
}

func TestCompareNumbers_comparesByValue(t *testing.T) {
	t.Parallel()
	number := rapid.StringMatching(`-?[0-9]{1,6}(\.[0-9]{1,6})?(e-?[0-9])?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		store := memory.New(start, memory.Options{})
		require.NoError(t, store.Put(t.Context(), table.Put{Item: note("a", item.Item{"n": item.Number(a)})}))
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		holds := func(test table.Test) bool {
			return store.Transact(t.Context(), table.Check{Key: noteKey("a"), If: table.Exists(test)}) == nil
		}
		got := 1
		switch {
		case holds(table.Equal("n", item.Number(b))):
			got = 0
		case holds(table.Less("n", item.Number(b))):
			got = -1
		}
		require.Equal(t, x.Cmp(y), cmp.Compare(got, 0))
	})
}
