package query

import (
	"context"
	"errors"
	"sync"
	"time"

	"nexus/pkg/blob"
	"nexus/pkg/changes/token"
	"nexus/pkg/search"
	"nexus/pkg/snapshot"
	"nexus/pkg/text"
)

// Searching holds what searches need besides. Split is required.
type Searching struct {
	// Split says which words a text has: package words has it.
	Split func(string) []text.Word
	// Snapshots keeps indexes. Without it each is made of all entities, unless this process has it.
	Snapshots blob.Store
	// Failed, if set, is told of a snapshot that could not be read or kept. The search goes on without.
	Failed func(ctx context.Context, err error)
}

const (
	// maxTail is how many entries of the log are applied to an index at most: then a walk costs less.
	maxTail = 2000
	// freshTail is how many entries may be behind a snapshot before there is a new one, and freshFor its age then.
	freshTail = 200
	freshFor  = 20 * 24 * time.Hour
	// maxIndexReads bounds the store's pages of 1 MB that an index is made of.
	maxIndexReads = 500
	// heldFor is how long this process holds an index after its last search, and maxHeld how many bytes of texts.
	heldFor = 10 * time.Minute
	maxHeld = 32 << 20
	// maxTries bounds the indexes that are refused before one is made of all entities.
	maxTries = 4
)

// errLongTail says that too much has changed since a snapshot.
var errLongTail = errors.New("the log has too many entries since the snapshot")

// searches has the indexes that this process holds.
type searches struct {
	Searching
	shelf *snapshot.Shelf // nil without Snapshots
	mu    sync.Mutex
	held  map[string]*held // by user
}

func newSearches(c *Searching, form uint16) *searches {
	if c == nil {
		return nil
	}
	s := &searches{Searching: *c, held: map[string]*held{}}
	if c.Snapshots != nil {
		s.shelf = snapshot.New(c.Snapshots, "search", search.Form<<16|uint32(form))
	}
	return s
}

// held is the index of one user.
type held struct {
	mu            sync.Mutex
	*search.Index // nil until it is loaded or made
	// at is the row of the log up to which the index has come.
	at token.Token
	// kept are the snapshots that are known, the newest first, and made is when that was made; the zero time is none.
	// Behind counts the entries of the log since then.
	kept   []snapshot.At
	made   time.Time
	behind int

	used  time.Time // of these two the lock is that of searches
	bytes int
}

// take returns the user's index, locked, and forgets those that were not used for long.
func (s *searches) take(user string, now time.Time) *held {
	s.mu.Lock()
	total := 0
	var oldest string
	for name, h := range s.held {
		switch age := now.Sub(h.used); {
		case age >= heldFor || age < 0:
			delete(s.held, name)
			continue
		case name != user && (oldest == "" || h.used.Before(s.held[oldest].used)):
			oldest = name
		}
		total += h.bytes
	}
	if total > maxHeld && oldest != "" {
		delete(s.held, oldest)
	}
	h := s.held[user]
	if h == nil {
		h = &held{}
		s.held[user] = h
	}
	h.used = now
	s.mu.Unlock()
	h.mu.Lock()
	return h
}

// bringUp brings the index up to the end of the change log. It begins with the one that the process holds, else with
// the newest snapshot, else with nothing.
func (s *Service) bringUp(ctx context.Context, user string, h *held) error {
	for range maxTries {
		if h.Index == nil && !s.load(ctx, user, h) {
			break
		}
		err := s.followLog(ctx, user, h)
		if err == nil {
			break
		}
		h.Index = nil
		var reset *ResetError
		if !errors.As(err, &reset) && !errors.Is(err, errLongTail) {
			return err
		}
		s.refuse(ctx, user, h)
	}
	if h.Index == nil {
		if err := s.build(ctx, user, h); err != nil {
			return err
		}
	}
	documents, bytes := h.Size()
	s.search.mu.Lock()
	h.bytes = bytes
	s.search.mu.Unlock()
	if documents > MaxSearched || bytes > maxSearchedBytes {
		documents, bytes = h.SizeAt(s.now())
	}
	if documents > MaxSearched || bytes > maxSearchedBytes {
		return ErrTooManyItems
	}
	s.save(ctx, user, h)
	return nil
}

