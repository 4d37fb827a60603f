package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/search"
)

// Bounds of a search.
const (
	// MaxSearched is how many entities a user may have who searches.
	MaxSearched = 50_000
	// maxSearchedBytes bounds their texts, which the memory of a function must hold with their words.
	maxSearchedBytes = 32 << 20
)

// ErrTooManyItems says that a user has more than a search can hold (422).
var ErrTooManyItems = errors.New("too many items to search")

// SearchQuery selects a user's entities by their words and by what they are. The zero SearchQuery selects all.
type SearchQuery struct {
	// Text has words, "phrases", and -words that no match has; the last word may be the beginning of a longer one.
	Text string
	// Types are names of [SearchTypes]; none means all. EVENT includes series and their exceptions.
	Types []string
	// Tags are all of them had, and of AnyTag one at least.
	Tags, AnyTag []string
	// Statuses are those of which it has one; none means any.
	Statuses []string
	// Is are words of [SearchMarks], all of which are true of it.
	Is []string
	// From and To bound the window [From, To) in which it is shown in an agenda. A zero bound is none.
	From, To time.Time
	// UpdatedFrom is the earliest time of its last change.
	UpdatedFrom time.Time
	// Sort is one of [SearchSorts]; empty means by rank if Text ranks, else by start if there is a window, else by the
	// last change.
	Sort   string
	Limit  int // 0 for [DefaultLimit]
	Cursor string
}

// SearchHit is an entity that was found.
type SearchHit struct {
	search.Hit
	// Span is when it takes place, in real instants: in the window, or from now on if it recurs. Nil if it has no time.
	Span *search.Span
	// Date is the local date YYYYMMDD that the rule gives the occurrence of a series or a recurring reminder.
	Date string
	// SeriesID is the series of an exception.
	SeriesID                      string
	AllDay, IsPinned, IsRecurring bool
}

// SearchPage is a part of an answer. Total counts all matches.
type SearchPage struct {
	Hits  []SearchHit
	Total int
	Next  string // the cursor of the next page; empty at the end
}

// SearchTypes returns the type names that a search accepts: series and their exceptions are events there.
func SearchTypes(r *entity.Registry) []string { return AgendaTypes(r) }

// SearchSorts returns the orders of hits.
func SearchSorts() []string {
	return []string{string(search.ByRank), string(search.ByUpdated), string(search.ByStart), string(search.ByTitle)}
}

// SearchMarks returns the words that say what an entity is.
func SearchMarks() []string {
	return []string{
		isOpen, isDone, isOverdue, isToday, isUndated, isPinned, isRecurring, isArchived,
	}
}

// Search finds a user's entities. The answer equals that of an index made of all entities as of the end of the change
// log, which follows a write within a second. It is made of a snapshot of the index and what the log says since. If
// there is none, it reads all entities. [ErrTooManyItems] if the user has too many.
func (s *Service) Search(ctx context.Context, user string, q SearchQuery) (SearchPage, error) {
	if err := checkUser(user); err != nil {
		return SearchPage{}, err
	}
	ask, err := s.ask(user, q)
	if err != nil {
		return SearchPage{}, err
	}
	if q.Text != "" && ask.words.IsEmpty() { // a sign alone is none of the questions that all items answer
		return SearchPage{}, nil
	}
	var out SearchPage
	err = s.withIndex(ctx, user, func(x *search.Index, zone *time.Location) {
		v := s.view(user, x, zone, ask)
		found := x.Find(v.question())
		out = SearchPage{Total: found.Total}
		for _, h := range found.Hits {
			out.Hits = append(out.Hits, v.hit(h))
		}
		if found.More {
			out.Next = cursor{Place: &found.Hits[len(found.Hits)-1].Place}.encode(ask.question)
		}
	})
	return out, err
}

// Tags returns the tags of a user's entities with how many have each, as [Service.Search] finds them.
func (s *Service) Tags(ctx context.Context, user string) (tags []search.Tag, err error) {
	if err := checkUser(user); err != nil {
		return nil, err
	}
	err = s.withIndex(ctx, user, func(x *search.Index, _ *time.Location) { tags = x.Tags(s.now()) })
	return tags, err
}

// withIndex calls use with the user's index as of now, and with the user's zone.
func (s *Service) withIndex(ctx context.Context, user string, use func(*search.Index, *time.Location)) error {
	if s.search == nil {
		return ErrNotFound
	}
	zone := time.UTC
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		meta, err := s.Me(gctx, user)
		if err == nil {
			zone = product.ZoneOf(product.Settings(meta))
		}
		return err
	})
	held := s.search.take(user, s.now())
	defer held.mu.Unlock()
	g.Go(func() error { return s.bringUp(gctx, user, held) })
	if err := g.Wait(); err != nil {
		return fmt.Errorf("search of %s: %w", entity.UserPK(user), err)
	}
	use(held.Index, zone)
	return nil
}

