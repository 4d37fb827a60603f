package query

import (
	"context"
	"fmt"
	"slices"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// AllQuery selects all entities of one type.
type AllQuery struct {
	Type *entity.Type
	// Tags selects entities that have at least one of them; none selects all.
	Tags   []string
	Limit  int // 0 for [DefaultLimit]
	Cursor string
}

// All returns a page of all entities of a type in the order of their ids, independent of their times. It reads the
// table itself, so it includes every earlier write. It returns series without their occurrences.
func (s *Service) All(ctx context.Context, user string, q AllQuery) (Page, error) {
	if err := checkUser(user); err != nil {
		return Page{}, err
	}
	if q.Type == nil || !q.Type.HasCollection() || q.Type.Name == entity.TypeInstance {
		return Page{}, ErrNotFound
	}
	limit, err := limitOf(q.Limit)
	if err != nil {
		return Page{}, err
	}
	if err := checkTags(q.Tags); err != nil {
		return Page{}, err
	}
	asked := question{user, "all", append([]string{q.Type.Name}, slices.Sorted(slices.Values(q.Tags))...)}
	position, err := startAll(user, q, asked)
	if err != nil {
		return Page{}, err
	}
	var out Page
	now := s.now()
	for range maxReads {
		// One row more than needed shows whether there is another page. With tags the number between two is unknown.
		read := limit - len(out.Items) + 1
		if len(q.Tags) > 0 {
			read = maxScanned
		}
		rows, err := s.store.Query(ctx, table.Query{
			Partition: entity.UserPK(user), Range: table.Range{Prefix: entity.ItemPrefix(q.Type.Name)},
			Limit: read, Start: position, AnyTag: q.Tags,
		})
		if err != nil {
			return Page{}, fmt.Errorf("read %s of %s: %w", q.Type.Name, entity.UserPK(user), err)
		}
		for _, row := range rows.Items {
			if len(out.Items) == limit {
				out.Next = cursorBehind(position, asked)
				return out, nil
			}
			position = table.Position{item.AttrPK: row[item.AttrPK], item.AttrSK: row[item.AttrSK]}
			if seen, ok := q.Type.VisibleAt(row, now); ok && row.Str(entity.AttrType) == q.Type.Name {
				out.Items = append(out.Items, Found{q.Type, seen})
			}
		}
		if position = rows.Next; len(position) == 0 {
			return out, nil
		}
		if len(out.Items) > 0 {
			break // the store ended at 1 MB, or there were expired rows among them
		}
	}
	out.Next = cursorBehind(position, asked)
	return out, nil
}

func cursorBehind(position table.Position, q question) string {
	return cursor{SK: item.Item(position).Str(item.AttrSK)}.encode(q)
}

// startAll returns the position of the cursor: a row of the type, in the user's own partition.
func startAll(user string, q AllQuery, asked question) (table.Position, error) {
	c, ok, err := decodeCursor(q.Cursor, asked)
	if err != nil || !ok {
		return nil, err
	}
	if !isItemKey(q.Type, c.SK) {
		return nil, ErrCursor
	}
	return table.Position{item.AttrPK: item.String(entity.UserPK(user)), item.AttrSK: item.String(c.SK)}, nil
}