// refuse removes a snapshot that does not lead to the end of the log. Else it would stand first for days after a
// restore of the table, and each search would walk.
func (s *Service) refuse(ctx context.Context, user string, h *held) {
	if len(h.kept) > 0 {
		s.failed(ctx, s.search.shelf.Remove(ctx, user, h.kept[0]))
	}
}

// load loads the newest snapshot; false if there is none.
func (s *Service) load(ctx context.Context, user string, h *held) bool {
	h.kept, h.made, h.behind = nil, time.Time{}, 0
	if s.search.shelf == nil {
		return false
	}
	kept, err := s.search.shelf.Newest(ctx, user)
	if err != nil || len(kept) == 0 {
		s.failed(ctx, err)
		return false
	}
	at := kept[0]
	h.kept = kept
	body, made, err := s.search.shelf.Load(ctx, user, at)
	if err == nil {
		h.Index, err = search.Decode(body, s.search.Split)
	}
	if err != nil {
		s.failed(ctx, err)
		if errors.Is(err, snapshot.ErrDamaged) || errors.Is(err, blob.ErrNotFound) || errors.Is(err, search.ErrBytes) {
			s.refuse(ctx, user, h)
		}
		h.Index = nil
		return false
	}
	h.made = made
	h.at = token.Token{Form: token.FormIn(s.form), Owner: token.OwnerOf(user), N: at.N, X: at.X}
	return true
}

// followLog applies what the log says since the index's row. A [*ResetError] says that the rows do not follow that row:
// the rules are those of a token. The log is read consistently, so that nothing is missing that it said before.
func (s *Service) followLog(ctx context.Context, user string, h *held) error {
	if err := s.checkAge(h.at); err != nil {
		return err
	}
	b := s.indexing(h.Index)
	f := feed{Service: s, user: user, token: h.at, add: func(c Change) bool { b.take(c); return true }}
	entries := 0
	for more := true; more; {
		rows, goesOn, err := s.rowsBehind(ctx, user, f.token, MaxChanges, false)
		if err != nil {
			return err
		}
		passed, err := f.serve(ctx, rows)
		if err != nil {
			return err
		}
		for _, row := range rows[:passed] {
			entries += len(row.Entries)
		}
		if more = goesOn || passed < len(rows); more && entries > maxTail {
			return errLongTail
		}
	}
	b.end()
	h.at, h.behind = f.token, h.behind+entries
	return nil
}

// build makes the index of all entities. The row up to which it has come is read before: what changes in between is in
// the log behind it.
func (s *Service) build(ctx context.Context, user string, h *held) error {
	at, err := s.head(ctx, user, nil)
	if err != nil {
		return err
	}
	b := s.indexing(search.New(s.search.Split))
	taken := 0
	_, more, err := s.walk(ctx, user, nil, "", maxIndexReads, func(c Change) bool {
		if taken++; taken > MaxSearched || b.bytes > maxSearchedBytes {
			return false
		}
		b.take(c)
		return true
	})
	switch {
	case err != nil:
		return err
	case more:
		return ErrTooManyItems
	}
	b.end()
	h.Index, h.at, h.kept, h.made, h.behind = b.index, at, nil, time.Time{}, 0
	return nil
}

// save keeps the index if there is no snapshot, or an old one. A log without rows has none to name it by.
func (s *Service) save(ctx context.Context, user string, h *held) {
	now := s.now()
	isFresh := !h.made.IsZero() && h.behind <= freshTail && now.Sub(h.made) < freshFor
	if s.search.shelf == nil || h.at.N == 0 || isFresh {
		return
	}
	body, at := h.Encode(now), snapshot.At{N: h.at.N, X: h.at.X}
	if err := s.search.shelf.Save(ctx, user, at, body, now, h.kept...); err != nil {
		s.failed(ctx, err)
		return
	}
	if h.made, h.behind = now, 0; len(h.kept) == 0 || h.kept[0] != at {
		h.kept = append([]snapshot.At{at}, h.kept[:min(1, len(h.kept))]...)
	}
	if !h.IsWorn() {
		return
	}
	if x, err := search.Decode(body, s.search.Split); err == nil {
		h.Index = x
	}
}

// failed tells of an error of the snapshots, which costs time alone.
func (s *Service) failed(ctx context.Context, err error) {
	if err != nil && s.search.Failed != nil {
		s.search.Failed(ctx, err)
	}
}
