package api

import (
	"context"
	"encoding/hex"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"

	"nexus/pkg/changes/changelog"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
)

// Parameters and members of the feed.
const (
	paramSince = "since"
	paramTypes = "types"

	memberCursor    = "cursor"
	memberMore      = "more"
	memberCount     = "count"
	memberDigest    = "digest"
	memberGone      = "gone"
	memberItem      = "item"
	memberExpiresAt = "expiresAt"

	changeSchema = "Change"
	changedItem  = "ChangedItem"
	// changedPrefix begins the names of the schemas of entities that the feed shows in another form than their own GET.
	changedPrefix = "Changed"
)

// changesOperations returns the operations by which a device is brought up to date.
func changesOperations(r *entity.Registry) []*operation {
	types := entity.Field{
		Name: paramTypes, Kind: entity.Tags, Max: 20, MemberMin: 1, MemberMax: 64, Enum: query.FeedTypes(r),
		Doc: "The types to follow; all unless given. The settings, USER_META, always are among them. A token and a cursor " +
			"keep the types of their snapshot; beside them only the same are accepted.",
	}
	next := textSchema("The token: since in the next request. To be stored with the changes, in one transaction.")
	return []*operation{
		{
			id: "getChanges", method: http.MethodGet, path: "/v1/changes", tag: "changes", resets: true,
			summary: "Read everything, then what has changed since",
			detail: "Without since: a snapshot of all that the user has, a page at a time; each page has a cursor, the last " +
				"one next. With since: what has changed since that token, each thing as it is now, and next, behind it; more " +
				"says that there is another page. Nothing new is the same token again, or 304 if If-None-Match has it. " +
				"A thing may come again. An answer ends in front of 4 MB: then changes have omitted instead of item, and are to " +
				"be read by their own GET before next is stored.",
			query: []entity.Field{
				{Name: paramSince, Kind: entity.Text, Doc: "next of the last answer."},
				types,
				{Name: "limit", Kind: entity.Integer, Min: 1, Max: query.MaxChanges,
					Doc: "Only with since: from how many changes on the page ends; 200 unless given."},
				{Name: memberCursor, Kind: entity.Text, Doc: "cursor of the snapshot's page before."},
			},
			answers: []documented{{
				status: http.StatusOK, doc: "A page of the snapshot, or of the changes.",
				schema: record(nil, object{
					{"items", listOf(schemaRef(changeSchema))},
					{memberCursor, textSchema("Leads to the next page of the snapshot; absent on the last one.")},
					{memberChanges, listOf(schemaRef(changeSchema))},
					{"next", next},
					{memberMore, flagSchema("With since: whether there is another page.")},
				}),
			}},
			run: getChanges,
		},
		{
			id: "checkChanges", method: http.MethodGet, path: "/v1/changes/check", tag: "changes",
			summary: "Ask what a complete copy holds",
			detail: "For doubt, and once in 30 days: it reads everything. The digest is that of the entries of all things: of " +
				"each the first 16 bytes of the SHA-256 of its text, combined by XOR. The text is the type, the id and the " +
				"version, with a space between, and with an exclamation mark behind the version of an entity that has " +
				"expiresAt; of the values tree VALUES and its revId. The settings are always counted, the plans never.",
			query: []entity.Field{types},
			answers: []documented{{status: http.StatusOK, doc: "The number of things, and their digest.", schema: record(
				[]string{memberCount, memberDigest, "next"}, object{
					{memberCount, object{{"type", "integer"}, {"minimum", 0}, {"description", "How many things there are."}}},
					{memberDigest, object{{"type", "string"}, {"pattern", "^[0-9a-f]{32}$"}, {"description", "In hexadecimal."}}},
					{"next", textSchema("The token of the log as the check began. Not to be stored: no copy has read up to it.")},
				})}},
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				check, err := s.Queries.Check(ctx, c.user, c.query.Strings(paramTypes))
				if err != nil {
					return answer{}, err
				}
				out := strconv.AppendInt([]byte(`{"`+memberCount+`":`), int64(check.Count), 10)
				out = appendText(append(out, `,"`+memberDigest+`":`...), hex.EncodeToString(check.Digest[:]))
				out = appendText(append(out, `,"next":`...), check.Next)
				return answer{status: http.StatusOK, body: append(out, '}')}, nil
			},
		},
	}
}

func getChanges(ctx context.Context, s *Config, c call) (answer, error) {
	if !c.query.Has(paramSince) {
		return getSnapshot(ctx, s, c)
	}
	if c.query.Has(memberCursor) {
		return answer{}, refuse(malformed, "A cursor is of a snapshot: it has no meaning beside since.")
	}
	list := changes{body: []byte(`{"` + memberChanges + `":[`)}
	page, err := s.Queries.Since(ctx, c.user, query.SinceQuery{
		Token: c.query.Str(paramSince), Types: c.query.Strings(paramTypes), Limit: int(c.query.Int("limit")),
	}, list.add)
	if err != nil {
		return answer{}, err
	}
	out := appendText(append(list.body, `],"next":`...), page.Next)
	out = strconv.AppendBool(append(out, `,"`+memberMore+`":`...), page.More)
	return answer{status: http.StatusOK, body: append(out, '}'), tag: page.Next}, nil
}

