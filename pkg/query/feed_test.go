package query_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/changes/changelog"
	"nexus/pkg/changes/token"
	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
)

const revUUID = "0b0f5a52-7b0e-4c6e-9d3e-2f2f0c1f3a11"

// entryOf returns the entry of an item as it is.
func entryOf(it item.Item) changelog.Entry {
	key, err := entity.ParseSortKey(it.Key().SK)
	if err != nil {
		panic(err)
	}
	return changelog.Entry{Ref: key.Ref(), Version: it.Int(entity.AttrVersion), Lapsing: it.Has(entity.AttrTTL)}
}

// removal returns the entry of an item's removal.
func removal(it item.Item) changelog.Entry {
	e := entryOf(it)
	e.Version, e.Lapsing = e.Version+1, false
	return e
}

// appendRow appends a row to the user's log.
func (b *fixture) appendRow(user string, n int64, entries ...changelog.Entry) changelog.Row {
	return b.putRow(user, changelog.NewRow(n, entries, uint64(100+n), n == 1, b.now))
}

func (b *fixture) putRow(user string, row changelog.Row) changelog.Row {
	b.put(row.Item(user))
	return row
}

// textOf returns a change as a line: "TASK task_1 3", with what is special behind it.
func textOf(c query.Change) string {
	text := strings.TrimRight(fmt.Sprintf("%s %s %s", c.Type, c.ID, c.RevID), " ")
	if c.RevID == "" {
		text += fmt.Sprintf(" %d", c.Version)
	}
	if !c.ExpiresAt.IsZero() {
		text += " until " + item.FormatInstant(c.ExpiresAt)
	}
	if c.Gone {
		text += " gone"
	}
	if c.Omitted {
		text += " omitted"
	}
	return text
}

// lines collects changes, of which it refuses entities once it has so many; 0 for no bound.
type lines struct {
	most  int
	n     int
	texts []string
	all   []query.Change
}

func (l *lines) add(c query.Change) bool {
	if c.Item != nil && c.Type != entity.TypeUserMeta {
		if l.n++; l.most > 0 && l.n > l.most {
			return false
		}
	}
	l.all, l.texts = append(l.all, c), append(l.texts, textOf(c))
	return true
}

// snapshot reads a whole snapshot in pages of so many entities, and returns its lines and its token.
func (b *fixture) snapshot(most int, types ...string) (texts []string, next string, pages int) {
	q := query.SnapshotQuery{Types: types}
	for {
		l := lines{most: most}
		page, err := b.service.Snapshot(ctx, ann, q, l.add)
		require.NoError(b, err)
		texts, pages = append(texts, l.texts...), pages+1
		if q = (query.SnapshotQuery{Cursor: page.Cursor}); page.Next != "" {
			return texts, page.Next, pages
		}
		require.Less(b, pages, 100)
	}
}

// since returns the lines of one answer.
func (b *fixture) since(text string, limit int) ([]string, query.SincePage) {
	var l lines
	page, err := b.service.Since(ctx, ann, query.SinceQuery{Token: text, Limit: limit}, l.add)
	require.NoError(b, err)
	return l.texts, page
}

// reset returns the reason for which a token is refused.
func (b *fixture) reset(user, text string) query.ResetReason {
	var l lines
	_, err := b.service.Since(ctx, user, query.SinceQuery{Token: text}, l.add)
	var reset *query.ResetError
	require.ErrorAs(b, err, &reset)
	require.Empty(b, l.all)
	return reset.Reason
}

// tokenAt returns the token of a row of ann's log.
func tokenAt(row changelog.Row, types ...string) string {
	return token.Token{
		Form: token.FormIn(0), Owner: token.OwnerOf(ann), N: row.N, X: row.X, Types: token.TypesOf(types),
	}.String()
}

func head(at repository.Address, when time.Time) item.Item {
	row := at.HeadKey().Item()
	row["headRevId"] = item.String(repository.NewRevisionID(when, revUUID))
	return row
}

// someOfEach stores one thing of each kind for ann, and returns what a snapshot shows.
func someOfEach(b *fixture) (shown []string) {
	event := b.add(ann, product.Event(), `{"title":"e","startUtc":"2025-12-01T10:00:00Z","endUtc":"2025-12-01T11:00:00Z",
		"startTzid":"Europe/Paris","endTzid":"Europe/Paris"}`, nil)
	master := b.add(ann, product.Master(), `{"title":"m","startUtc":"2025-12-01T10:00:00Z",
		"endUtc":"2025-12-01T11:00:00Z","startTzid":"Europe/Paris","endTzid":"Europe/Paris","rrule":"FREQ=DAILY"}`,
		item.Item{product.AttrHasExceptions: item.Bool(true)})
	masterID := master.Str(product.Master().IDAttr)
	var instance item.Item
	for _, date := range []string{"20251202", "20251203"} {
		ref := entity.Ref{Type: entity.TypeInstance, ID: entity.InstanceID(masterID, date)}
		row := entity.ItemKey(ann, ref).Item()
		for name, v := range (item.Item{
			entity.AttrType: item.String(entity.TypeInstance), product.AttrEventID: item.String(ref.ID),
			product.AttrMasterID: item.String(masterID), entity.AttrVersion: item.Int(2), product.AttrIsAllDay: item.Bool(false),
		}) {
			row[name] = v
		}
		if date == "20251202" {
			row[product.AttrModifiedFields], row["title"] = item.Strings("title"), item.String("other")
			instance = row
		} // the other one was undone
		b.put(row)
	}
	ttl := func(d time.Duration) item.Item { return item.Item{entity.AttrTTL: item.Int(b.now.Add(d).Unix())} }
	note := b.add(ann, product.Note(), `{"title":"n"}`, nil)
	reminder := b.add(ann, product.Reminder(), `{"title":"r","triggerUtc":"2025-12-02T10:00:00Z","tzid":"UTC"}`, nil)
	leaving := b.add(ann, product.Task(), `{"title":"t"}`, ttl(time.Hour))
	b.add(ann, product.Task(), `{"title":"past its ttl"}`, ttl(-time.Hour))
	b.put(head(repository.Address{User: ann}, noon))
	for _, date := range []string{"2025-10-30", "2025-10-31", "2025-12-01", "2026-03-02", "2026-03-03"} {
		b.put(head(repository.Address{User: ann, Date: date}, noon))
	}
	rev := repository.NewRevisionID(noon, revUUID)
	return []string{
		"USER_META ann 0", "VALUES  " + rev, "PLAN 2025-10-31 " + rev, "PLAN 2025-12-01 " + rev, "PLAN 2026-03-02 " + rev,
		entryOf(event).String(), entryOf(instance).String(), entryOf(master).String(), entryOf(note).String(),
		entryOf(reminder).String(),
		strings.TrimSuffix(entryOf(leaving).String(), "!") + " until " + item.FormatInstant(b.now.Add(time.Hour)),
	}
}
