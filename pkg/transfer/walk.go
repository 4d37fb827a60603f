package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"nexus/pkg/archive"
	"nexus/pkg/calendar"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/port"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// pageRows is the number of rows, and pageCopies that of cold copies, that are read before a part may end.
const (
	pageRows   = 100
	pageCopies = 20
)

// longest is the longest that an export may take. What leaves later than that after its beginning cannot be swept while
// it is read.
const longest = 24 * time.Hour

// Tags of lines of a part that are of no file yet: joining decides.
const (
	tagItem    = "item"
	tagCopy    = "copy"
	tagGone    = "gone"
	tagMissing = "missing"
)

// types returns the types of which a user has many, in the order of the file: exceptions come after series.
func types(r *entity.Registry) []*entity.Type {
	return slices.DeleteFunc(slices.Clone(r.Types()), func(t *entity.Type) bool { return !t.HasCollection() })
}

// page reads the rows of a user's partition with the prefix behind a sort key.
func (s *Service) page(ctx context.Context, pk, prefix, after string) (rows []item.Item, more bool, err error) {
	q := table.Query{Partition: pk, Range: table.Range{Prefix: prefix}, Limit: pageRows}
	if after != "" {
		q.Start = table.Position(item.Key{PK: pk, SK: after}.Item())
	}
	page, err := s.Store.Query(ctx, q)
	if err != nil {
		return nil, false, fmt.Errorf("read %s/%s: %w", pk, prefix, err)
	}
	return page.Items, len(page.Next) > 0, nil
}

// each calls visit for each page of rows with the prefix until the part is full, and returns the last sort key; empty
// behind the last row.
func (s *Service) each(
	ctx context.Context, w *walk, pk, prefix, after string, visit func(rows []item.Item) error,
) (next string, err error) {
	for {
		rows, more, err := s.page(ctx, pk, prefix, after)
		if err != nil {
			return "", err
		}
		if err := visit(rows); err != nil {
			return "", err
		}
		if !more {
			return "", nil
		}
		after = rows[len(rows)-1].Str(item.AttrSK)
		if w.isFull() {
			return after, nil
		}
	}
}

// walkItems reads the entities, type by type, in the order of their sort keys.
func (s *Service) walkItems(ctx context.Context, w *walk, after string) (string, error) {
	types := types(s.Registry)
	if after != "" {
		first := slices.IndexFunc(types, func(t *entity.Type) bool {
			return strings.HasPrefix(after, entity.ItemPrefix(t.Name))
		})
		if first < 0 {
			return "", fmt.Errorf("place %q: %w", after, errCursor)
		}
		types = types[first:]
	}
	for i, t := range types {
		next, err := s.each(ctx, w, entity.UserPK(w.user), entity.ItemPrefix(t.Name), after,
			func(rows []item.Item) error { return s.addItems(ctx, w, t, rows) })
		if next != "" || err != nil {
			return next, err
		}
		if after = ""; w.isFull() && i+1 < len(types) {
			return entity.ItemPrefix(types[i+1].Name), nil
		}
	}
	return "", nil
}

// addItems adds a page of entities of a type. One that has left already goes with the copies.
func (s *Service) addItems(ctx context.Context, w *walk, t *entity.Type, rows []item.Item) error {
	rows = slices.DeleteFunc(rows, func(it item.Item) bool { return it.Str(entity.AttrType) != t.Name })
	rows, kept, err := s.withKept(ctx, rows, true)
	if err != nil {
		return err
	}
	for _, it := range rows {
		tag := tagItem
		if entity.Expired(it, w.from) {
			tag = tagCopy
		}
		w.addItem(tag, t, it, kept[it.Key()])
	}
	return nil
}

// addItem adds the line of an item. One that is damaged so that its line would name no item, or another, is missing.
func (w *walk) addItem(tag string, t *entity.Type, it item.Item, kept string) {
	line := appendLine(nil, t, it, kept)
	var wrong string
	switch _, id, err := identify(t, line); {
	case err != nil || !json.Valid(line):
		wrong = "its row is damaged: it cannot be read"
	case entity.ItemKey(w.user, entity.Ref{Type: t.Name, ID: id}) != it.Key():
		wrong = "its row is damaged: it has the id of another"
	case it.Int(entity.AttrVersion) < 1:
		wrong = "its row is damaged: it has no version"
	default:
		w.add(tag, line)
		return
	}
	w.add(tagMissing, encode(Missing{idInKey(t, it.Key()), wrong}))
}

// idInKey returns the id that an item's key has.
func idInKey(t *entity.Type, key item.Key) string {
	sk, err := entity.ParseSortKey(key.SK, t)
	if err != nil {
		return strings.TrimPrefix(key.SK, entity.ItemPrefix(t.Name))
	}
	if t.Name == entity.TypeInstance {
		return entity.InstanceID(sk.Components[0], sk.Components[1])
	}
	return sk.Components[0]
}

