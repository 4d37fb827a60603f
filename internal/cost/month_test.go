package cost_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/cost"
	"nexus/pkg/table"
)

// replayed is a month of a few users of the document's load, or so many days of it.
func replayed(t *testing.T, users, days int, seed uint64) *cost.Month {
	t.Helper()
	load := cost.DocumentLoad()
	load.Days = days
	month, err := cost.Replay(t.Context(), cost.Options{
		Load: load, Model: cost.DefaultModel(), Scale: float64(users) / float64(load.Users), Seed: seed,
	})
	require.NoError(t, err)
	require.Equal(t, users, month.Users)
	return month
}

// What one of everything costs at the table, in units read and written: pinned, because it is the bill.
func TestActivity_costsTheUnitsThatArePinned(t *testing.T) {
	t.Parallel()
	type one struct {
		times         int // of a user, in a month
		reads, writes float64
	}
	// Statistics read two rows for each change, and for half a unit the row of the change before, which there is from the
	// second on. The change log takes one read and one write for each change, two where an item becomes final and then
	// lapses. The read also says whether an app is open. The fence reads half a unit for each request, and for what each
	// reader gets.
	want := map[string]one{
		"create an event":                         {240, 5.5, 6},
		"create a series":                         {30, 5.0, 8},
		"change an occurrence":                    {30, 5.5, 10},
		"create a task":                           {150, 5.0, 6.6},
		"create a reminder":                       {90, 9.0, 5},
		"create a note":                           {30, 5.0, 6},
		"create a note, linked":                   {30, 6.0, 11},
		"retitle an event":                        {15, 7.5, 3},
		"move an event":                           {15, 6.0, 8},
		"start a task":                            {15, 3.5, 4},
		"edit a note":                             {15, 3.5, 5},
		"complete a task":                         {30, 7.0, 9},
		"archive a task":                          {30, 4.5, 10},
		"let a task expire":                       {30, 4.5, 3},
		"remind of an event":                      {30, 6.5, 5},
		"remind of a reminder":                    {90, 13.5, 10},
		"complete a reminder":                     {12, 10.5, 8},
		"complete a reminder on its notification": {18, 12.5, 12},
		"remind on devices":                       {120, 1.8, 214.0 / 120},
		"renew a device":                          {36, 1.5, 1},
		"let a reminder expire":                   {30, 4.5, 3},
		"cancel an event":                         {3, 8.0, 12},
		"delete an event":                         {3, 5.0, 9},
		"look at a day's agenda":                  {90, 11, 0},
		"look at a week's agenda":                 {60, 22.1, 0},
		"look at a task":                          {120, 1.5, 0},
		"look at a column":                        {40, 1, 0},
		"look at the board":                       {20, 5.4, 0},
		"look at notes":                           {30, 3.5, 0},
		"look at oneself":                         {20, 1.5, 0},
		"look at statistics":                      {10, 6.7, 0},
		"look at backlinks":                       {10, 2.5, 0},
		"open an app":                             {60, 0.5, 1},
	}
	const users = 1
	month := replayed(t, users, 30, 1)
	seen := map[string]bool{}
	for _, taken := range month.Taken {
		w, ok := want[taken.Name]
		require.True(t, ok, taken.Name)
		seen[taken.Name] = true
		u, n := taken.Units(), float64(taken.Times)
		near := 0.0
		if taken.Group == cost.Reads || taken.Name == "create a note" || taken.Name == "create a note, linked" {
			near = 6 // there may be no task yet to look at or to link to
		}
		require.InDelta(t, w.times*users, taken.Times, near, taken.Name)
		require.InDelta(t, w.reads, u.ReadUnits/n, 0.2+0.05*w.reads, "reads of %q", taken.Name)
		require.InDelta(t, w.writes, u.WriteUnits()/n, 0.001, "writes of %q", taken.Name)
	}
	require.Len(t, seen, len(want))
}

// The document's load has no webhooks. What they cost besides is pinned by [TestBill_hasWebhooks].
func TestBill_isBelowTheDocumentsAndBelowAHundredDollarsWithoutWebhooks(t *testing.T) {
	t.Parallel()
	month := replayed(t, 1, 30, 2)
	month.Load.WebhookUsers = 0
	bill := cost.NewBill(month, cost.DefaultPrices(), cost.When{})
	_, table := bill.Table.Cost()
	require.Less(t, table, bill.Table.Claimed, "like for like, before anything that is free")
	paid, whole := bill.Cost()
	require.Less(t, paid, 100.0)
	require.Greater(t, whole, paid)
}