// asked is a checked question.
type asked struct {
	SearchQuery
	words    search.Query
	sort     search.Sort
	limit    int
	after    *search.Place
	question question
}

// hasWindow reports whether the question is about a window of time.
func (a *asked) hasWindow() bool {
	return !a.From.IsZero() || !a.To.IsZero() || slices.Contains(a.Is, isToday)
}

func (s *Service) ask(user string, q SearchQuery) (*asked, error) {
	if s.search == nil {
		return nil, ErrNotFound
	}
	a := &asked{SearchQuery: q}
	var wrong entity.Faults
	var err error
	if !utf8.ValidString(q.Text) || utf8.RuneCountInString(q.Text) > maxText {
		wrong.Add("q", "must have at most %d characters", maxText)
	} else if a.words, err = search.Parse(q.Text, s.search.Split); err != nil {
		wrong.Add("q", "must have at most %d words", search.MaxWords)
	}
	oneOf := func(param string, given, known []string) {
		if len(given) > maxTypes {
			wrong.Add(param, "must be at most %d", maxTypes)
		}
		if slices.ContainsFunc(given, func(one string) bool { return !slices.Contains(known, one) }) {
			wrong.Add(param, "each must be one of %s", strings.Join(known, ", "))
		}
	}
	oneOf("types", q.Types, SearchTypes(s.registry))
	oneOf("status", q.Statuses, SearchStatuses(s.registry))
	oneOf("is", q.Is, SearchMarks())
	for param, tags := range map[string][]string{"tags": q.Tags, "anyTag": q.AnyTag} {
		if len(tags) > maxTags {
			wrong.Add(param, "must be at most %d", maxTags)
		}
		if slices.ContainsFunc(tags, func(tag string) bool { return tag == "" || utf8.RuneCountInString(tag) > maxTag }) {
			wrong.Add(param, "each must have 1 to %d characters", maxTag)
		}
	}
	bounds := map[string]time.Time{"from": q.From, "to": q.To, "updatedFrom": q.UpdatedFrom}
	for param, at := range bounds {
		if !at.IsZero() && (at.Year() < minYear || at.Year() > maxYear) {
			wrong.Add(param, "must lie in the years %d to %d", minYear, maxYear)
		}
	}
	if !q.From.IsZero() && !q.To.IsZero() && !q.From.Before(q.To) {
		wrong.Add("to", "must be after from")
	}
	if a.limit, err = limitOf(q.Limit); err != nil {
		wrong.Add("limit", "must be 1 to %d", MaxLimit)
	}
	switch a.sort = search.Sort(q.Sort); {
	case q.Sort == "" && a.words.Ranks():
		a.sort = search.ByRank
	case q.Sort == "" && a.hasWindow():
		a.sort = search.ByStart
	case q.Sort == "":
		a.sort = search.ByUpdated
	case !slices.Contains(SearchSorts(), q.Sort):
		wrong.Add("sort", "must be one of %s", strings.Join(SearchSorts(), ", "))
	case a.sort == search.ByRank && !a.words.Ranks():
		wrong.Add("sort", "rank needs a word in q that a match has")
	}
	slices.SortFunc(wrong, func(a, b entity.FieldError) int { return strings.Compare(a.Pointer, b.Pointer) })
	if err := entity.Invalid(wrong); err != nil {
		return nil, err
	}
	a.question = a.asQuestion(user)
	c, ok, err := decodeCursor(q.Cursor, a.question)
	switch {
	case err != nil:
		return nil, err
	case ok && c.Place == nil:
		return nil, ErrCursor
	case ok:
		a.after = c.Place
	}
	return a, nil
}

// asQuestion holds everything that decides on hits and their order. The order in a list does not.
func (a *asked) asQuestion(user string) question {
	params := []string{a.Text, string(a.sort)}
	for _, list := range [][]string{a.Types, a.Tags, a.AnyTag, a.Statuses, a.Is} {
		text, err := json.Marshal(slices.Sorted(slices.Values(list)))
		if err != nil {
			panic("query: " + err.Error()) // strings always have a JSON form
		}
		params = append(params, string(text))
	}
	for _, at := range []time.Time{a.From, a.To, a.UpdatedFrom} {
		params = append(params, item.FormatInstant(at.UTC()))
	}
	return question{user, "search", params}
}

// SearchStatuses returns the statuses that entities of [SearchTypes] may have.
func SearchStatuses(r *entity.Registry) []string {
	var out []string
	for _, name := range SearchTypes(r) {
		f, _ := r.ByName(name).Field(entity.AttrStatus)
		for _, status := range f.Enum {
			if !slices.Contains(out, status) {
				out = append(out, status)
			}
		}
	}
	return out
}
