package projection_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/links"
	"nexus/pkg/product"
	"nexus/pkg/projection"
)

// byLatest counts notes, and knows the greatest of their titles.
func byLatest(_ *entity.Type, it item.Item) projection.Amounts {
	title := it.Str(entity.AttrTitle)
	return projection.Amounts{Add: map[string]int64{"notes": 1}, Max: map[string]string{"latest": title}, Open: title}
}

// tallied is a user with two notes that were counted.
func tallied(t *testing.T) (r *refusing, sum *projection.Projection, rows []item.Item) {
	r = newRefusing(t)
	sum = projection.NewOwnSum(openings, "o1", byLatest)
	r.consumer = projection.NewConsumer(sum, r.store, clock)
	require.Equal(t, []change.Verdict{isDone, isDone}, r.apply(titled("ann", "note_1", "a"), titled("ann", "note_2", "b")))
	return r, sum, []item.Item{r.ledger("ann", "note_1"), r.ledger("ann", "note_2")}
}

// said are faults as an operator reads them.
func said(faults []projection.Fault) (out []string) {
	for _, f := range faults {
		out = append(out, fmt.Sprintf("%s is %q, not %q", f.Key.SK, f.Is, f.Want))
	}
	return out
}

func TestCheck_showsALedgerRowAsItIsAndShouldBe(t *testing.T) {
	t.Parallel()
	_, sum, rows := tallied(t)
	note := titled("ann", "note_1", "a")
	e := projection.Evidence{User: "ann", Type: product.Note(), Ref: note.Ref, Item: note.New, Ledger: rows[0]}
	const name = `LEDGER#openings#note_1 is %q, not %q`
	const a, b = `o1 {"add":{"notes":1},"max":{"latest":"a"},"open":"a"}, at a`,
		`o1 {"add":{"notes":1},"max":{"latest":"b"},"open":"b"}, at b`
	with := func(change func(*projection.Evidence)) []string {
		e := e
		change(&e)
		return said(sum.Check(e))
	}
	require.Empty(t, with(func(*projection.Evidence) {}))
	require.Empty(t, with(func(e *projection.Evidence) { e.Item, e.Ledger = nil, nil }), "a tombstone that has gone")
	require.Equal(t, []string{fmt.Sprintf(name, "no row", a)}, with(func(e *projection.Evidence) { e.Ledger = nil }))
	require.Equal(t, []string{fmt.Sprintf(name, a, "nothing, expires")},
		with(func(e *projection.Evidence) { e.Item = nil }))
	require.Equal(t, []string{fmt.Sprintf(name, b, a)}, with(func(e *projection.Evidence) { e.Ledger = rows[1] }))
	tooLong := titled("ann", "note_1", lengthy).New
	found := with(func(e *projection.Evidence) { e.Item = tooLong })
	require.Len(t, found, 1)
	require.Contains(t, found[0], `not "contribution of `)

	require.True(t, sum.Contributes(product.Note(), note.New))
	require.False(t, sum.Contributes(product.Note(), nil))
}

func TestCheckRows_namesMissingSurplusAndWrongRows(t *testing.T) {
	t.Parallel()
	note := life("note_1", "one a b")[0]
	key := func(target string) string { return linkRow(target).Key().SK }
	wrong := linkRow("b")
	wrong["x"] = item.Int(7)
	ledger := entity.LedgerKey("ann", links.Name, "note_1").Item()
	ledger["v"], ledger["c"] = item.Int(1), item.String("l1 TASK/a\nTASK/b")
	e := projection.Evidence{User: "ann", Type: product.Note(), Ref: note.Ref, Item: note.New, Ledger: ledger}
	e.Rows = []item.Item{linkRow("a"), linkRow("b")}
	require.Empty(t, links.Projection().Check(e))
	e.Rows = []item.Item{wrong, linkRow("c")}
	found := links.Projection().Check(e)
	require.Len(t, found, 3)
	require.Equal(t, []string{key("b"), key("c"), key("a")}, []string{found[0].Key.SK, found[1].Key.SK, found[2].Key.SK})
	const stored = "GSI4PK=LINKED#ann#TASK#b GSI4SK=NOTE#note_1"
	require.Equal(t, [2]string{stored + " x=7", stored}, [2]string{found[0].Is, found[0].Want})
	require.Equal(t, [2]string{"there", "no row"}, [2]string{found[1].Is, found[1].Want})
	require.Equal(t, [2]string{"no row", "there"}, [2]string{found[2].Is, found[2].Want})
	require.True(t, found[0].IsAlike(projection.Fault{Key: found[0].Key}))
	require.False(t, found[0].IsAlike(found[1]), "another row")
}

