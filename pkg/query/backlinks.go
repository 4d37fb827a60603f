package query

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"nexus/pkg/entity"
	"nexus/pkg/table"
)

// Backlinks returns a page of the entities that link to the target. [ErrNotFound] if the target does not exist.
//
// The edges' index has no user in its key (docs/data-model.md, conflict 12): rows of others are dropped here before
// anything is done with them. The edges lag behind the items, so a source counts only if its own links name the target.
func (s *Service) Backlinks(ctx context.Context, user string, target entity.Ref, limit int, cursor string) (Page, error) {
	if err := checkUser(user); err != nil {
		return Page{}, err
	}
	t := s.registry.Named(target.Type)
	if t == nil || !t.HasCollection() || entity.CheckID(t.IDPrefix, target.ID) != nil {
		return Page{}, ErrNotFound
	}
	limit, err := settleLimit(limit)
	if err != nil {
		return Page{}, err
	}
	b := backlinks{user: user, target: target, question: question{user, "backlinks", []string{target.Type, target.ID}}}
	start, err := b.start(cursor)
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
		if errors.Is(err, ErrNotFound) {
			return Page{}, ErrNotFound
		}
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
			return Page{Items: page.Items[:i], Next: b.cursor(edgePlace{entity.LinkedSK(last.Type.Ref(last.Item)), true})}
		}
	}
	return page
}

// backlinks is the question who links to a target.
type backlinks struct {
	user     string
	target   entity.Ref
	question question
}

// edges are the user's own edges of one page.
type edges struct {
	sources []entity.Ref
	next    string
}

// edgePlace is how far a target's edges have been read: through all before indexSK, and through the user's own one
// there if own is set. Of a row of somebody else a cursor tells no more than that.
type edgePlace struct {
	indexSK string
	own     bool
}

func (s *Service) edges(ctx context.Context, b backlinks, at edgePlace, limit int) (edges, error) {
	var out edges
	q := table.Query{
		Index: entity.CrossLinks, Partition: entity.LinkedPK(b.target), Range: table.Range{From: at.indexSK}, Limit: limit + 1,
	}
	for range maxReads {
		page, err := s.store.Query(ctx, q)
		if err != nil {
			return edges{}, fmt.Errorf("read the edges to %s: %w", b.target, err)
		}
		for _, row := range page.Items {
			sk := row.Str(entity.AttrGSI4SK)
			source, _, err := entity.ParseLink(row.Str(entity.AttrSK))
			own := err == nil && row.Str(entity.AttrPK) == entity.UserPK(b.user)
			switch {
			case own && at == edgePlace{sk, true}:
			case own && len(out.sources) == limit:
				out.next = b.cursor(at)
				return out, nil
			case own:
				out.sources = append(out.sources, source)
				at = edgePlace{sk, true}
			case sk != at.indexSK:
				at = edgePlace{sk, false}
			}
		}
		if len(page.Next) == 0 {
			return out, nil
		}
		// More than the limit means rows of others among them: go through those in the store's own pages.
		q.Start, q.Limit = page.Next, 0
	}
	out.next = b.cursor(at)
	return out, nil
}

func (b backlinks) cursor(at edgePlace) string {
	c := cursor{IndexSK: at.indexSK}
	if at.own {
		c.Leg = 1
	}
	return c.encode(b.question)
}

func (b backlinks) start(text string) (edgePlace, error) {
	c, ok, err := decodeCursor(text, b.question)
	if err != nil || !ok {
		return edgePlace{}, err
	}
	if key, err := entity.ParseSortKey(c.IndexSK); err != nil || key.IsRow() {
		return edgePlace{}, ErrCursor
	}
	return edgePlace{c.IndexSK, c.Leg == 1}, nil
}

// sources reads the entities that the edges leave from, in the edges' order.
func (s *Service) sources(ctx context.Context, b backlinks, refs []entity.Ref) ([]Found, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	keys := make([]entity.Key, len(refs))
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
		t := s.registry.Named(row.Str(entity.AttrType))
		if t == nil || !slices.ContainsFunc(row.Links(), func(l entity.Link) bool { return l.Target == b.target }) {
			continue
		}
		seen, ok := t.Seen(row, now)
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

func masterKeyOf(user string, instance entity.Item) entity.Key {
	return entity.ItemKey(user, entity.Ref{Type: entity.TypeMaster, ID: instance.Str(entity.AttrMasterID)})
}

// mastersOf reads the series of those rows that are instances: what a series has lost sight of counts for nobody, and the
// rest is shown with what it has of its series.
func (s *Service) mastersOf(ctx context.Context, user string, rows []entity.Item) (map[entity.Key]entity.Item, error) {
	var keys []entity.Key
	for _, row := range rows {
		if row.Str(entity.AttrType) == entity.TypeInstance && row.Has(entity.AttrMasterID) {
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