func TestBill_growsInAllLinesWithTheUsers(t *testing.T) {
	t.Parallel()
	few, many := cost.NewBill(replayed(t, 2, 6, 3), cost.DefaultPrices(), cost.When{}),
		cost.NewBill(replayed(t, 6, 6, 3), cost.DefaultPrices(), cost.When{})
	for _, pair := range [][2]cost.Part{
		{few.Table, many.Table}, {few.LifeCycle, many.LifeCycle}, {few.Devices, many.Devices},
		{few.Pushes, many.Pushes}, {few.Webhooks, many.Webhooks}, {few.Rest, many.Rest},
	} {
		require.Len(t, pair[1].Lines, len(pair[0].Lines))
		for i, a := range pair[0].Lines {
			b := pair[1].Lines[i]
			require.Equal(t, a.What, b.What)
			require.InEpsilon(t, a.Quantity, b.Quantity, 0.1, a.What)
		}
	}
}

func TestReplay_givesTheSameMonthForTheSameSeed(t *testing.T) {
	t.Parallel()
	text := func(seed uint64) string {
		out, err := json.Marshal(replayed(t, 1, 3, seed))
		require.NoError(t, err)
		return string(out)
	}
	require.Equal(t, text(5), text(5))
	require.NotEqual(t, text(5), text(6))
}

func TestReplay_endsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	days := 0
	_, err := cost.Replay(ctx, cost.Options{
		Load: cost.DocumentLoad(), Model: cost.DefaultModel(), Scale: 0.0001, Seed: 1, Progress: func(done, _ int) {
			if days = done; done == 3 {
				cancel()
			}
		},
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 3, days)
}

func TestReplay_refusesAScaleThatMakesNoSense(t *testing.T) {
	t.Parallel()
	for _, scale := range []float64{0, -1, 1.5} {
		_, err := cost.Replay(t.Context(), cost.Options{Load: cost.DocumentLoad(), Model: cost.DefaultModel(), Scale: scale})
		require.ErrorIs(t, err, cost.ErrOptions)
	}
}

// The places of the like-for-like units are all of them, at both price lists.
func TestBill_knowsWhereEachUnitGoes(t *testing.T) {
	t.Parallel()
	bill := cost.NewBill(replayed(t, 1, 30, 4), cost.DefaultPrices(), cost.When{})
	_, table := bill.Table.Cost()
	writes, reads, storage := 0.0, 0.0, 0.0
	for _, l := range bill.Table.Lines {
		switch l.Price {
		case "tableWrites":
			writes += l.Quantity
		case "tableReads":
			reads += l.Quantity
		default:
			storage += l.Whole
		}
	}
	whole, bounds := 0.0, map[string]float64{}
	for _, p := range bill.Places {
		require.GreaterOrEqual(t, p.WriteUnits, 0.0, p.What)
		require.GreaterOrEqual(t, p.ReadUnits, 0.0, p.What)
		whole += p.Whole
		bounds[p.Bound] = p.Sum
		writes, reads = writes-p.WriteUnits, reads-p.ReadUnits
	}
	require.InDelta(t, 0, writes, 1)
	require.InDelta(t, 0, reads, 1)
	require.InEpsilon(t, table, whole, 1e-9)
	require.Greater(t, bounds["sum"], bill.Table.Claimed, "at its own prices")
	require.Greater(t, bounds["exact"], bounds["sum"])
	require.Greater(t, bill.Places[len(bill.Places)-1].Sum, bounds["exact"])
}

