package simulate

import (
	"errors"
	"maps"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/insights"
	"nexus/pkg/item"
	"nexus/pkg/links"
	"nexus/pkg/product"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule"
	"nexus/pkg/stats"
	"nexus/pkg/table"
)

// errNothing says that there is nothing to damage in that way.
var errNothing = errors.New("nothing to damage")

// tooManyRows are more than one transaction takes.
const tooManyRows = 120

// distort writes derived rows that are wrong, or that belong to nothing.
func (h *history) distort(s *userState) error {
	h.happened["derived rows distorted"]++
	if h.luck.crowd > 0 && h.luck.one(3) {
		return h.loseLedgers(s)
	}
	switch h.luck.IntN(12) {
	case 10, 11: // an edge without a possible row
		return h.overwrite(s.ledgers[links.Name], item.Item{ledgerContribution: item.String("l1 nothing")})
	case 8:
		return h.strayRow(s)
	case 9:
		return h.strayWalk(s)
	case 0:
		return h.overwrite(s.links, item.Item{item.AttrGSI4SK: item.String("wrong")})
	case 1:
		of := pick(h.luck, stats.Name, ownName, insights.Name)
		return h.overwrite(s.ledgers[of], item.Item{ledgerContribution: item.String("")})
	case 2:
		return h.overwrite(s.timers, item.Item{entity.AttrTTL: item.Int(h.now.AddDate(10, 0, 0).Unix())})
	case 3:
		return h.strayLinks(s)
	case 4:
		return h.strayEnd(s)
	case 5:
		return h.strayRow(s)
	case 6:
		return h.strayCall(s)
	}
	return h.loseLedgers(s)
}

// loseLedgers removes every ledger row of the user that may be lost.
func (h *history) loseLedgers(s *userState) error {
	var keys []item.Key
	for _, name := range []string{stats.Name, ownName, links.Name, insights.Name} {
		rows := h.losable(s.ledgers[name])
		for _, id := range slices.Sorted(maps.Keys(rows)) {
			keys = append(keys, rows[id].Key())
		}
	}
	for _, key := range keys {
		if err := h.store.Delete(noContext, table.Delete{Key: key}); err != nil {
			return err
		}
		h.strikeAt(key)
	}
	return nil
}

// strayEnd gives an end to an item of a kind that leaves the table some time. No history reaches that end: a repair
// brings nothing back that TTL has removed without a copy.
func (h *history) strayEnd(s *userState) error {
	leaving := maps.Clone(s.items)
	maps.DeleteFunc(leaving, func(_ string, it item.Item) bool {
		return h.registry.ByName(it.Str(entity.AttrType)).Retention == nil
	})
	return h.overwrite(leaving, item.Item{entity.AttrTTL: item.Int(h.now.AddDate(10, 0, 0).Unix())})
}

// overwrite changes one of the rows.
func (h *history) overwrite(rows map[string]item.Item, set item.Item) error {
	if len(rows) == 0 {
		return errNothing
	}
	names := slices.Sorted(maps.Keys(rows))
	row := rows[names[h.luck.IntN(len(names))]]
	h.strikeAt(row.Key())
	_, err := h.store.Update(noContext, table.Update{Key: row.Key(), Set: set})
	return err
}

// strayLinks puts more links of an item than one transaction removes.
func (h *history) strayLinks(s *userState) error {
	ids := slices.Sorted(maps.Keys(s.items))
	if len(ids) == 0 {
		return errNothing
	}
	h.strikeAt(s.items[ids[0]].Key())
	source := entity.Ref{Type: s.items[ids[0]].Str(entity.AttrType), ID: ids[0]}
	if source.Type == entity.TypeInstance {
		return errNothing
	}
	n := pick(h.luck, 1, 1, tooManyRows)
	for range n {
		row := links.Row(s.user, source, product.TypeNote+"/note_"+h.luck.uuid())
		if err := h.store.Put(noContext, table.Put{Item: row}); err != nil {
			return err
		}
	}
	return nil
}

// strayRow puts a row of an item that never existed, or one according to which a present item has left.
func (h *history) strayRow(s *userState) error {
	if h.luck.one(2) {
		of := pick(h.luck, stats.Name, ownName, insights.Name)
		row := entity.LedgerKey(s.user, of, pick(h.luck, "note_none", "none")).Item()
		row[ledgerVersion], row[ledgerContribution] = item.Int(1), item.String("")
		return h.store.Put(noContext, table.Put{Item: row})
	}
	return h.strayCold(s)
}

// strayCold puts a row according to which a present item has left.
func (h *history) strayCold(s *userState) error {
	for _, id := range slices.Sorted(maps.Keys(s.items)) {
		it := s.items[id]
		if s.colds[id] != nil || it.Str(entity.AttrType) == entity.TypeInstance {
			continue
		}
		row := entity.ColdKey(s.user, id).Item()
		row[attrObject], row[entity.AttrVersion] = item.String("archive/"+s.user+"/"+id+"/999.json"), item.Int(999)
		row["itemType"], row["itemId"] = it[entity.AttrType], item.String(id)
		row.SetTime(product.AttrExpiresAt, h.now.AddDate(1, 0, 0))
		h.struck = entity.Ref{Type: it.Str(entity.AttrType), ID: id}
		return h.store.Put(noContext, table.Put{Item: row})
	}
	return errNothing
}

// strayCall leaves a schedule with an unreadable payload, under a possible name of the product. It does not come due:
// its call could only be given up.
func (h *history) strayCall(s *userState) error {
	name := reminders.ScheduleName(s.user, "rem_"+h.luck.uuid(), 0)
	one := schedule.Schedule{
		Name: name, At: h.now.AddDate(100, 0, 0).Truncate(time.Second), Payload: []byte(`{"userId":"` + s.user + `"}`),
	}
	h.strayed = true
	return h.schedules.Put(noContext, one)
}

// strayWalk leaves a walk over the user's items whose record was never delivered again.
func (h *history) strayWalk(s *userState) error {
	row := entity.ZoneKey(s.user, s.meta.Int(entity.AttrVersion)+1000).Item()
	for _, id := range s.ids[entity.TypeMaster] {
		if s.items[id].Bool(product.AttrHasExceptions) {
			row = entity.SeriesKey(s.user, id, s.items[id].Int(entity.AttrVersion)+1000).Item()
		}
	}
	row[walkRevision], row["open"] = item.Int(1), item.Map{}
	row["itemType"], row["after"] = item.String(""), item.String("")
	row["last"], row["done"] = item.Bool(false), item.Bool(false)
	row[entity.AttrTTL] = item.Int(h.now.AddDate(0, 0, 30).Unix())
	return h.store.Put(noContext, table.Put{Item: row})
}
