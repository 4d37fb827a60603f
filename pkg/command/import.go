package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// Imported is one item of another calendar: an event, a series with its exceptions, a task, a reminder.
type Imported struct {
	Type *entity.Type
	// UID is its name in all calendars, Sequence its revision.
	UID      string
	Sequence int64
	// Stamp is the time at which the other calendar wrote this, which distinguishes revisions of one sequence; zero for
	// unknown.
	Stamp time.Time
	// Known is the id that it has here if it was exported from here; "" if it was not.
	Known string
	// ID returns the id of the k-th entity made for that UID, by the prefix of its type.
	ID func(prefix string, k int) string
	// Fields are all fields that the other calendar can express, in the form of [entity.Type.Parse]; absent ones are
	// [item.Null]. Fields that it cannot express are missing here, and stay unchanged.
	Fields item.Item
	// Kept is the rest of its content, which no field holds; it is stored beside the entity. "" for none.
	Kept string
	// CreatedAt and CompletedAt are used if they are in the past; zero for unknown.
	CreatedAt, CompletedAt time.Time
	// Exceptions are those of a series. OnlyExceptions says that the series itself is not part of the import.
	Exceptions     []Exception
	OnlyExceptions bool
	// Says reports whether an export of the stored items equals this import. Kept is the text stored beside the items, by
	// their keys.
	Says func(stored item.Item, kept map[item.Key]string, instances []item.Item) bool
}

// Exception is an occurrence of a series as the other calendar shows it.
type Exception struct {
	// Date is the date YYYYMMDD of the occurrence in the zone of its series, "" for a series that has none.
	Date func(tzid string) string
	// Sequence is the revision of the occurrence's content.
	Sequence int64
	// Stamp is the time at which that was written, as in an [Imported].
	Stamp time.Time
	// Fields are those of the occurrence as a whole: a comparison with its series finds its own.
	Fields item.Item
	// Kept is the content of the occurrence that no field holds, as in an [Imported].
	Kept string
	// Excluded says that the series excludes the occurrence. So its status is its own, also where that is the series'.
	Excluded bool
}

// Outcome is the outcome of one import.
type Outcome int

const (
	Unchanged Outcome = iota // it existed with the same content
	Created
	Updated
	Refused
)

// ImportResult is the outcome for one [Imported]. With Refused, Err says why: an [*entity.ValidationError],
// [ErrOutdated], [ErrNoSeries], [ErrNoOccurrence], [ErrTwice], [ErrManyExceptions], [ErrManyDates], [ErrManyLives],
// [ErrUnstorable] or [ErrDamaged]. Its text may be shown to the user.
type ImportResult struct {
	Outcome    Outcome
	Err        error
	Ref        entity.Ref
	Exceptions []ImportResult // in the order of the exceptions; none if the series was refused
}

var (
	// ErrOutdated says that the entity has a later revision than the imported one (RFC 5546 §2.1.5).
	ErrOutdated = errors.New("a later revision of it is stored already")
	// ErrNoSeries says that the series of imported exceptions does not exist.
	ErrNoSeries = errors.New("its series is not there")
	// ErrNoOccurrence says that the series has no occurrence on the exception's date.
	ErrNoOccurrence = errors.New("its series has no occurrence on that date")
	// ErrTwice says that another exception of the same occurrence was imported with it.
	ErrTwice = errors.New("another one is for the same occurrence")
	// ErrManyExceptions says that the series already has the maximum of exceptions.
	ErrManyExceptions = fmt.Errorf("its series would have more than %d exceptions", MaxExceptions)
	// ErrManyDates says that occurrences of the series were changed on the maximum of dates.
	ErrManyDates = fmt.Errorf("its series would have had changes on more than %d dates", MaxInstances)
	// ErrManyLives says that it was imported and deleted too often.
	ErrManyLives = fmt.Errorf("it was imported and deleted more than %d times", maxLives)
	// ErrUnstorable says that the store refuses its rows for good.
	ErrUnstorable = errors.New("it cannot be stored")
	// ErrDamaged says that the stored series cannot be read.
	ErrDamaged = errors.New("its series here is damaged")
)

// maxLives bounds how often a thing of one UID is imported and deleted again: each time costs another read.
const maxLives = 200