// Storage and recovery grow by what a month leaves for good, and a table for infrequent access pays from some month on.
func TestBill_growsWithTheMonths(t *testing.T) {
	t.Parallel()
	month := replayed(t, 1, 30, 5)
	bill := cost.NewBill(month, cost.DefaultPrices(), cost.When{})
	first, year, second := bill.Growth[0], bill.Growth[1], bill.Growth[2]
	_, whole := bill.Cost()
	require.InEpsilon(t, whole, first.Whole, 1e-9)
	for _, one := range [][2]float64{
		{first.GB, year.GB}, {first.Storage, year.Storage}, {first.Recovery, year.Recovery}, {first.Whole, year.Whole},
	} {
		require.Greater(t, one[1], one[0])
		require.Less(t, one[1], 12*one[0], "rows with a ttl do not stay")
	}
	require.InEpsilon(t, second.GB-year.GB, 12*(year.GB-first.GB)/11, 0.15, "by as much each year")
	require.Less(t, first.Whole, first.InfrequentWhole)
	require.Less(t, year.InfrequentWhole, year.Whole)
	_, later := cost.NewBill(month, cost.DefaultPrices(), cost.When{Month: 12, Infrequent: true}).Cost()
	require.InEpsilon(t, year.InfrequentWhole, later, 1e-9)
}

// Reached directly, the functions save what the HTTP API takes for all requests but those for the addresses.
func TestBill_saysWhatEachDoorCosts(t *testing.T) {
	t.Parallel()
	bill := cost.NewBill(replayed(t, 1, 30, 7), cost.DefaultPrices(), cost.When{})
	paid, whole := bill.Cost()
	require.Len(t, bill.Doors, 2)
	gateway, direct := bill.Doors[0], bill.Doors[1]
	require.Equal(t, "gateway", gateway.Door)
	require.InEpsilon(t, whole, gateway.Whole, 1e-9)
	require.InEpsilon(t, paid, gateway.Cost, 1e-9)
	const (
		addresses = 0.6 + 0.12 // 600,000 apps that open: a request each, and an invocation
		watched   = 0.7        // seven metrics more in alarms
	)
	requests := 0.0
	for _, l := range bill.Rest.Lines {
		if l.What == "requests to the HTTP API" {
			requests = l.Whole
		}
	}
	require.InDelta(t, gateway.Whole-requests+addresses+watched, direct.Whole, 0.05)
	require.Equal(t, "direct", direct.Door)
	require.InDelta(t, gateway.Whole-gateway.Alone, direct.Whole-direct.Alone, 1e-9, "the same lines are left out")
	require.Greater(t, gateway.Whole-gateway.Alone, 10.0)
}

func TestBill_saysWhatWouldLowerItAndWhatThatCosts(t *testing.T) {
	t.Parallel()
	bill := cost.NewBill(replayed(t, 1, 30, 6), cost.DefaultPrices(), cost.When{})
	_, whole := bill.Cost()
	for _, f := range bill.Further {
		require.Positive(t, f.Saves, f.What)
		require.Less(t, f.Saves, whole/3, f.What)
		require.NotEmpty(t, f.Costs)
	}
}

// The edge is a part of its own, and all else of the bill is as without it but for the way of the answers.
func TestBill_hasTheEdgeWhereItIsAskedFor(t *testing.T) {
	t.Parallel()
	month := replayed(t, 1, 3, 7)
	without := cost.NewBill(month, cost.DefaultPrices(), cost.When{})
	with := cost.NewBill(month, cost.DefaultPrices(), cost.When{Edge: true})
	require.Nil(t, without.Edge)
	requests, isThere := 0.0, false
	for i, l := range without.Rest.Lines {
		switch l.What {
		case "requests to the HTTP API", "canary, requests":
			requests += l.Quantity
		case "answers to clients":
			isThere = true
			require.Equal(t, l.Quantity, with.Rest.Lines[i].Quantity)
			require.Less(t, with.Rest.Lines[i].Whole, l.Whole)
			l = with.Rest.Lines[i]
		}
		require.Equal(t, l, with.Rest.Lines[i])
	}
	require.True(t, isThere)
	quantities := map[string]float64{}
	for _, l := range with.Edge.Lines {
		quantities[l.Price] = l.Quantity
	}
	require.Equal(t, map[string]float64{
		"edgeRequests": requests, "webACLs": 1, "webRules": 3, "webRequests": requests,
	}, quantities)
	_, edge := with.Edge.Cost()
	require.InEpsilon(t, 5+3+requests*1.6/1e6, edge, 1e-9)
	require.Len(t, with.Parts(), len(without.Parts())+1)
	_, whole := with.Cost()
	require.InEpsilon(t, whole, with.Growth[0].Whole, 1e-9)
	for i, a := range with.ByActivity {
		require.Equal(t, without.ByActivity[i].Table, a.Table, a.Name)
		isAsked := a.Name != "archive a task" && !strings.HasPrefix(a.Name, "let a") && !strings.HasPrefix(a.Name, "remind")
		require.Equal(t, isAsked, a.Cost > without.ByActivity[i].Cost, "%s: users ask for it, so it passes", a.Name)
	}
}

