package calendar_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/ical"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// Two components of different UIDs name one event: by its own UID, and by the UID made from its id.
func TestImporter_takesTheSecondComponentOfOneItemAfterTheFirst(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.imports(ann, text(vevent("u", starts, "SUMMARY:A")))
	id := ical.ID(product.Event().IDPrefix, ann, "u", 0)
	r := b.imports(ann, text(
		vevent("u", starts, "SUMMARY:B", "SEQUENCE:1"),
		vevent(product.ICalUID(id), starts, "SUMMARY:C", "SEQUENCE:2"),
		vevent("innocent", starts, "SUMMARY:D"),
	))
	b.Empty(r.Refused)
	b.Equal([]int{1, 2, 0}, []int{r.Created, r.Updated, r.Unchanged})
	b.Equal("C", b.item(product.Event(), "u", 0).Str(entity.AttrTitle))
	b.NotNil(b.item(product.Event(), "innocent", 0))

	r = b.imports(ann, text(
		vevent("u", starts, "SUMMARY:E", "SEQUENCE:3"),
		vevent(product.ICalUID(id), starts, "SUMMARY:C", "SEQUENCE:2"),
	))
	b.Len(r.Refused, 1, "it equals only the item before this text")
	b.Equal(1, r.Updated)
	b.Equal("E", b.item(product.Event(), "u", 0).Str(entity.AttrTitle))
}

// The first component makes the event that the second one names by its id.
func TestImporter_findsAnItemMadeByTheSameText(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := ical.ID(product.Event().IDPrefix, ann, "u", 0)
	file := text(
		vevent("u", starts, "SUMMARY:A"),
		vevent(product.ICalUID(id), starts, "SUMMARY:B", "SEQUENCE:1"),
	)
	r := b.imports(ann, file)
	b.Empty(r.Refused)
	b.Equal([]int{1, 1, 0}, []int{r.Created, r.Updated, r.Unchanged})
	b.Equal("B", b.item(product.Event(), "u", 0).Str(entity.AttrTitle))
	b.Nil(b.item(product.Event(), product.ICalUID(id), 0))
}

// The first component names by its id an event that only the second one makes. Both stay items of their own.
func TestImporter_changesNothingInASecondImportOfAnItemNamedBeforeItWasMade(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := ical.ID(product.Event().IDPrefix, ann, "u", 0)
	file := text(vevent(product.ICalUID(id), starts, "SUMMARY:A"), vevent("u", starts, "SUMMARY:B"))
	b.Equal(2, b.imports(ann, file).Created)
	before := b.rows()
	b.Equal(2, b.imports(ann, file).Unchanged)
	b.Equal(2, b.imports(ann, b.export(ann).Text).Unchanged)
	b.Equal(before, b.rows())

	b.remove(ann, product.Event(), ical.ID(product.Event().IDPrefix, ann, product.ICalUID(id), 0))
	b.Equal(1, b.imports(ann, text(vevent(product.ICalUID(id), starts, "SUMMARY:C", "SEQUENCE:1"))).Updated)
	b.Equal("C", b.item(product.Event(), "u", 0).Str(entity.AttrTitle), "no item of the UID is left")
}

// A series replaces an event that the next component names by its id.
func TestImporter_takesAComponentOfAnItemThatTheSameTextReplaces(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.imports(ann, text(vevent("u", starts, "SUMMARY:A")))
	id := ical.ID(product.Event().IDPrefix, ann, "u", 0)
	for _, last := range []string{"C", "A"} { // the event was stored with the summary A
		r := b.imports(ann, text(
			vevent("u", starts, daily, "SUMMARY:B", "SEQUENCE:1"),
			vevent(product.ICalUID(id), starts, "SUMMARY:"+last),
			vevent("innocent", starts, "SUMMARY:D"),
		))
		b.Empty(r.Refused)
		b.NotNil(b.item(product.Master(), "u", 0))
		b.Nil(b.item(product.Event(), "u", 0))
		b.Equal(last, b.item(product.Event(), product.ICalUID(id), 0).Str(entity.AttrTitle))
		b.NotNil(b.item(product.Event(), "innocent", 0))
		b = setup(t)
		b.imports(ann, text(vevent("u", starts, "SUMMARY:A")))
	}
}

// An item expired, its UID was imported again, and the archive brought it back. Two items have the UID.
func TestImporter_changesNothingByAnExportOfTwoLivesOfOneUID(t *testing.T) {
	t.Parallel()
	for n := range 6 { // either life may be the first by its id
		b := setup(t)
		uid := fmt.Sprint("u", n)
		b.imports(ann, text(vevent(uid, starts, "SUMMARY:A")))
		first := b.item(product.Event(), uid, 0)
		cold := entity.ColdKey(ann, first.Str(product.AttrEventID))
		b.put(cold.Item())
		b.NoError(b.store.Delete(t.Context(), table.Delete{Key: first.Key()}))
		b.advance(time.Hour)
		b.imports(ann, text(vevent(uid, starts, "SUMMARY:B", "SEQUENCE:1")))
		b.Contains(string(b.export(ann).Text), "UID:"+uid+"\r\n", "it is the only one")
		b.NoError(b.store.Delete(t.Context(), table.Delete{Key: cold}))
		b.put(first)
		before := b.rows()
		b.Equal(2, b.imports(ann, b.export(ann).Text).Unchanged)
		b.Equal(before, b.rows())
	}
}

// A series has at least one occurrence. So if EXDATE excludes all, the first is there, and cancelled by itself.
func TestImporter_showsNothingOfACancelledSeriesWithoutAnOccurrence(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"CONFIRMED", "CANCELLED"} {
		b := setup(t)
		file := text(vevent("u", starts, daily+";COUNT=1", strings.Replace(starts, "DTSTART", "EXDATE", 1), "STATUS:"+status))
		b.Equal(1, b.imports(ann, file).Created)
		rows := b.rows()
		b.Len(rows, 2)
		b.Contains(string(b.export(ann).Text), "EXDATE")
		b.Equal(1, b.imports(ann, b.export(ann).Text).Unchanged)
		b.Equal(rows, b.rows())
	}
}
