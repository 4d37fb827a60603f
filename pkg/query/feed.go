package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"nexus/pkg/changes/changelog"
	"nexus/pkg/changes/token"
	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/series"
	"nexus/pkg/table"
)

// Bounds of an answer of [Service.Since], in entries of the log's rows.
const (
	DefaultChanges = 200
	MaxChanges     = 500
)

// Change is one thing of a user as the feed shows it: an entity, the settings, or the head of a repository.
type Change struct {
	// Ref has the entity's type, [changelog.TypeValues] or [changelog.TypePlan]. The id is the entity's, the date of a
	// plan, or empty for the values tree.
	entity.Ref
	// Version is that of the entity; of one that is gone the version of its removal, or its own if it is past its ttl.
	Version int64
	// ExpiresAt is when the entity leaves; the zero time for one that stays.
	ExpiresAt time.Time
	// Gone says that there is no such entity any more: deleted, swept, past its ttl, or an exception that was undone. Of a
	// head it says that the plan was deleted; RevID is then what the log says of that.
	Gone bool
	// Omitted says that there is one for which the answer had no room: Item is nil.
	Omitted bool
	// Entity and Item are the entity as its own GET answers it, with two differences: of an exception there is only what
	// is its own, and what moves without a version is left out (statistics, hasExceptions).
	Entity *entity.Type
	Item   item.Item
	// RevID and RevTs are the revision of a head and its time.
	RevID string
	RevTs time.Time
}

// entry returns what the log says of the thing at least once it has come this far.
func (c Change) entry() changelog.Entry {
	return changelog.Entry{Ref: c.Ref, Version: c.Version, Lapsing: !c.ExpiresAt.IsZero(), RevisionID: c.RevID}
}

// Errors of the feed on which callers decide.
var (
	// ErrToken says that a text is no token (400).
	ErrToken = token.ErrToken
	// ErrTypes says that a token or a cursor is of other types than the question (400).
	ErrTypes = errors.New("the types are not those of the token")
)

// ResetReason says why a client must take a new snapshot.
type ResetReason string

// The reasons.
const (
	// ResetExpired says that the log does not reach back to the token's row any more.
	ResetExpired ResetReason = "expired"
	// ResetUnknown says that the token is of another log: of a table that was restored since, or of another user.
	ResetUnknown ResetReason = "unknown"
	// ResetForm says that the token is of another form: of another release, or from before an operator raised the form.
	ResetForm ResetReason = "form"
)

// ResetError says that a token is good no more (410).
type ResetError struct{ Reason ResetReason }

func (e *ResetError) Error() string { return "a new snapshot is needed: " + string(e.Reason) }

// FeedTypes returns the type names that the feed accepts. The settings are in every feed.
func FeedTypes(r *entity.Registry) []string {
	names := append(r.Collections(), changelog.TypeValues, changelog.TypePlan)
	if r.ByName(entity.TypeUserMeta) != nil {
		names = append(names, entity.TypeUserMeta)
	}
	slices.Sort(names)
	return names
}

// typesOf checks the names and returns their selection; nil selects all.
func (s *Service) typesOf(names []string) (token.Types, error) {
	known := FeedTypes(s.registry)
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, refuse("types", "each must be one of %s", strings.Join(known, ", "))
		}
	}
	if len(names) > token.MaxTypes {
		return nil, refuse("types", "must be at most %d", token.MaxTypes)
	}
	if len(names) > 1 { // the settings are in every feed
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == entity.TypeUserMeta })
	}
	return token.TypesOf(names), nil
}

// follows reports whether a feed of the types shows things of this type.
func (s *Service) follows(types token.Types, name string) bool {
	switch t := s.registry.ByName(name); {
	case name == changelog.TypeValues, name == changelog.TypePlan:
		return types.Has(name)
	case t == nil:
		return false
	default:
		return !t.HasCollection() || types.Has(name)
	}
}

// head returns the token of the log as it is now. A log whose newest row is too old to be relied on counts as empty.
func (s *Service) head(ctx context.Context, user string, types token.Types) (token.Token, error) {
	t := token.Empty(token.FormIn(s.form), user, s.now(), types)
	row, err := s.newest(ctx, user)
	if err == nil && row != nil {
		t.N, t.X = row.N, row.X
	}
	return t, err
}