// With one replica the writes double. Nothing else of the bill changes, and each further replica costs as much.
func TestBill_writesOnceMoreForEachReplica(t *testing.T) {
	t.Parallel()
	month := replayed(t, 1, 10, 8)
	bills := make([]cost.Bill, 3)
	for n := range bills {
		bills[n] = cost.NewBill(month, cost.DefaultPrices(), cost.When{Replicas: n})
	}
	require.Nil(t, bills[0].Replicas)
	require.Equal(t, append(bills[0].Parts(), *bills[1].Replicas), bills[1].Parts())
	written := map[string]float64{} // by table and index
	for _, part := range bills[0].Parts() {
		for _, l := range part.Lines {
			if l.Price == "tableWrites" {
				_, of, isNamed := strings.Cut(l.What, " writes, ")
				if !isNamed {
					require.Equal(t, "canary, what its requests change", l.What)
					of = "table"
				}
				written["writes again, "+of] += l.Quantity
			}
		}
	}
	require.Len(t, written, 5, "the table and four indexes")
	lines := map[string]cost.Line{}
	for i, l := range bills[1].Replicas.Lines {
		lines[l.What] = l
		require.Equal(t, l.Whole, l.Cost, l.What)
		require.InEpsilon(t, 2*l.Quantity, bills[2].Replicas.Lines[i].Quantity, 1e-9, l.What)
		if strings.HasPrefix(l.What, "writes again") {
			require.InEpsilon(t, written[l.What], l.Quantity, 1e-9, l.What)
			require.InEpsilon(t, l.Quantity*0.625/1e6, l.Cost, 1e-9, l.What)
		}
	}
	require.Len(t, lines, len(written)+4)
	require.Equal(t, "writes again, table", bills[1].Replicas.Lines[0].What)
	storage := bills[0].Table.Lines[len(bills[0].Table.Lines)-1]
	require.InEpsilon(t, storage.Quantity, lines["storage"].Quantity, 1e-9)
	require.Greater(t, lines["storage"].Cost, storage.Cost, "nothing is free there")
	require.InEpsilon(t, written["writes again, table"]/(1<<20), lines["transfer between regions"].Quantity, 1e-9)
	_, whole := bills[2].Cost()
	require.InEpsilon(t, whole, bills[2].Growth[0].Whole, 1e-9)
	for i, a := range bills[1].ByActivity {
		before := bills[0].ByActivity[i]
		require.InDelta(t, before.WriteUnits*before.Times*0.625/1e6, a.Cost-before.Cost, 1e-9, a.Name)
	}
}

// Twice as many days leave twice as much to TTL: tasks and reminders that ended, and rows of change logs.
func TestReplay_countsWhatTTLRemovesInTheEnd(t *testing.T) {
	t.Parallel()
	few, many := replayed(t, 1, 10, 9).Removed, replayed(t, 1, 20, 9).Removed
	for _, index := range []table.Index{table.Base, table.YearView, table.StateView} {
		require.Positive(t, few[index], index)
		require.InEpsilon(t, 2*few[index], many[index], 0.2, index)
		require.LessOrEqual(t, few[index], few[table.Base])
	}
	require.Zero(t, few[table.CrossLinks], "no link expires")
}

// What 500 users with 30 events a day are told, and what all others' changes ask.
func TestBill_hasWebhooks(t *testing.T) {
	t.Parallel()
	month := replayed(t, 1, 30, 2)
	_, whole := cost.NewBill(month, cost.DefaultPrices(), cost.When{}).Webhooks.Cost()
	require.InDelta(t, 6.57, whole, 0.1)
	month.Load.WebhookUsers = 0
	_, without := cost.NewBill(month, cost.DefaultPrices(), cost.When{}).Webhooks.Cost()
	require.InDelta(t, 1.7, without, 0.2)
}
