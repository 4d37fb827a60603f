package cost_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/cost"
)

// ofMonths has dollars in month 1, 12 and 24.
type ofMonths [3]float64

// outward has each line of what leaves the stream, in dollars before what is free of charge.
var outward = map[string]ofMonths{
	"command writes, table":     {0.22, 0.22, 0.22}, // devices that are renewed
	"command reads":             {0.04, 0.04, 0.04},
	"deliver writes, table":     {1.29, 1.29, 1.29},
	"deliver reads":             {0.19, 0.19, 0.19},
	"messages to push services": {0.43, 0.43, 0.43},

	"webhooks, invocations of deliver": {0.18, 0.18, 0.18},
	"webhooks, time":                   {0.60, 0.60, 0.60},
	"webhooks, logs":                   {0.13, 0.13, 0.13},
	"webhooks reads, for each change":  {1.44, 1.44, 1.44},
	"webhooks writes, table":           {2.81, 2.81, 2.81},
	"webhooks reads":                   {0.68, 0.68, 0.68},
	"webhooks, storage":                {0.10, 0.10, 0.10},
	"webhooks, calls by the scheduler": {0.45, 0.45, 0.45},
	"webhooks, messages sent":          {0.19, 0.19, 0.19},

	"searches, reads of what has changed": {1.30, 1.30, 1.30},
	"searches, reads of all items":        {0.13, 1.54, 3.08},
	"snapshots of indexes, listed":        {1.00, 1.00, 1.00},
	"snapshots of indexes, put":           {0.33, 0.33, 0.33},
	"snapshots of indexes, storage":       {0.12, 1.47, 2.93},
	"searches, requests":                  {0.20, 0.20, 0.20},
	"searches, time":                      {0.27, 0.27, 0.27},

	"insights writes, table":           {0.19, 0.19, 0.19},
	"insights writes, GSI3-TaskStatus": {0.19, 0.19, 0.19},
}

// What leaves the stream, at the 10,000 users of the document: each line, then each part with all that it takes.
func TestBill_tellsWithinSixteenDollars(t *testing.T) {
	t.Parallel()
	const (
		// other has what no line below shows of these parts (docs/cost.md): storage and recovery of what is told on devices,
		// and the alarms.
		other = 0.45 + 0.70
		near  = 0.02
	)
	parts := map[string]ofMonths{
		"reminders": {4.33, 4.33, 4.33}, "webhooks": {6.57, 6.57, 6.57}, "searches": {3.35, 6.11, 9.11},
		"insights": {0.43, 1.06, 1.75},
	}
	month := replayed(t, 1, 30, 2)
	for i, n := range []int{1, 12, 24} {
		bill := cost.NewBill(month, cost.DefaultPrices(), cost.When{Month: n})
		lines, got := map[string]float64{}, map[string]float64{"insights": bill.Growth[i].Insights}
		for _, part := range bill.Parts() {
			isOutward := part.Name == bill.Pushes.Name || part.Name == bill.Webhooks.Name || part.Name == bill.Searches.Name
			for _, l := range part.Lines {
				isInsights := strings.HasPrefix(l.What, "insights ")
				if isInsights {
					got["insights"] += l.Whole
				}
				if isOutward || isInsights || l.What == "messages to push services" {
					lines[l.What] += l.Whole
				}
			}
		}
		require.InDeltaMapValues(t, at(outward, i), lines, near, "month %d", n)
		_, got["webhooks"] = bill.Webhooks.Cost()
		_, got["searches"] = bill.Searches.Cost()
		of := map[string]cost.ActivityCost{}
		for _, a := range bill.ByActivity {
			of[a.Name] = a
		}
		notified, plain := of["complete a reminder on its notification"], of["complete a reminder"]
		got["reminders"] = of["remind on devices"].Cost + of["renew a device"].Cost +
			notified.Cost - plain.Cost/plain.Times*notified.Times
		require.InDeltaMapValues(t, at(parts, i), got, near, "month %d", n)
		if n == 1 {
			require.Less(t, got["reminders"]+got["webhooks"]+got["searches"]+got["insights"]+other, 16.0)
		}
	}
}

func at(all map[string]ofMonths, i int) map[string]float64 {
	out := map[string]float64{}
	for what, months := range all {
		out[what] = months[i]
	}
	return out
}
