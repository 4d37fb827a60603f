package verify

import (
	"context"
	"fmt"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

const (
	// pageRows bounds what a cursor holds.
	pageRows = 500
	// familyRows bounds the rows of one family of one item; the next read shows the others.
	familyRows = 1000
)

// family is a range of rows that belong to items of one type. Their keys begin with a prefix and the item's id, so
// that they are in the order of the items. The zero family is empty.
type family struct {
	prefix string // of the range
	idFrom int    // where the id begins
	single bool   // an item has one, and its key ends with the id
	keep   func(item.Item) bool
}

// key returns the key of an item's only row of the family.
func (f family) key(user, id string) item.Key {
	return item.Key{PK: entity.UserPK(user), SK: f.prefix[:f.idFrom] + id}
}

// group is an item with everything derived from it; item is nil if it is gone.
type group struct {
	user string
	typ  *entity.Type
	id   string
	item item.Item
	rows [][]item.Item // by family
	// copied is the item in the cold copy of one that has left; nil if the copy was not read.
	copied item.Item
}

func (g group) ref() entity.Ref { return entity.Ref{Type: g.typ.Name, ID: g.id} }

// only returns an item's row of a family with one row per item.
func (g group) only(family int) item.Item {
	if len(g.rows[family]) == 0 {
		return nil
	}
	return g.rows[family][0]
}

// cursor reads a family page by page.
type cursor struct {
	r      *run
	family family
	query  table.Query
	page   []item.Item
	at     int
	end    bool
}

func (r *run) cursor(user string, f family) *cursor {
	return &cursor{r: r, family: f, end: f.prefix == "", query: table.Query{
		Partition: entity.UserPK(user), Range: table.Range{Prefix: f.prefix}, Limit: pageRows,
	}}
}

// peek returns the next row and the id it belongs to; nil at the end.
func (c *cursor) peek(ctx context.Context) (item.Item, string, error) {
	for {
		for ; c.at < len(c.page); c.at++ {
			row := c.page[c.at]
			if c.family.keep == nil || c.family.keep(row) {
				id, _, _ := strings.Cut(row.Str(item.AttrSK)[c.family.idFrom:], "#")
				return row, id, nil
			}
		}
		if c.end {
			return nil, "", nil
		}
		page, err := c.r.Store.Query(ctx, c.query)
		if err != nil {
			return nil, "", fmt.Errorf("read %s of %s: %w", c.family.prefix, c.query.Partition, err)
		}
		c.page, c.at, c.query.Start = page.Items, 0, page.Next
		c.end = len(page.Next) == 0
		c.r.read(len(page.Items))
	}
}

// groups calls visit for each id that has an item or a row in one of the families, in the order of ids.
func (r *run) groups(
	ctx context.Context, user string, t *entity.Type, families []family, visit func(group) error,
) error {
	cursors := make([]*cursor, len(families))
	for i, f := range families {
		cursors[i] = r.cursor(user, f)
	}
	if t.Name == entity.TypeInstance {
		return r.instanceGroups(ctx, user, t, cursors, visit)
	}
	items := r.cursor(user, family{prefix: entity.ItemPrefix(t.Name), idFrom: len(entity.ItemPrefix(t.Name))})
	return merge(ctx, append([]*cursor{items}, cursors...), func(id string, rows [][]item.Item) error {
		g := group{user: user, typ: t, id: id, rows: rows[1:]}
		if len(rows[0]) > 0 {
			g.item = rows[0][0]
		}
		return r.visit(ctx, g, visit)
	})
}

// visit skips ids that no item can have.
func (r *run) visit(ctx context.Context, g group, visit func(group) error) error {
	if !isID(g.typ, g.id) {
		if g.item == nil {
			return nil // its rows are strays
		}
		return r.misnamed(g.user, g.typ, g.item)
	}
	return visit(g)
}

// misnamed reports an item under a key that is invalid for its type: nothing can be derived from it.
func (r *run) misnamed(user string, t *entity.Type, it item.Item) error {
	return r.found(Difference{
		Kind: Stray, User: user, Key: it.Key().String(), Is: "an item", ShouldBe: "another id: " + t.IDPrefix + "_…",
	})
}

// merge combines the rows of the same id.
func merge(ctx context.Context, cursors []*cursor, visit func(id string, rows [][]item.Item) error) error {
	for {
		lowest, any := "", false
		for _, c := range cursors {
			row, id, err := c.peek(ctx)
			if err != nil {
				return err
			}
			if row != nil && (!any || id < lowest) {
				lowest, any = id, true
			}
		}
		if !any {
			return nil
		}
		rows := make([][]item.Item, len(cursors))
		for i, c := range cursors {
			for {
				row, id, err := c.peek(ctx)
				if err != nil {
					return err
				}
				if row == nil || id != lowest {
					break
				}
				if len(rows[i]) < familyRows {
					rows[i] = append(rows[i], row)
				}
				c.at++
			}
		}
		if err := visit(lowest, rows); err != nil {
			return err
		}
	}
}

// instanceGroups does the same for exceptions, whose rows have another order than their ids. It walks through the
// derived rows and reads their items, and then through the items for those without derived rows.
func (r *run) instanceGroups(
	ctx context.Context, user string, t *entity.Type, cursors []*cursor, visit func(group) error,
) error {
	var open []group
	flush := func() error {
		keys := make([]item.Key, len(open))
		for i, g := range open {
			keys[i] = entity.ItemKey(user, g.ref())
		}
		rows, err := r.rows(ctx, keys)
		if err != nil {
			return err
		}
		for i := range open {
			open[i].item = rows[keys[i]]
			if err := visit(open[i]); err != nil {
				return err
			}
		}
		open = open[:0]
		return nil
	}
	err := merge(ctx, cursors, func(id string, rows [][]item.Item) error {
		if isID(t, id) {
			open = append(open, group{user: user, typ: t, id: id, rows: rows})
		}
		if len(open) < table.MaxBatchGet {
			return nil
		}
		return flush()
	})
	if err == nil && len(open) > 0 {
		err = flush()
	}
	if err != nil {
		return err
	}
	return r.underived(ctx, user, t, cursors, visit)
}

// underivedItems is how many exceptions are read at a time.
const underivedItems = 30

// underived visits the exceptions that have no row in a family with one row per item.
func (r *run) underived(
	ctx context.Context, user string, t *entity.Type, cursors []*cursor, visit func(group) error,
) error {
	items := r.cursor(user, family{prefix: entity.ItemPrefix(t.Name), idFrom: len(entity.ItemPrefix(t.Name))})
	for {
		var open []group
		var keys []item.Key
		for len(open) < underivedItems {
			it, _, err := items.peek(ctx)
			if err != nil {
				return err
			}
			if it == nil {
				break
			}
			items.at++
			id, ok := idIn(it)
			if !ok {
				if err := r.misnamed(user, t, it); err != nil {
					return err
				}
				continue
			}
			g := group{user: user, typ: t, id: id, item: it, rows: make([][]item.Item, len(cursors))}
			open = append(open, g)
			for _, c := range cursors {
				if c.family.single {
					keys = append(keys, c.family.key(user, g.id))
				}
			}
		}
		if len(open) == 0 {
			return nil
		}
		rows, err := r.rows(ctx, keys)
		if err != nil {
			return err
		}
		isDerived := map[string]bool{}
		for key := range rows {
			isDerived[key.SK[strings.LastIndex(key.SK, "#")+1:]] = true
		}
		for _, g := range open {
			if isDerived[g.id] {
				continue
			}
			if err := visit(g); err != nil {
				return err
			}
		}
	}
}

// idIn returns the id of an exception's sort key.
func idIn(it item.Item) (id string, ok bool) {
	key, err := entity.ParseSortKey(it.Str(item.AttrSK))
	if err != nil {
		return "", false
	}
	return key.Ref().ID, true
}

// isID says that the text can be an id of the type.
func isID(t *entity.Type, id string) bool { return t != nil && entity.CheckID(t.IDPrefix, id) == nil }
