package query

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/changes/changelog"
	"nexus/pkg/changes/token"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// SinceQuery asks for what has changed since a token.
type SinceQuery struct {
	Token string
	// Types must be those of the token, if there are any.
	Types []string
	Limit int // 0 for [DefaultChanges]
}

// SincePage ends an answer of [Service.Since]: Next is the token behind its changes, and the very token of the question
// if nothing new was read. More says that the log goes on.
type SincePage struct {
	Next string
	More bool
}

// Since calls add for each thing that has changed since the token, as it is now: at least as far as the log says. The
// log's rows are read whole. The page ends behind the row with which it has Limit entries or 1 MB of items. Once add
// returns false for an entity, add gets it again without the item ([Change.Omitted]), and so it gets the rest of that
// row, which is the page's last one.
//
// Rows and items are read eventually consistent. What is behind the log is read again, consistently, and so are rows
// that do not follow the token's row; only then it is a [*ResetError].
func (s *Service) Since(ctx context.Context, user string, q SinceQuery, add func(Change) bool) (SincePage, error) {
	if err := checkUser(user); err != nil {
		return SincePage{}, err
	}
	t, err := s.tokenOf(user, q)
	if err != nil {
		return SincePage{}, err
	}
	limit := q.Limit
	switch {
	case limit == 0:
		limit = DefaultChanges
	case limit < 1 || limit > MaxChanges:
		return SincePage{}, refuse("limit", "must be 1 to %d", MaxChanges)
	}
	rows, more, err := s.rowsBehind(ctx, user, t, limit, true)
	if err != nil {
		return SincePage{}, err
	}
	f := feed{Service: s, user: user, token: t, add: add}
	passed, err := f.serve(ctx, rows)
	if err != nil {
		return SincePage{}, fmt.Errorf("changes of %s: %w", entity.UserPK(user), err)
	}
	return SincePage{Next: f.token.String(), More: more || passed < len(rows)}, nil
}

// tokenOf reads the token of a question and checks all that needs no row.
func (s *Service) tokenOf(user string, q SinceQuery) (token.Token, error) {
	t, err := token.Parse(q.Token)
	if err != nil {
		return token.Token{}, err
	}
	types, err := s.typesOf(q.Types)
	switch {
	case err != nil:
		return token.Token{}, err
	case len(q.Types) > 0 && !t.Types.Equal(types):
		return token.Token{}, ErrTypes
	case t.Owner != token.OwnerOf(user):
		return token.Token{}, &ResetError{ResetUnknown}
	}
	return t, s.checkAge(t)
}

// checkAge refuses a token of another form, and one of an empty log that is too old.
func (s *Service) checkAge(t token.Token) error {
	switch {
	case !t.Form.Fits(s.form):
		return &ResetError{ResetForm}
	case t.N == 0 && s.now().Sub(time.Unix(int64(t.X), 0)) >= changelog.Trusted:
		return &ResetError{ResetExpired}
	}
	return nil
}

// rowsBehind returns the rows behind the token's, up to the one with which they have so many entries of its types or
// 1 MB, and whether more follow. A read that may lag is repeated if its rows do not follow the token's.
func (s *Service) rowsBehind(
	ctx context.Context, user string, t token.Token, limit int, mayLag bool,
) (rows []changelog.Row, more bool, err error) {
	for _, eventual := range []bool{true, false} {
		if eventual && !mayLag {
			continue
		}
		rows, more, err = s.follow(ctx, user, t, limit, eventual)
		var reset *ResetError
		if !errors.As(err, &reset) {
			return rows, more, err
		}
	}
	if t.N > 0 {
		return nil, false, err
	}
	// What is left of a log that counted as empty, and counts so still, says nothing.
	newest, failed := s.newest(ctx, user)
	if failed != nil {
		return nil, false, failed
	}
	if newest == nil {
		return nil, false, nil
	}
	return nil, false, err
}