// Import creates and changes the items of another calendar, each UID and type once, and returns the outcome of each.
// If two of them name one item, the second finds it as the first left it.
// It does not write an item that exists with the same content, so a repetition finishes an interrupted import. It
// writes each item whole or not at all, with its exceptions as far as they fit into the transaction.
//
// An entity takes the revision of the import; one whose own is later stays unchanged. An exception that the import
// does not name stays, unless the import has a later revision of its series. No reminder fires for an instant before
// the import.
//
// The error says that the store gave up in between; the writes until then stay.
func (s *Service) Import(ctx context.Context, user string, things []Imported) ([]ImportResult, error) {
	if err := entity.CheckUserID(user); err != nil {
		return nil, fmt.Errorf("user: %w", err)
	}
	return (&Steps{call: call{Service: s, user: user}}).Import(ctx, things)
}

// Import is [Service.Import] as one of the steps: it renews the lease while it runs. [ErrInProgress] if another
// request has taken over.
func (s *Steps) Import(ctx context.Context, things []Imported) ([]ImportResult, error) {
	s.call.now = s.call.second()
	run, err := s.call.newImport(ctx)
	if err != nil {
		return nil, err
	}
	run.alive = s.Alive
	results := make([]ImportResult, len(things))
	works, err := run.prepare(ctx, things)
	if err != nil {
		return nil, err
	}
	var pack pack
	written := map[string]bool{}
	for i, w := range works {
		results[i] = w.result
		shares := slices.ContainsFunc(w.ids, func(id string) bool { return written[id] })
		if shares || !pack.takes(w) {
			if err := run.flush(ctx, &pack, things, results); err != nil {
				return nil, err
			}
		}
		switch {
		case shares: // an earlier thing of this import changed what the plan rests on
			if w, err = run.alone(ctx, things[i]); err != nil {
				return nil, err
			}
			results[i] = w.result
		case w.isEmpty():
			continue
		default:
			pack.add(i, w)
		}
		for _, id := range w.ids {
			written[id] = true
		}
	}
	return results, run.flush(ctx, &pack, things, results)
}

// pack is a group of works that one transaction carries out: most are a few actions.
type pack struct {
	indexes []int
	works   []work
	steps   int
}

// maxPacked leaves room for the largest items in the 4 MB of a transaction.
const maxPacked = 75

func (p *pack) takes(w work) bool {
	return w.isEmpty() || len(p.indexes) == 0 ||
		p.steps+len(w.steps) <= maxPacked && w.isSingle() && p.works[0].isSingle()
}

func (p *pack) add(i int, w work) {
	p.indexes, p.works, p.steps = append(p.indexes, i), append(p.works, w), p.steps+len(w.steps)
}

// flush writes a pack. If another writer changed any of its rows, or the store refuses the transaction for good, each
// work is done again by itself.
func (r *importing) flush(ctx context.Context, p *pack, things []Imported, results []ImportResult) error {
	works := *p
	*p = pack{}
	if len(works.indexes) == 0 {
		return nil
	}
	if len(works.indexes) > 1 {
		var steps []step
		for _, w := range works.works {
			steps = append(steps, w.steps...)
		}
		done, err := r.transact(ctx, steps)
		if done || err != nil && !errors.Is(err, ErrUnstorable) {
			return err
		}
	} else if done, err := r.carryOut(ctx, works.works[0]); done || err != nil && !errors.Is(err, ErrUnstorable) {
		return err
	}
	for _, i := range works.indexes {
		w, err := r.alone(ctx, things[i])
		if err != nil {
			return err
		}
		results[i] = w.result
	}
	return nil
}

// alone carries out one thing with a separate reading, and again if another write came between. It refuses a thing that
// the store does not take.
func (r *importing) alone(ctx context.Context, thing Imported) (work, error) {
	for n := range maxAttempts {
		if n > 0 && r.pause(ctx, n-1) != nil {
			break
		}
		works, err := r.prepare(ctx, []Imported{thing})
		if err != nil {
			return work{}, err
		}
		done, err := r.carryOut(ctx, works[0])
		if errors.Is(err, ErrUnstorable) {
			return refusal(ErrUnstorable), nil // the reason is shown: the store's own words name keys
		}
		if err != nil || done {
			return works[0], err
		}
	}
	return work{}, fmt.Errorf("import %q: given up: %w", thing.UID, errMoved)
}
