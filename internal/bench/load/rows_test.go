package load_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// base is the Monday at whose beginning the measured week begins, where no clock says otherwise.
var base = time.Date(2026, 6, 8, 0, 0, 0, 0, time.UTC)

func now() time.Time { return base }

// rows are the population as a table holds it once every consumer has done its work, as far as reads depend on it.
func (p population) rows(tb testing.TB, user string) []item.Item {
	tb.Helper()
	meta := product.NewUserMeta(user, base)
	meta[product.AttrDefaultTzid] = item.String(homeZone)
	out, masters := []item.Item{meta}, []item.Item{}
	for i, d := range slices.Concat(p.Series, p.Items) {
		it := d.created(tb, user, fmt.Sprintf("%08d", i), d.At)
		if d.Type == entity.TypeMaster {
			masters = append(masters, it)
		}
		out = append(out, it)
		if at, floating, ok := product.TaskDue(it); d.Type == product.TypeTask && ok {
			counter := entity.LedgerKey(user, "stats", it.Str(product.Task().IDAttr)).Item()
			counter[item.AttrGSI3PK] = item.String(entity.UserPK(user))
			counter[item.AttrGSI3SK] = item.String(entity.OpenSK(d.Type, floating, at))
			out = append(out, counter)
		}
	}
	for _, e := range p.Exceptions {
		master := masters[e.Series]
		master[product.AttrHasExceptions] = item.Bool(true)
		out = append(out, exceptionRow(user, master, e))
	}
	return out
}

// created is the item of a user that the document creates; the id is without the prefix of its type.
func (d document) created(tb testing.TB, user, id string, at time.Time) item.Item {
	tb.Helper()
	text, err := json.Marshal(d.Body)
	require.NoError(tb, err)
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	doc := map[string]any{}
	require.NoError(tb, decoder.Decode(&doc))
	t := product.Registry().ByName(d.Type)
	patch, wrong := t.Parse(doc)
	fields, more := t.Merge(nil, patch)
	it := t.NewItem(user, t.IDPrefix+"_"+id, fields, at, product.NewUserMeta(user, at).Map(product.AttrPreferences))
	require.Empty(tb, slices.Concat(wrong, more, t.Validate(it)), id)
	return it
}

func exceptionRow(user string, master item.Item, e exceptionDoc) item.Item {
	fields := item.Item{product.AttrMasterID: master[product.AttrMasterID], product.AttrIsAllDay: item.Bool(false)}
	original, _ := master.Time(product.AttrStartUtc)
	on, _ := item.ParseCompactDate(e.Date)
	wall := item.Wall(original, zone())
	start := item.Resolve(on.Add(wall.Sub(wall.Truncate(day))), zone())
	fields.SetTime(product.AttrRecurrenceID, start)
	own := map[string]item.Value{}
	for name, v := range e.Body {
		own[name] = item.String(v.(string))
	}
	if e.Body == nil {
		own[entity.AttrStatus] = item.String(product.StatusCancelled)
	}
	fields[product.AttrStartTzid] = item.String(homeZone)
	fields.SetTime(product.AttrStartUtc, start)
	maps.Copy(fields, own)
	start, _ = fields.Time(product.AttrStartUtc)
	fields.SetTime(product.AttrEndUtc, start.Add(45*time.Minute))
	var names item.List
	for _, name := range slices.Sorted(maps.Keys(own)) {
		names = append(names, item.String(name))
	}
	fields[product.AttrModifiedFields] = names
	return product.Instance().NewItem(user, entity.InstanceID(master.Str(product.AttrMasterID), e.Date), fields, base, nil)
}