// newest returns the log's newest row, read consistently; nil if there is none to be relied on.
func (s *Service) newest(ctx context.Context, user string) (*changelog.Row, error) {
	for row, err := range changelog.Rows(ctx, s.store, changelog.Read{User: user, Page: 1}) {
		switch {
		case err != nil && !errors.Is(err, changelog.ErrRow):
			return nil, err
		case row.Old(s.now()):
			return nil, nil
		}
		return &row, nil
	}
	return nil, nil
}

// thing is something that the log can name, with the key of its row.
type thing struct {
	changelog.Entry
	key item.Key
}

// thingOf returns where the row of a thing is; false for one that this release does not know.
func (s *Service) thingOf(user string, e changelog.Entry) (thing, bool) {
	switch t := s.registry.ByName(e.Type); {
	case e.IsHead():
		at := repository.Address{User: user, Date: e.ID}
		return thing{e, at.HeadKey()}, at.Check() == nil
	case t == nil:
		return thing{}, false
	case !t.HasCollection():
		return thing{e, entity.MetaKey(user)}, true
	default:
		if entity.CheckID(t.IDPrefix, e.ID) != nil {
			return thing{}, false
		}
		return thing{e, entity.ItemKey(user, e.Ref)}, true
	}
}

// isBehind reports whether a row that may be of a moment ago is not yet as far as the log says: missing, of a lower
// version or an earlier revision, or without the ttl that was announced.
func (t thing) isBehind(row item.Item) bool {
	switch {
	case row == nil:
		return true
	case t.IsHead():
		return row.Str(repository.AttrHeadRevisionID) < t.RevisionID
	}
	version := row.Int(entity.AttrVersion)
	return version < t.Version || t.Lapsing && version == t.Version && !row.Has(entity.AttrTTL)
}

// show returns the thing as the feed shows it; false for a head that does not exist and that no entry names.
func (s *Service) show(user string, of thing, row item.Item) (Change, bool, error) {
	now := s.now()
	t := s.registry.ByName(of.Type)
	switch {
	case of.IsHead() && row == nil && of.RevisionID == "":
		return Change{}, false, nil
	case of.IsHead() && row == nil:
		at, err := repository.RevisionTime(of.RevisionID)
		return Change{Ref: of.Ref, RevID: of.RevisionID, RevTs: at, Gone: true}, true, err
	case of.IsHead():
		c := Change{Ref: of.Ref, RevID: row.Str(repository.AttrHeadRevisionID)}
		var err error
		if c.RevTs, err = repository.RevisionTime(c.RevID); err != nil {
			return Change{}, false, fmt.Errorf("head %s: %w", of.key, err)
		}
		return c, true, nil
	case !t.HasCollection():
		it := product.UserMetaOf(user, row, now).Clone()
		delete(it, product.AttrStats)
		return Change{
			Ref: entity.Ref{Type: t.Name, ID: user}, Version: it.Int(entity.AttrVersion), Entity: t, Item: it,
		}, true, nil
	case row == nil:
		return Change{Ref: of.Ref, Version: of.Version, Gone: true}, true, nil
	}
	c := Change{Ref: of.Ref, Version: row.Int(entity.AttrVersion)}
	seen, ok := t.VisibleAt(row, now)
	if !ok || t.Name == entity.TypeInstance && !row.Has(product.AttrModifiedFields) {
		c.Gone = true
		return c, true, nil
	}
	if row.Has(entity.AttrTTL) {
		c.ExpiresAt = time.Unix(row.Int(entity.AttrTTL), 0).UTC()
	}
	if names := withoutVersion(t, row); names != nil {
		seen = seen.Clone()
		for _, name := range names {
			delete(seen, name)
		}
	}
	c.Entity, c.Item = t, seen
	return c, true, nil
}

