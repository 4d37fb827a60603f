package tabletest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// A series and its exceptions are meaningful only together. These rules keep their rows consistent.

// shapingFields are the fields of a series that decide which dates it has, and so which exceptions are valid.
func shapingFields() []string {
	return append(product.SpanFields(), product.AttrRRule, product.AttrRRuleUntil, product.AttrExDate, product.AttrRDate)
}

// counted checks that a change of a series does not overtake a write of an exception.
func (l *Law) counted(key item.Key, u table.Update) {
	shapes := slices.ContainsFunc(shapingFields(), func(name string) bool {
		return u.Set.Has(name) || slices.Contains(u.Remove, name)
	})
	if shapes && !dependsOn(u.If, product.AttrExceptionsVersion) {
		l.breach(key, "a series gets other dates without a condition on %s", product.AttrExceptionsVersion)
	}
}

// bookkeeping checks the only write of a series that leaves its version: the count of writes of its exceptions.
func (l *Law) bookkeeping(key item.Key, u table.Update) {
	was, _ := tested(u.If, product.AttrExceptionsVersion)
	switch {
	case !dependsOn(u.If, product.AttrExceptionsVersion):
		l.breach(key, "exceptions are counted without a condition on %s", product.AttrExceptionsVersion)
	case u.Set.Int(product.AttrExceptionsVersion) != was+1:
		l.breach(key, "a write of exceptions counts as %d, not 1", u.Set.Int(product.AttrExceptionsVersion)-was)
	}
	for name := range u.Set {
		if name != product.AttrHasExceptions && name != product.AttrExceptionsVersion {
			l.breach(key, "%s changes with the bookkeeping of a series", name)
		}
	}
	for _, name := range u.Remove {
		if name != entity.AttrTTL {
			l.breach(key, "%s is removed with the bookkeeping of a series", name)
		}
	}
}

// writtenWithItsSeries checks that an exception that counts is written in one transaction with its series' count of
// such writes, or with the check that the series does not exist yet. So no command that reshapes the series overlooks
// it.
func (l *Law) writtenWithItsSeries(row item.Item, actions []table.Action) {
	if !row.Has(product.AttrModifiedFields) {
		return
	}
	master := masterKey(row.Key())
	if !slices.ContainsFunc(actions, func(a table.Action) bool { return a.Target() == master && holdsSeries(a) }) {
		l.breach(row.Key(), "an exception is written without its series")
	}
}

func holdsSeries(a table.Action) bool {
	switch a := a.(type) {
	case table.Update:
		return a.Set.Has(product.AttrExceptionsVersion)
	case table.Put:
		return a.Item.Has(product.AttrExceptionsVersion)
	case table.Check:
		return a.If.Row == table.RowMissing && !a.If.OrNoRow
	}
	return false
}

// deletedWithItsSeries checks that an exception's row stays as long as the series does: its id is derived, and
// versions must not begin again under it.
func (l *Law) deletedWithItsSeries(ctx context.Context, key item.Key) {
	if _, err := l.Get(ctx, masterKey(key)); err == nil {
		l.breach(key, "an exception is deleted while its series lives")
	}
}

// masterKey is the key of the series of an exception's row.
func masterKey(key item.Key) item.Key {
	parts := strings.Split(key.SK, "#")
	return item.Key{PK: key.PK, SK: entity.TypeMaster + "#" + parts[1]}
}

var instanceKey = regexp.MustCompile(`^INSTANCE#mst_([A-Za-z0-9_-]{1,50})#([0-9]{8})$`)

// checkInstanceKey checks that an exception's key and id agree (AP2 computes one from the other).
func checkInstanceKey(row item.Item) []string {
	parts := instanceKey.FindStringSubmatch(row.Str(item.AttrSK))
	if parts == nil {
		return []string{fmt.Sprintf("SK is %q, want INSTANCE#<series>#<YYYYMMDD>", row.Str(item.AttrSK))}
	}
	var broken []string
	if id := "inst_" + parts[2] + "_" + parts[1]; row.Str(product.AttrEventID) != id {
		broken = append(broken, fmt.Sprintf("eventId is %q, want %q", row.Str(product.AttrEventID), id))
	}
	if id := "mst_" + parts[1]; row.Str(product.AttrMasterID) != id {
		broken = append(broken, fmt.Sprintf("masterId is %q, want %q", row.Str(product.AttrMasterID), id))
	}
	return broken
}

// checkSeriesKeys checks the keys of GSI2, which only series and exceptions have, and the other rules of their
// indexes.
func checkSeriesKeys(t *entity.Type, row item.Item) []string {
	got := row.Str(item.AttrGSI2PK) + " / " + row.Str(item.AttrGSI2SK)
	want := " / "
	var broken []string
	switch t.Name {
	case entity.TypeMaster:
		want = row.Str(item.AttrSK) + " / " + entity.TypeMaster
		if state := row.Str(item.AttrGSI3SK); !row.Has(item.AttrGSI1PK) || !strings.HasPrefix(state, "MASTER#ACTIVE#") {
			broken = append(broken,
				fmt.Sprintf("a series is in GSI1 %q and GSI3 %q, want both", row.Str(item.AttrGSI1PK), state))
		}
	case entity.TypeInstance:
		if !row.Has(product.AttrModifiedFields) {
			if row.Has(item.AttrGSI1PK) || row.Has(item.AttrGSI3PK) || row.Has(entity.AttrLinks) {
				broken = append(broken, "an exception that was undone has index keys or links")
			}
			break
		}
		_, date, _ := strings.Cut(strings.TrimPrefix(row.Str(item.AttrSK), entity.TypeInstance+"#"), "#")
		want = "MASTER#" + row.Str(product.AttrMasterID) + " / INSTANCE#" + date
		if !row.Has(item.AttrGSI1PK) {
			broken = append(broken, "an exception is not in GSI1")
		}
	}
	if got != want {
		broken = append(broken, fmt.Sprintf("GSI2 keys are %s, want %s", got, want))
	}
	return broken
}
