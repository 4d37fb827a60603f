package query

import (
	"context"
	"fmt"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// maxReads bounds the store's pages read in sequence for one page of an answer, if many rows do not count.
const maxReads = 4

// list is a question answered by consecutive ranges of the state view.
type list struct {
	question   question
	typ        *entity.Type
	legs       []leg
	descending bool
	// filter selects a part of the legs' items; nil for all of them. A page of a filtered list reads [maxScanned] rows at
	// most.
	filter func(seen item.Item) bool
	// room ends a page of large items, in bytes as [weigh] counts them.
	room int
}

// maxScanned bounds the rows read for one page of a filtered list, of which few or none may match.
const maxScanned = 500

// leg is one range of a list, with a test for the items that belong there as readers see them.
type leg struct {
	prefix string
	keeps  func(seen item.Item) bool
	// sparse says that most rows may not belong, so that a page is read to the store's own bound.
	sparse bool
}

// page reads on from the cursor until the limit, the store's 1 MB, or the end.
func (s *Service) page(ctx context.Context, user string, l list, limit int, text string) (Page, error) {
	at, err := l.start(user, text)
	if err != nil {
		return Page{}, err
	}
	now := s.now()
	var out Page
	weight, scanned, reads := 0, 0, maxReads
	if l.filter != nil {
		reads += len(l.legs)
	}
	for range reads {
		g := l.legs[at.leg]
		q := table.Query{
			Index: table.StateView, Partition: entity.UserPK(user), Range: table.Range{Prefix: g.prefix},
			Limit: limit - len(out.Items), Descending: l.descending, Start: at.position,
		}
		switch {
		case l.filter != nil:
			q.Limit = maxScanned - scanned
		case g.sparse:
			q.Limit = 0
		}
		rows, err := s.store.Query(ctx, q)
		if err != nil {
			return Page{}, fmt.Errorf("read %s of %s: %w", g.prefix, entity.UserPK(user), err)
		}
		scanned += len(rows.Items)
		for _, row := range rows.Items {
			seen, ok := l.typ.VisibleAt(row, now)
			ok = ok && row.Str(entity.AttrType) == l.typ.Name && g.keeps(seen) && l.passes(seen)
			if ok {
				weight += weigh(seen)
			}
			if len(out.Items) == limit || ok && len(out.Items) > 0 && weight > l.room {
				out.Next = at.encode(l.question)
				return out, nil
			}
			at.position = positionOf(row)
			if ok {
				out.Items = append(out.Items, Found{l.typ, seen})
			}
		}
		full := len(rows.Next) > 0 && (q.Limit == 0 || len(rows.Items) < q.Limit) // the store ended at 1 MB
		if at.position = rows.Next; len(rows.Next) == 0 {
			if at = (spot{leg: at.leg + 1}); at.leg == len(l.legs) {
				return out, nil
			}
		}
		if full || len(out.Items) == limit || l.filter != nil && scanned == maxScanned {
			break
		}
	}
	out.Next = at.encode(l.question)
	return out, nil
}

func (l list) passes(seen item.Item) bool { return l.filter == nil || l.filter(seen) }

// spot is how far a list has been read: after the position in the leg, or at its beginning.
type spot struct {
	leg      int
	position table.Position
}

func (at spot) encode(q question) string {
	row := item.Item(at.position)
	return cursor{Leg: at.leg, SK: row.Str(item.AttrSK), IndexSK: row.Str(item.AttrGSI3SK)}.encode(q)
}

func positionOf(row item.Item) table.Position {
	position := table.Position{}
	for _, name := range []string{item.AttrPK, item.AttrSK, item.AttrGSI3PK, item.AttrGSI3SK} {
		position[name] = row[name]
	}
	return position
}

// start returns the position of the cursor: a row that can exist, in the user's partition and in one of the legs.
func (l list) start(user, text string) (spot, error) {
	c, ok, err := decodeCursor(text, l.question)
	if err != nil || !ok {
		return spot{}, err
	}
	if c.Leg < 0 || c.Leg >= len(l.legs) {
		return spot{}, ErrCursor
	}
	if c.SK == "" && c.IndexSK == "" {
		return spot{leg: c.Leg}, nil
	}
	if !isItemKey(l.typ, c.SK) || !strings.HasPrefix(c.IndexSK, l.legs[c.Leg].prefix) {
		return spot{}, ErrCursor
	}
	pk := item.String(entity.UserPK(user))
	return spot{leg: c.Leg, position: table.Position{
		item.AttrPK: pk, item.AttrSK: item.String(c.SK),
		item.AttrGSI3PK: pk, item.AttrGSI3SK: item.String(c.IndexSK),
	}}, nil
}
