package query

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// Backlinks returns a page of the entities that link to the target. [ErrNotFound] if the target does not exist.
//
// The edges follow the items with a delay, so a source counts only if its own links name the target.
func (s *Service) Backlinks(
	ctx context.Context, user string, target entity.Ref, limit int, cursor string,
) (Page, error) {
	if err := checkUser(user); err != nil {
		return Page{}, err
	}
	t := s.registry.ByName(target.Type)
	if t == nil || !t.HasCollection() || entity.CheckID(t.IDPrefix, target.ID) != nil {
		return Page{}, ErrNotFound
	}
	limit, err := limitOf(limit)
	if err != nil {
		return Page{}, err
	}
	b := backlinks{user: user, target: target, question: question{user, "edges", []string{target.Type, target.ID}}}
	start, err := s.startEdges(b, cursor)
	if err != nil {
		return Page{}, err
	}
	var found edges
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		_, err := s.Get(gctx, user, t, target.ID)
		return err
	})
	g.Go(func() (err error) {
		found, err = s.edges(gctx, b, start, limit)
		return err
	})
	if err := g.Wait(); err != nil {
		return Page{}, err
	}
	items, err := s.sources(ctx, b, found.sources)
	if err != nil {
		return Page{}, err
	}
	return b.cut(Page{Items: items, Next: found.next}), nil
}

// cut ends a page of large items early.
func (b backlinks) cut(page Page) Page {
	weight := 0
	for i, f := range page.Items {
		if weight += weigh(f.Item); i > 0 && weight > maxPageBytes {
			last := page.Items[i-1]
			return Page{Items: page.Items[:i], Next: b.cursor(last.Type.Ref(last.Item))}
		}
	}
	return page
}

// backlinks is the query for the sources that link to a target.
type backlinks struct {
	user     string
	target   entity.Ref
	question question
}

// edges are the edges of one page.
type edges struct {
	sources []entity.Ref
	next    string
}

// edges reads from the position on. It asks for one edge more than the limit, which shows whether there is another
// page.
func (s *Service) edges(ctx context.Context, b backlinks, start table.Position, limit int) (edges, error) {
	page, err := s.store.Query(ctx, table.Query{
		Index: table.CrossLinks, Partition: entity.LinkedPK(b.user, b.target), Limit: limit + 1, Start: start,
	})
	if err != nil {
		return edges{}, fmt.Errorf("read the edges to %s: %w", b.target, err)
	}
	var out edges
	for _, row := range page.Items[:min(limit, len(page.Items))] {
		source, _, err := entity.ParseLink(row.Str(item.AttrSK))
		if err != nil {
			return edges{}, fmt.Errorf("read the edges to %s: %w", b.target, err)
		}
		out.sources = append(out.sources, source)
	}
	if len(out.sources) > 0 && (len(page.Items) > limit || len(page.Next) > 0) {
		out.next = b.cursor(out.sources[len(out.sources)-1])
	}
	return out, nil
}

// cursor returns the cursor after the edge that leaves the source.
func (b backlinks) cursor(source entity.Ref) string {
	return cursor{IndexSK: entity.LinkedSK(source)}.encode(b.question)
}

// startEdges returns the position of the edge that the cursor names. It is made of the caller's user and the
// question's target: a cursor cannot lead into another partition.
func (s *Service) startEdges(b backlinks, text string) (table.Position, error) {
	c, ok, err := decodeCursor(text, b.question)
	if err != nil || !ok {
		return nil, err
	}
	source, err := entity.ParseLinkedSK(c.IndexSK)
	if err != nil {
		return nil, ErrCursor
	}
	t := s.registry.ByName(source.Type)
	if t == nil || !t.HasCollection() || entity.CheckID(t.IDPrefix, source.ID) != nil {
		return nil, ErrCursor
	}
	key := entity.LinkKey(b.user, source, b.target)
	return table.Position{
		item.AttrPK: item.String(key.PK), item.AttrSK: item.String(key.SK),
		item.AttrGSI4PK: item.String(entity.LinkedPK(b.user, b.target)),
		item.AttrGSI4SK: item.String(entity.LinkedSK(source)),
	}, nil
}

// sources reads the entities that the edges leave from, in the edges' order.
func (s *Service) sources(ctx context.Context, b backlinks, refs []entity.Ref) ([]Found, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	keys := make([]item.Key, len(refs))
	for i, ref := range refs {
		keys[i] = entity.ItemKey(b.user, ref)
	}
	rows, err := s.store.BatchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read the sources of %s: %w", b.target, err)
	}
	masters, err := s.mastersOf(ctx, b.user, rows)
	if err != nil {
		return nil, err
	}
	now := s.now()
	var items []Found
	for _, row := range rows {
		t := s.registry.ByName(row.Str(entity.AttrType))
		if t == nil || !slices.ContainsFunc(entity.LinksOf(row), func(l entity.Link) bool { return l.Target == b.target }) {
			continue
		}
		seen, ok := t.VisibleAt(row, now)
		if ok && t.Name == entity.TypeInstance {
			seen, ok, err = effective(masters[masterKeyOf(b.user, row)], row, row.Str(t.IDAttr), now)
		}
		if err != nil {
			return nil, err
		}
		if ok {
			items = append(items, Found{t, seen})
		}
	}
	return items, nil
}

func masterKeyOf(user string, instance item.Item) item.Key {
	return entity.ItemKey(user, entity.Ref{Type: entity.TypeMaster, ID: instance.Str(product.AttrMasterID)})
}

// mastersOf reads the series of those rows that are instances. An instance whose date the series has lost does not
// count, and the others are shown with everything that they take from their series.
func (s *Service) mastersOf(ctx context.Context, user string, rows []item.Item) (map[item.Key]item.Item, error) {
	var keys []item.Key
	for _, row := range rows {
		if row.Str(entity.AttrType) == entity.TypeInstance && row.Has(product.AttrMasterID) {
			keys = append(keys, masterKeyOf(user, row))
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	masters, err := s.store.BatchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read the series of %d instances: %w", len(keys), err)
	}
	return byKey(masters), nil
}