func getSnapshot(ctx context.Context, s *Config, c call) (answer, error) {
	switch {
	case c.query.Has("limit"):
		return answer{}, refuse(malformed, "limit has a meaning only beside since.")
	case c.query.Has(memberCursor) && c.query.Str(memberCursor) == "":
		return answer{}, query.ErrCursor
	}
	list := changes{body: []byte(`{"items":[`)}
	page, err := s.Queries.Snapshot(ctx, c.user, query.SnapshotQuery{
		Types: c.query.Strings(paramTypes), Cursor: c.query.Str(memberCursor),
	}, list.add)
	if err != nil {
		return answer{}, err
	}
	out := append(list.body, ']')
	if page.Cursor != "" {
		out = appendText(append(out, `,"`+memberCursor+`":`...), page.Cursor)
	} else {
		out = appendText(append(out, `,"next":`...), page.Next)
	}
	return answer{status: http.StatusOK, body: append(out, '}')}, nil
}

// changes is the list of an answer of the feed.
type changes struct {
	body     []byte
	n, sent  int
	appended []byte
}

// add appends a change, and reports whether there was room for its item. A change without one always has room.
func (l *changes) add(c query.Change) bool {
	l.appended = appendChange(appendComma(l.appended[:0], l.n), c)
	size := sentSize(l.appended)
	if c.Item != nil && l.sent+size > maxSent {
		return false
	}
	l.body, l.n, l.sent = append(l.body, l.appended...), l.n+1, l.sent+size
	return true
}

func appendChange(out []byte, c query.Change) []byte {
	out = appendText(append(out, `{"type":`...), c.Type)
	switch c.Type {
	case changelog.TypePlan:
		out = appendText(append(out, `,"date":`...), c.ID)
		fallthrough
	case changelog.TypeValues:
		out = appendText(append(out, `,"revId":`...), c.RevID)
		if c.Gone {
			out = append(out, `,"`+memberGone+`":true`...)
		}
		return append(appendText(append(out, `,"revTs":`...), item.FormatInstant(c.RevTs)), '}')
	}
	out = appendText(append(out, `,"id":`...), c.ID)
	out = strconv.AppendInt(append(out, `,"version":`...), c.Version, 10)
	if !c.ExpiresAt.IsZero() {
		out = appendText(append(out, `,"`+memberExpiresAt+`":`...), item.FormatInstant(c.ExpiresAt))
	}
	switch {
	case c.Gone:
		out = append(out, `,"`+memberGone+`":true`...)
	case c.Omitted:
		out = append(out, omitted...)
	default:
		out = c.Entity.AppendJSON(append(out, `,"`+memberItem+`":`...), c.Item)
	}
	return append(out, '}')
}

// changesSchemas returns the schemas of a change and of its item.
func changesSchemas(r *entity.Registry) object {
	var out object
	var variants []variant
	for _, t := range r.Types() {
		name := entityNoun(t)
		if t.Name == entity.TypeInstance { // without what it takes from its series
			name = changedPrefix + name
			stored := storedSchema(r, t)
			stored.change("properties", func(v any) any {
				return slices.DeleteFunc(v.(object), func(p member) bool { return p.name == product.AttrRecurrenceID })
			})
			stored.change("required", func(v any) any {
				return slices.DeleteFunc(v.([]string), func(name string) bool {
					return name == product.AttrRecurrenceID || name == product.AttrIsAllDay
				})
			})
			out = append(out, withNamedParts(name, stored)...)
		}
		variants = append(variants, variant{t.Name, name})
	}
	change := record([]string{"type"}, object{
		{"type", object{{"type", "string"}, {"enum", query.FeedTypes(r)}, {"description", "What has changed."}}},
		{"id", textSchema("The entity's id.")},
		{"version", object{{"type", "integer"}, {"minimum", 0}, {"description", "The entity's version, or that of its " +
			"removal. A client ignores a lower one than it has; of the same version the later answer counts."}}},
		{memberExpiresAt, instantSchema("When the entity leaves. The client then drops it by itself.")},
		{memberGone, flagSchema("True if there is no such entity any more, or the plan of the day was deleted.")},
		{memberOmitted, flagSchema("True if the answer had no room for the item: read the entity by itself.")},
		{memberItem, schemaRef(changedItem)},
		{"date", object{{"type", "string"}, {"format", "date"}, {"description", "The day of a PLAN."}}},
		{"revId", revIDSchema("The present revision of VALUES, or of a PLAN. Their states have their own GET. Of a PLAN " +
			"that is gone an id that sorts behind its last revision.")},
		{"revTs", instantSchema("When that revision was made.")},
	})
	return append(out, member{changeSchema, change}, member{changedItem, union(
		"The entity as its own GET answers it, with two differences. An INSTANCE has what modifiedFields names, and all "+
			"times if that names one of them; the rest is its series'. What changes without a version is left out.",
		entity.AttrType, variants...)})
}

// problemOfFeed turns an error of the feed into its answer; nil for another error.
func problemOfFeed(err error) *Problem {
	var (
		reset *query.ResetError
		busy  *query.BusyError
	)
	switch {
	case errors.As(err, &reset):
		p := refuse(syncReset, "The token is good no more: take a new snapshot.")
		p.Reason = string(reset.Reason)
		return p
	case errors.As(err, &busy):
		seconds := max(1, int(math.Ceil(busy.RetryAfter.Seconds())))
		p := refuse(tooMany, "Ask again in %d s.", seconds).with("Retry-After", strconv.Itoa(seconds))
		p.RetryAfter = seconds
		return p
	case errors.Is(err, query.ErrToken):
		return refuse(malformed, "since is no token of this API.")
	case errors.Is(err, query.ErrTypes):
		return refuse(malformed, "types are not those of the token: leave them out, or take a snapshot of these types.")
	}
	return nil
}