// follow is one reading of rowsBehind. A [*ResetError] says that the rows read do not follow the token's.
func (s *Service) follow(
	ctx context.Context, user string, t token.Token, limit int, eventual bool,
) (rows []changelog.Row, more bool, err error) {
	now := s.now()
	// The token's own row comes first, and one row more than needed shows whether the log goes on.
	read := changelog.Read{User: user, From: max(t.N, 1), Page: limit + 2, Eventual: eventual}
	own, wanted := t.N > 0, t.N+1
	entries, size := 0, 0
	for row, err := range changelog.Rows(ctx, s.store, read) {
		damaged := errors.Is(err, changelog.ErrRow)
		switch {
		case err != nil && !damaged:
			return nil, false, err
		case own && row.N == t.N && row.X != t.X:
			return nil, false, &ResetError{ResetUnknown}
		case own && row.N == t.N && !row.Old(now):
			own = false
			continue
		case own || damaged || row.N != wanted || row.Old(now) || row.First && row.N > 1:
			return nil, false, &ResetError{ResetExpired}
		case entries >= limit || size >= maxPageBytes:
			return rows, true, nil
		}
		rows, wanted = append(rows, row), wanted+1
		size += row.Size
		for _, e := range row.Entries {
			if s.follows(t.Types, e.Type) {
				entries++
			}
		}
	}
	if own {
		return nil, false, &ResetError{ResetExpired}
	}
	return rows, false, nil
}

// feed serves rows of the log to one client.
type feed struct {
	*Service
	user  string
	token token.Token // behind the rows that were served
	add   func(Change) bool
	// least has each thing of the rows by its greatest entry, and served those that were served.
	least  map[entity.Ref]thing
	served map[entity.Ref]bool
}

// serve serves rows and returns how many. Each thing is served once, as it is now.
func (f *feed) serve(ctx context.Context, rows []changelog.Row) (passed int, err error) {
	f.least, f.served = map[entity.Ref]thing{}, map[entity.Ref]bool{}
	for _, row := range rows {
		for _, e := range row.Entries {
			if former, ok := f.least[e.Ref]; ok && former.Compare(e) >= 0 || !f.follows(f.token.Types, e.Type) {
				continue
			}
			if of, ok := f.thingOf(f.user, e); ok {
				f.least[e.Ref] = of
			}
		}
	}
	weight := 0
	for passed < len(rows) {
		group := f.group(rows[passed:])
		read, err := f.readGroup(ctx, group)
		if err != nil {
			return passed, err
		}
		for _, row := range group {
			full, bytes, err := f.serveRow(row, read)
			if err != nil {
				return passed, err
			}
			passed++
			f.token.N, f.token.X = row.N, row.X
			if weight += bytes; full || weight >= maxPageBytes {
				return passed, nil
			}
		}
	}
	return passed, nil
}

// group returns the first rows that together have one batch of things, or one row.
func (f *feed) group(rows []changelog.Row) []changelog.Row {
	n := 0
	for i, row := range rows {
		if n += len(row.Entries); i > 0 && n > table.MaxBatchGet {
			return rows[:i]
		}
	}
	return rows
}

// readGroup reads the things of the rows that were not yet served.
func (f *feed) readGroup(ctx context.Context, rows []changelog.Row) (map[item.Key]item.Item, error) {
	var things, behind []thing
	asked := map[entity.Ref]bool{}
	for _, row := range rows {
		for _, e := range row.Entries {
			if of, ok := f.least[e.Ref]; ok && !f.served[e.Ref] && !asked[e.Ref] {
				things, asked[e.Ref] = append(things, of), true
			}
		}
	}
	found, err := f.read(ctx, things, f.store.Peek)
	if err != nil {
		return nil, err
	}
	for _, of := range things {
		if of.isBehind(found[of.key]) {
			behind = append(behind, of)
		}
	}
	again, err := f.read(ctx, behind, f.store.BatchGet)
	for _, of := range behind {
		found[of.key] = again[of.key]
	}
	return found, err
}

// serveRow serves the things of one row that were not yet served, and returns the bytes of their items. Once one did
// not fit, the rest is served without items.
func (f *feed) serveRow(row changelog.Row, read map[item.Key]item.Item) (full bool, bytes int, err error) {
	for _, e := range row.Entries {
		of, ok := f.least[e.Ref]
		if !ok || f.served[e.Ref] {
			continue
		}
		f.served[e.Ref] = true
		c, ok, err := f.show(f.user, of, read[of.key])
		switch {
		case err != nil:
			return false, 0, err
		case !ok:
			continue
		}
		if !full && f.add(c) {
			bytes += weigh(c.Item)
			continue
		}
		full = true
		c.Omitted, c.Item = c.Item != nil, nil
		f.add(c)
	}
	return full, bytes, nil
}
