package tabletest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// Law is a store that passes every call through. It checks each write, and each row of an entity that a write leaves,
// against the conventions of docs/data-model.md. It must wrap a store without injected faults, because it reads the
// rows back.
//
// Exempt are:
//   - the rows of consumers and commands, which are no entities;
//   - the statistics, which USER_META carries under a separate optimistic lock;
//   - the bookkeeping of a series about its exceptions. It is written under the version read and its own count,
//     without adding to version. A client that has the series' version must not find it outdated because another
//     occurrence was moved.
type Law struct {
	table.Store
	registry *entity.Registry

	mu      sync.Mutex
	broken  []string
	entered map[string]bool // entity types written so far
}

// NewLaw returns a store on top of another.
func NewLaw(store table.Store, registry *entity.Registry) *Law {
	return &Law{Store: store, registry: registry, entered: map[string]bool{}}
}

// Broken returns one line for each rule broken so far.
func (l *Law) Broken() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.broken)
}

// Written returns the names of the entity types of which a row was written.
func (l *Law) Written() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var names []string
	for name := range l.entered {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Put implements the port.
func (l *Law) Put(ctx context.Context, p table.Put) error {
	l.action(p)
	return l.after(ctx, l.Store.Put(ctx, p), p)
}

// Update implements the port.
func (l *Law) Update(ctx context.Context, u table.Update) (item.Item, error) {
	l.action(u)
	it, err := l.Store.Update(ctx, u)
	return it, l.after(ctx, err, u)
}

// Delete implements the port.
func (l *Law) Delete(ctx context.Context, d table.Delete) error {
	l.action(d)
	l.together([]table.Action{d})
	return l.after(ctx, l.Store.Delete(ctx, d), d)
}

// Transact implements the port.
func (l *Law) Transact(ctx context.Context, actions ...table.Action) error {
	for _, a := range actions {
		l.action(a)
	}
	l.together(actions)
	return l.after(ctx, l.Store.Transact(ctx, actions...), actions...)
}

// Load implements the port. A row that it writes without a condition must be no entity.
func (l *Law) Load(ctx context.Context, rows []item.Item) error {
	for _, row := range rows {
		if l.typeOf(row.Key()) != nil {
			l.breach(row.Key(), "an entity is written without a condition")
		}
	}
	return l.Store.Load(ctx, rows)
}

// Query implements the port.
func (l *Law) Query(ctx context.Context, q table.Query) (table.Page, error) {
	if q.Partition == "" {
		l.breach(item.Key{}, "a query without a partition is a scan")
	}
	if q.AnyTagOr != "" && (len(q.AnyTag) == 0 || !slices.Contains(tagsElsewhere, q.AnyTagOr)) {
		l.breach(item.Key{PK: q.Partition}, "a filter on %s, which is no question of tags", q.AnyTagOr)
	}
	return l.Store.Query(ctx, q)
}

// tagsElsewhere are the attributes of rows whose tags may be in another row, or that cover other rows' tags: of an
// exception, and of a series that has some.
var tagsElsewhere = []string{product.AttrModifiedFields, product.AttrHasExceptions}

func (l *Law) breach(key item.Key, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = append(l.broken, fmt.Sprintf("%s: ", key)+fmt.Sprintf(format, args...))
}

// typeOf returns the type of the entity whose row the key names, or nil.
func (l *Law) typeOf(key item.Key) *entity.Type {
	prefix, _, _ := strings.Cut(key.SK, "#")
	return l.registry.ByName(prefix)
}

// action checks one write against the rules for keys and conditions.
func (l *Law) action(a table.Action) {
	key := a.Target()
	if row, err := repository.ParseRow(key); err == nil {
		if _, checks := a.(table.Check); !checks {
			l.repository(key, row, a)
		}
		return
	}
	if _, err := entity.ParseUserPK(key.PK); err != nil {
		l.breach(key, "%v", err)
	}
	parsed, err := entity.ParseSortKey(key.SK, l.registry.Types()...)
	if err != nil {
		l.breach(key, "%v", err)
	}
	t := l.typeOf(key)
	if t == nil {
		if !parsed.IsRow() {
			l.breach(key, "neither an entity of the registry nor a known row")
		}
		if put, ok := a.(table.Put); ok && parsed.Prefix == entity.RowLink {
			l.edge(key, put.Item)
		}
		return
	}
	switch a := a.(type) {
	case table.Put:
		if a.If.Row != table.RowMissing || a.If.OrNoRow {
			l.breach(key, "an entity is put under another condition than that there is none")
		}
	case table.Delete:
		// No command may change the rest of a deleted series; see deletedWithItsSeries.
		if t.Name != entity.TypeInstance && !dependsOn(a.If, entity.AttrVersion) {
			l.breach(key, "an entity is deleted without a condition on its version")
		}
	case table.Update:
		l.update(key, t, a)
	}
}

// edge checks the row of an edge against its index partition, which names the user whose row it is.
func (l *Law) edge(key item.Key, row item.Item) {
	user, err := entity.ParseUserPK(key.PK)
	if err != nil {
		return // already reported
	}
	source, target, err := entity.ParseLink(key.SK)
	if err != nil {
		return
	}
	if row.Str(item.AttrGSI4PK) != entity.LinkedPK(user, target) || row.Str(item.AttrGSI4SK) != entity.LinkedSK(source) {
		l.breach(key, "an edge stands in the index at %s / %s", row.Str(item.AttrGSI4PK), row.Str(item.AttrGSI4SK))
	}
}

func (l *Law) update(key item.Key, t *entity.Type, u table.Update) {
	creates := u.If.Row == table.RowMissing && !u.If.OrNoRow
	if t.Name == entity.TypeUserMeta && u.Set.Has(product.AttrStatsVersion) {
		if !creates && !dependsOn(u.If, product.AttrStatsVersion) {
			l.breach(key, "statistics are written without a condition on %s", product.AttrStatsVersion)
		}
		if !creates && (u.Set.Has(entity.AttrVersion) || u.Set.Has(entity.AttrUpdatedAt)) {
			l.breach(key, "statistics change version or updatedAt")
		}
		return
	}
	if t.Name == entity.TypeMaster {
		l.counted(key, u)
	}
	expected, ok := tested(u.If, entity.AttrVersion)
	switch {
	case creates:
	case !ok:
		l.breach(key, "an entity is updated without the condition version = :expected")
	case u.Set.Has(entity.AttrVersion):
		// based on an older version of its series
		comesBack := t.Name == entity.TypeInstance && u.Set.Has(product.AttrModifiedFields)
		if added := u.Set.Int(entity.AttrVersion) - expected; added != 1 && (added < 1 || !comesBack) {
			l.breach(key, "a change adds %d to version, not 1", u.Set.Int(entity.AttrVersion)-expected)
		}
	case t.Name == entity.TypeMaster && u.Set.Has(product.AttrExceptionsVersion):
		l.bookkeeping(key, u)
	default:
		for name := range u.Set {
			if name != entity.AttrTTL {
				l.breach(key, "%s changes and version does not", name)
			}
		}
	}
}

func dependsOn(c table.Condition, attr string) bool {
	return slices.ContainsFunc(c.Tests, func(t table.Test) bool {
		return t.Attr == attr && (t.Op == table.OpEqual || t.Op == table.OpMissing)
	})
}

// tested returns the number that a condition wants the attribute to be.
func tested(c table.Condition, attr string) (int64, bool) {
	for _, t := range c.Tests {
		if t.Attr == attr && t.Op == table.OpEqual {
			return item.Item{attr: t.Value}.Int(attr), true
		}
	}
	return 0, false
}

// after reads back the entities that a successful write left.
func (l *Law) after(ctx context.Context, err error, actions ...table.Action) error {
	if err != nil {
		return err
	}
	for _, a := range actions {
		_, deletes := a.(table.Delete)
		_, checks := a.(table.Check)
		t := l.typeOf(a.Target())
		if t != nil && deletes && t.Name == entity.TypeInstance {
			l.deletedWithItsSeries(ctx, a.Target())
		}
		if t == nil || deletes || checks {
			continue
		}
		row, err := l.Get(ctx, a.Target())
		if err != nil {
			continue // another writer has deleted it since
		}
		l.mu.Lock()
		l.entered[t.Name] = true
		l.mu.Unlock()
		for _, rule := range CheckRow(t, row) {
			l.breach(row.Key(), "%s", rule)
		}
		l.edited(t, a, row, actions)
		if t.Name == entity.TypeInstance {
			l.writtenWithItsSeries(row, actions)
		}
	}
	return nil
}
