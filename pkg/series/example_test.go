package series_test

import (
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/series"
)

// A weekly series at nine in New York. Its second occurrence has a title of its own and is moved to Thursday.
func ExampleNew() {
	at := time.Date(2027, 2, 1, 9, 0, 0, 0, time.UTC)
	master := product.Master().NewItem("ann", "mst_1", item.Item{
		entity.AttrTitle: item.String("Standup"), product.AttrRRule: item.String("FREQ=WEEKLY;COUNT=3"),
		product.AttrStartUtc: item.String("2027-03-01T14:00:00Z"), product.AttrEndUtc: item.String("2027-03-01T14:30:00Z"),
		product.AttrStartTzid: item.String("America/New_York"),
	}, at, nil)
	moved := product.Instance().NewItem("ann", entity.InstanceID("mst_1", "20270308"), item.Item{
		entity.AttrTitle:     item.String("Standup, on Thursday"),
		product.AttrStartUtc: item.String("2027-03-11T20:00:00Z"), product.AttrEndUtc: item.String("2027-03-11T20:30:00Z"),
		product.AttrStartTzid: item.String("America/New_York"),
		product.AttrModifiedFields: item.List{
			item.String(entity.AttrTitle), item.String(product.AttrStartUtc), item.String(product.AttrEndUtc),
		},
	}, at, nil)
	standup, err := series.New(master, time.UTC, moved)
	if err != nil {
		fmt.Println(err)
		return
	}
	march := time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, o := range standup.Overlapping(march, march.AddDate(0, 1, 0)) {
		fmt.Println(o.Date, standup.Item(o).Str(entity.AttrTitle), "at", o.Start.Format(time.RFC3339))
	}
	// Output:
	// 20270301 Standup at 2027-03-01T14:00:00Z
	// 20270308 Standup, on Thursday at 2027-03-11T20:00:00Z
	// 20270315 Standup at 2027-03-15T13:00:00Z
}
