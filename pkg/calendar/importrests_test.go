package calendar_test

import (
	"strings"
	"testing"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// manyExceptions is a series of the UID with more exceptions than one transaction deletes, each with a KEPT row.
func manyExceptions(uid string) []byte {
	parts := []string{vevent(uid, "DTSTART:20251210T090000Z", daily, "SUMMARY:Series", "SEQUENCE:7")}
	for n := range 30 {
		at := noon.AddDate(0, 0, 20+n).Format("20060102")
		parts = append(parts, vevent(uid, "RECURRENCE-ID:"+at+"T090000Z", "DTSTART:"+at+"T110000Z", "SUMMARY:Series",
			"SEQUENCE:7", "X-KEPT:"+at))
	}
	return text(parts...)
}

// instanceRows counts the rows of occurrences and of the text beside them.
func (b *fixture) instanceRows() (n int) {
	for key := range b.rows() {
		if strings.Contains(key, entity.TypeInstance) {
			n++
		}
	}
	return n
}

// A series with many exceptions became an event elsewhere. The program dies after any of the import's calls, and the
// client imports the text again.
func TestImporter_deletesTheExceptionsOfAReplacedSeriesByRepetition(t *testing.T) {
	t.Parallel()
	for name, uidOf := range map[string]func(b *fixture) string{
		"imported": func(*fixture) string { return "s" },
		"imported again": func(b *fixture) string {
			b.imports(ann, text(vevent("s", starts, daily, "SUMMARY:x")))
			master := b.item(product.Master(), "s", 0)
			version := master.Int(entity.AttrVersion)
			_, err := b.commands.Do(b.t.Context(), command.Request{
				User: ann, ExpectedVersion: &version, Command: command.DeleteSeries{ID: master.Str(product.AttrMasterID)},
			})
			b.NoError(err)
			return "s"
		},
		"named by its id": func(b *fixture) string {
			b.imports(ann, text(vevent("s", starts, daily, "SUMMARY:x")))
			return product.ICalUID(b.item(product.Master(), "s", 0).Str(product.AttrMasterID))
		},
		"once an event": func(b *fixture) string {
			return b.promote(b.create(ann, product.Event(), event())).Str(product.AttrICalUID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n, died := 0, true; died; n++ {
				b := setupFaulty(t)
				uid := uidOf(b)
				r := b.imports(ann, manyExceptions(uid))
				b.Equal(60, b.instanceRows(), "%+v", r)
				single := text(vevent(uid, "DTSTART:20251210T090000Z", "SUMMARY:Event", "SEQUENCE:8"))
				calls := 0
				b.fault = func(c memory.Call) error {
					if c.Stage == memory.After {
						if calls++; calls > n {
							return table.ErrUnavailable
						}
					}
					return nil
				}
				_, _, err := b.importer.Import(t.Context(), ann, single, "")
				b.fault = nil
				died = err != nil
				r = b.imports(ann, single)
				b.Empty(r.Refused)
				b.Equal(1, r.Created+r.Unchanged)
				b.Zero(b.instanceRows(), "dead after call %d", n)
				before := b.rows()
				b.Equal(1, b.imports(ann, single).Unchanged)
				b.Equal(before, b.rows())
			}
		})
	}
}