func TestTally_findsEachWrongNumberAndText(t *testing.T) {
	t.Parallel()
	r, sum, rows := tallied(t)
	check := func(spoil item.Map) []projection.Fault {
		row := r.sumRow("ann")
		if row = row.Clone(); spoil != nil {
			row["sum"] = spoil
		}
		tally := sum.TallyUnder("ann", row)
		for _, row := range rows {
			tally.Add(row)
		}
		return tally.Check("ann", row, r.now)
	}
	require.Empty(t, check(nil))
	found := check(item.Map{"latest": item.String("a"), "other": item.Int(1)})
	require.Equal(t, []string{
		`SUM#openings is "latest a", not "latest b"`, `SUM#openings is "no notes", not "notes 2"`,
		`SUM#openings is "other 1", not "no other"`,
	}, said(found))
	require.False(t, found[0].IsAlike(found[1]), "another number")
}

// While the pending entry stands in the sum's row alone, it counts in the place of its ledger row.
func TestTally_countsAPendingEntryInPlaceOfItsRow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ add, other bool }{
		"its row is missing": {}, "its row is behind": {add: true}, "another row comes": {other: true}, "both": {true, true},
	} {
		r := newRefusing(t)
		sum := projection.NewOwnSum(openings, "o1", byLatest)
		r.consumer = projection.NewConsumer(sum, r.store, clock)
		require.Equal(t, []change.Verdict{isDone}, r.apply(titled("ann", "note_2", "b")))
		require.Equal(t, []change.Verdict{isDone}, r.apply(titled("ann", "note_1", "a")))
		total := int64(1)
		tally := sum.TallyUnder("ann", r.sumRow("ann"))
		if c.add { // the row is a version before the entry
			behind := r.ledger("ann", "note_1").Clone()
			behind["v"] = item.Int(0)
			tally.Add(behind)
		}
		if c.other {
			total++
			tally.Add(r.ledger("ann", "note_2"))
		}
		row := r.sumRow("ann").Clone()
		row["sum"] = item.Map{"notes": item.Int(total), "latest": item.String("b")}
		require.Empty(t, said(tally.Check("ann", row, r.now)), name)
	}
}

// A sum that is written while its rows are added up is wrong where so many writes cannot have moved it so far.
func TestCheckMoving_findsASumBeyondTheReachOfItsWrites(t *testing.T) {
	t.Parallel()
	r, sum, rows := tallied(t)
	rows[0] = rows[0].Clone()
	rows[0]["c"] = item.String(`o1 {"add":{"notes":3},"max":{"latest":"a"}}`)
	moving := func(notes, writes int64, latest string) []string {
		before, after := r.sumRow("ann").Clone(), r.sumRow("ann").Clone()
		before["sum"] = item.Map{"notes": item.Int(notes), "latest": item.String("b")}
		after["sum"] = item.Map{"notes": item.Int(2), "latest": item.String(latest)}
		after["sumVersion"] = item.Int(before.Int("sumVersion") + writes)
		require.Equal(t, writes != 0, sum.Moved(before, after))
		tally := sum.NewTally()
		for _, row := range rows {
			tally.Add(row)
		}
		return said(tally.CheckMoving("ann", before, after))
	}
	// A write has 99 ledger rows beside the sum, and each row of this user adds 3 at most.
	for _, notes := range []int64{4, 4 + 2*99*3, 4 - 2*99*3} {
		require.Empty(t, moving(notes, 2, "b"), notes)
	}
	const wrong = `SUM#openings is "notes 2", not "notes about 4"`
	for _, notes := range []int64{4 + 2*99*3 + 1, 4 - 2*99*3 - 1} {
		require.Equal(t, []string{wrong}, moving(notes, 2, "b"), notes)
	}
	require.Equal(t, []string{`SUM#openings is "latest a", not "latest b"`}, moving(4, 1, "a"))
	require.Equal(t, []string{wrong}, moving(5, 0, "b"))
	require.Empty(t, moving(4, 0, "b"))
}

// A row may take away from a number: what it adds counts by its size, the sign aside.
func TestTally_letsAMovingSumLeaveByWhatItsRowsTakeAway(t *testing.T) {
	t.Parallel()
	r, sum, rows := tallied(t)
	rows[0] = rows[0].Clone()
	rows[0]["c"] = item.String(`o1 {"add":{"notes":-3}}`)
	for off, want := range map[int64]int{99 * 3: 0, -99 * 3: 0, 99*3 + 1: 1, -99*3 - 1: 1} {
		before, after := r.sumRow("ann").Clone(), r.sumRow("ann").Clone()
		tally := sum.NewTally()
		for _, row := range rows {
			tally.Add(row)
		}
		before["sum"] = item.Map{"notes": item.Int(1 - 3 + off), "latest": item.String("b")}
		after["sum"], after["sumVersion"] = before["sum"], item.Int(before.Int("sumVersion")+1)
		require.Len(t, tally.CheckMoving("ann", before, after), want, off)
	}
}