// withoutVersion returns the attributes of a row that move without a version of it. Of an exception they are those that
// its series gives: the start that it replaces, and its times, unless they are its own.
func withoutVersion(t *entity.Type, row item.Item) []string {
	switch {
	case t.Name == entity.TypeMaster:
		return []string{product.AttrHasExceptions}
	case t.Name != entity.TypeInstance:
		return nil
	case series.HasOwnTimes(row):
		return []string{product.AttrRecurrenceID}
	}
	return append(product.SpanFields(), product.AttrRecurrenceID)
}

// heads returns the settings and the heads that a feed of the types begins with: all that no range of rows holds.
func (s *Service) heads(ctx context.Context, user string, types token.Types, plans bool) ([]Change, error) {
	var things []thing
	add := func(ref entity.Ref) {
		if t, ok := s.thingOf(user, changelog.Entry{Ref: ref}); ok && s.follows(types, ref.Type) {
			things = append(things, t)
		}
	}
	add(entity.Ref{Type: entity.TypeUserMeta, ID: user})
	add(entity.Ref{Type: changelog.TypeValues})
	if plans {
		for _, date := range repository.ShownDays(s.now()) {
			add(entity.Ref{Type: changelog.TypePlan, ID: date})
		}
	}
	rows, err := s.read(ctx, things, s.store.BatchGet)
	if err != nil {
		return nil, fmt.Errorf("settings and heads of %s: %w", entity.UserPK(user), err)
	}
	var out []Change
	for _, of := range things {
		c, ok, err := s.show(user, of, rows[of.key])
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, c)
		}
	}
	return out, nil
}

// read returns the rows of things by their keys. It makes no call for nothing.
func (s *Service) read(
	ctx context.Context, things []thing, get func(context.Context, []item.Key) ([]item.Item, error),
) (map[item.Key]item.Item, error) {
	if len(things) == 0 {
		return nil, nil
	}
	keys := make([]item.Key, len(things))
	for i, of := range things {
		keys[i] = of.key
	}
	rows, err := get(ctx, keys)
	return byKey(rows), err
}

// walk reads the user's entities of the types in the order of their sort keys, from behind the sort key on, and calls
// visit for each that is there, with its place. It ends when visit returns false, or behind so many pages of the store;
// then it returns the place of the last row that visit took or that does not count, and true. It includes every
// earlier write.
func (s *Service) walk(
	ctx context.Context, user string, types token.Types, behind string, pages int, visit func(Change) bool,
) (place string, more bool, err error) {
	names := s.registry.Collections()
	slices.Sort(names)
	for _, name := range names {
		if !s.follows(types, name) || entity.ItemPrefix(name) < behind && !isOfType(name, behind) {
			continue
		}
		q := table.Query{Partition: entity.UserPK(user), Range: table.Range{Prefix: entity.ItemPrefix(name)}}
		if isOfType(name, behind) {
			q.Start = table.Position(item.Key{PK: q.Partition, SK: behind}.Item())
		}
		for {
			if pages == 0 {
				return behind, true, nil
			}
			page, err := s.store.Query(ctx, q)
			if err != nil {
				return "", false, fmt.Errorf("read %s of %s: %w", name, entity.UserPK(user), err)
			}
			if len(page.Items) > 0 {
				pages--
			}
			for _, row := range page.Items {
				if c, ok := s.found(user, name, row); ok && !visit(c) {
					return behind, true, nil
				}
				behind = row.Str(item.AttrSK)
			}
			if q.Start = page.Next; len(q.Start) == 0 {
				break
			}
		}
	}
	return "", false, nil
}

// isOfType reports whether a sort key is that of a row of the type.
func isOfType(name, sk string) bool { return strings.HasPrefix(sk, entity.ItemPrefix(name)) }

// found shows a row that a range of the type holds; false for what is not there to a reader.
func (s *Service) found(user, typeName string, row item.Item) (Change, bool) {
	t := s.registry.ByName(typeName)
	if row.Str(entity.AttrType) != typeName {
		return Change{}, false
	}
	of := thing{Entry: changelog.Entry{Ref: entity.Ref{Type: typeName, ID: row.Str(t.IDAttr)}}, key: row.Key()}
	c, ok, err := s.show(user, of, row)
	return c, ok && err == nil && !c.Gone
}
