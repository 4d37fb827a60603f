package cost_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/cost"
)

func TestDefaultPriceList_canBeReplacedByItself(t *testing.T) {
	t.Parallel()
	list, err := cost.ParsePrices(cost.DefaultPriceList())
	require.NoError(t, err)
	require.Equal(t, cost.DefaultPrices(), list)
	require.NotEmpty(t, list.AsOf)
	require.NotEmpty(t, list.Source)
}

func TestParsePrices_refusesAnIncompleteList(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(map[string]any){
		"tableWrites": func(prices map[string]any) { delete(prices, "tableWrites") },
		"busEvents": func(prices map[string]any) {
			prices["busEvents"] = map[string]any{"price": 1, "per": 0, "unit": "events"}
		},
		"logs": func(prices map[string]any) { prices["logs"] = map[string]any{"price": -1, "per": 1, "unit": "GB"} },
		`"coffee" is`: func(prices map[string]any) {
			prices["coffee"] = map[string]any{"price": 3, "per": 1, "unit": "cups"}
		},
		`field "cost"`: func(prices map[string]any) { prices["alarms"] = map[string]any{"cost": 3} },
	} {
		var list map[string]any
		require.NoError(t, json.Unmarshal(cost.DefaultPriceList(), &list))
		spoil(list["prices"].(map[string]any))
		text, err := json.Marshal(list)
		require.NoError(t, err)
		_, err = cost.ParsePrices(text)
		require.ErrorIs(t, err, cost.ErrPrices)
		require.ErrorContains(t, err, name)
	}
}

func TestPrices_makeAnotherBillIfTheyDiffer(t *testing.T) {
	t.Parallel()
	month := replayed(t, 1, 3, 1)
	prices := cost.DefaultPrices()
	for name, p := range prices.Prices {
		p.Price, p.Free = 2*p.Price, 0
		prices.Prices[name] = p
	}
	_, whole := cost.NewBill(month, cost.DefaultPrices(), cost.When{}).Cost()
	paid, doubled := cost.NewBill(month, prices, cost.When{}).Cost()
	require.InEpsilon(t, 2*whole, doubled, 1e-9)
	require.InEpsilon(t, doubled, paid, 1e-9, "nothing is free")
}
