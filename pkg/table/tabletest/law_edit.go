package tabletest

import (
	"maps"
	"slices"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/entity/account"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// bySystem lists, by type, the attributes of an entity that the system may change without making its user's edit a
// conflict.
var bySystem = map[string][]string{
	product.TypeReminder: {
		entity.AttrStatus, product.AttrTriggerUtc, product.AttrSnoozeState, product.AttrLastFiredUtc,
		product.AttrFiredOccurrenceUtc,
		product.AttrDoneTriggerUtc,
	},
	product.TypeTask: {entity.AttrStatus, product.AttrArchivedAt, product.AttrArchiveAt},
}

// derived are the attributes, other than the keys of the indexes, that follow from every write.
var derived = []string{
	entity.AttrVersion, entity.AttrEditVersion, entity.AttrSystemVersion, entity.AttrUpdatedAt, entity.AttrTTL,
	entity.AttrRestoredAt,
}

// edited checks a write against the rule for editVersion, given the row that it left. If the attribute is present
// after a change of version, the system wrote. The attribute then names the version that was there, or the one that it
// found, and only attributes that the system may change have changed.
//
// An import of a whole account puts entities as they were elsewhere, beside the row that counts what it wrote.
func (l *Law) edited(t *entity.Type, a table.Action, row item.Item, actions []table.Action) {
	if !row.Has(entity.AttrEditVersion) {
		return
	}
	u, isUpdate := a.(table.Update)
	if !isUpdate {
		if isImport(actions) {
			return
		}
		l.breach(row.Key(), "an entity is put with an editVersion")
		return
	}
	if !u.Set.Has(entity.AttrVersion) || !item.Equal(u.Set[entity.AttrVersion], row[entity.AttrVersion]) {
		return // bookkeeping, or written again since
	}
	expected, _ := tested(u.If, entity.AttrVersion)
	if !item.Equal(row[entity.AttrSystemVersion], row[entity.AttrVersion]) {
		l.breach(row.Key(), "the system writes version %d, and systemVersion is %d", row.Int(entity.AttrVersion),
			row.Int(entity.AttrSystemVersion))
	}
	if u.Set.Has(entity.AttrEditVersion) && u.Set.Int(entity.AttrEditVersion) != expected {
		l.breach(row.Key(), "editVersion becomes %d at version %d", u.Set.Int(entity.AttrEditVersion), expected)
	}
	for _, name := range slices.Sorted(maps.Keys(u.Set)) {
		l.mayLeaveEdit(t, row, name)
	}
	for _, name := range u.Remove {
		l.mayLeaveEdit(t, row, name)
	}
}

func isImport(actions []table.Action) bool {
	return slices.ContainsFunc(actions, func(a table.Action) bool {
		return strings.HasPrefix(a.Target().SK, account.RowImport+"#")
	})
}

func (l *Law) mayLeaveEdit(t *entity.Type, row item.Item, name string) {
	if strings.HasPrefix(name, "GSI") || slices.Contains(derived, name) || slices.Contains(bySystem[t.Name], name) {
		return
	}
	l.breach(row.Key(), "%s changes and editVersion stays", name)
}

// checkEditVersion checks that the attribute is absent, or a version before the present one.
func checkEditVersion(row item.Item) bool {
	edit := row.Int(entity.AttrEditVersion)
	return !row.Has(entity.AttrEditVersion) || edit >= 1 && edit < row.Int(entity.AttrVersion)
}