// appendLine appends an entity: what the API shows of it, but its ttl, which follows from its state, and the hidden
// members.
func appendLine(dst []byte, t *entity.Type, it item.Item, kept string) []byte {
	it = shownOf(t, it, entity.AttrTTL)
	dst = t.AppendMembers(append(dst, '{'), it)
	h := hiddenMembers{ICalStamp: it.Str(product.AttrStamp), Kept: kept}
	if edited := entity.EditVersion(it); edited != it.Int(entity.AttrVersion) {
		h.EditVersion = edited
	}
	if h != (hiddenMembers{}) {
		dst = append(append(dst, `,"`+hidden+`":`...), encode(h)...)
	}
	return append(dst, '}')
}

// shownOf returns an item as an export shows it: without some attributes, and with the defaults of those that a row
// from before they were invented lacks, as an import gives them to it.
func shownOf(t *entity.Type, it item.Item, but ...string) item.Item {
	it = product.WithoutFormerDay(it).Clone()
	for _, name := range but {
		delete(it, name)
	}
	entity.FillDefaults(t.Fields, it)
	return it
}

// walkCopies reads what the cold copies hold. Items that are still there for longer than an export takes have theirs,
// too, and are left out: they are among the items.
func (s *Service) walkCopies(ctx context.Context, w *walk, after string) (string, error) {
	var start table.Position
	if after != "" {
		start = table.Position(entity.ColdKey(w.user, after).Item())
	}
	for {
		copies, next, err := s.Archive.List(ctx, w.user, pageCopies, start)
		if err != nil {
			return "", err
		}
		for _, c := range copies {
			if c.ExpiresAt.Before(w.from.Add(longest)) {
				if err := s.addCopy(ctx, w, c); err != nil {
					return "", err
				}
			}
		}
		if start = next; len(start) == 0 {
			return "", nil
		}
		if w.isFull() {
			return copies[len(copies)-1].Ref.ID, nil
		}
	}
}

func (s *Service) addCopy(ctx context.Context, w *walk, c archive.Copy) error {
	t := s.Registry.ByName(c.Ref.Type)
	if t == nil {
		w.add(tagMissing, encode(Missing{c.Ref.ID, "its type is unknown"}))
		return nil
	}
	it, err := s.Archive.Item(ctx, w.user, c)
	if port.IsOutage(err) {
		return err
	}
	if it == nil {
		w.add(tagMissing, encode(Missing{c.Ref.ID, "its cold copy is not there, or cannot be read"}))
		return nil
	}
	_, kept, err := s.withKept(ctx, []item.Item{it}, false)
	if err == nil {
		w.addItem(tagCopy, t, it, kept[it.Key()])
	}
	return err
}

// walkGone reads the ids that never come back.
func (s *Service) walkGone(ctx context.Context, w *walk, after string) (string, error) {
	return s.each(ctx, w, entity.UserPK(w.user), entity.GonePrefix(), after, func(rows []item.Item) error {
		for _, row := range rows {
			id := strings.TrimPrefix(row.Str(item.AttrSK), entity.GonePrefix())
			w.add(tagGone, encode(goneLine{id, row.Str(product.AttrBecameID)}))
		}
		return nil
	})
}

// walkSettings reads the settings, without the statistics and the user's id.
func (s *Service) walkSettings(ctx context.Context, w *walk, _ string) (string, error) {
	row, err := table.Find(ctx, s.Store, entity.MetaKey(w.user))
	if err != nil || row == nil {
		return "", err
	}
	t := s.Registry.ByName(entity.TypeUserMeta)
	w.add(settingsFile, t.AppendJSON(nil, shownOf(t, row, product.AttrStats, product.AttrUserID)))
	return "", nil
}

// walkCalendar writes the calendar for other programs, a text of at most 4 MB in each part.
func (s *Service) walkCalendar(ctx context.Context, w *walk, after string) (string, error) {
	part := 1
	if after != "" {
		done, err := strconv.Atoi(after)
		if err != nil {
			return "", fmt.Errorf("place %q: %w", after, errCursor)
		}
		part = done + 1
	}
	out, err := s.Calendar.Export(ctx, w.user, part)
	if errors.Is(err, calendar.ErrNoPart) && part > 1 {
		return "", nil // it has become smaller
	}
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(string(out.Text))
	if err != nil {
		return "", err
	}
	w.add(readableDir+"calendar.ics", text)
	if part >= out.Parts {
		return "", nil
	}
	return strconv.Itoa(part), nil
}
