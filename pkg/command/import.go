package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// Imported is one thing that another calendar knows: an event, a series with its exceptions, a task, a reminder.
type Imported struct {
	Type *entity.Type
	// UID is the name that it has everywhere, Sequence its revision.
	UID      string
	Sequence int64
	// Stamp is when the other calendar wrote this, which tells revisions of one sequence apart; zero for unknown.
	Stamp time.Time
	// Known is the id under which it may have left here once; "" if it never did.
	Known string
	// ID is the id that a thing of that UID gets for the k-th time, by the prefix of its type.
	ID func(prefix string, k int) string
	// Fields are all that the other calendar says, in the form of [entity.Type.Parse]; what it can say and does not is
	// [item.Null]. Fields that it cannot say are not there, and stay as they are.
	Fields item.Item
	// Kept is what it says besides and no field holds; it is stored beside the entity. "" for nothing.
	Kept string
	// CreatedAt and CompletedAt are taken over if they lie in the past; zero for unknown.
	CreatedAt, CompletedAt time.Time
	// Exceptions are those of a series. OnlyExceptions says that the series itself is not part of the import.
	Exceptions     []Exception
	OnlyExceptions bool
	// Says reports whether what is stored, told to the other calendar, is just what this says. Kept is what lies beside
	// the items, by their keys.
	Says func(stored item.Item, kept map[item.Key]string, instances []item.Item) bool
}

// Exception is an occurrence of a series as the other calendar shows it.
type Exception struct {
	// Date is the date YYYYMMDD of the occurrence in the zone of its series, "" for a series that has none.
	Date func(tzid string) string
	// Sequence is the revision of what is said about the occurrence.
	Sequence int64
	// Stamp is when that was written, as of an [Imported].
	Stamp time.Time
	// Fields are those of the occurrence as a whole: what it has of its own is told by comparing it with its series.
	Fields item.Item
	// Kept is what is said of the occurrence and no field holds, as of an [Imported].
	Kept string
}

// Outcome is what became of something imported.
type Outcome int

const (
	Unchanged Outcome = iota // it was there already and says the same
	Created
	Updated
	Refused
)

// ImportResult is the outcome for one [Imported]. With Refused, Err says why: an [*entity.ValidationError],
// [ErrOutdated], [ErrNoSeries], [ErrNoOccurrence], [ErrTwice], [ErrManyExceptions] or [ErrManyLives].
type ImportResult struct {
	Outcome    Outcome
	Err        error
	Ref        entity.Ref
	Exceptions []ImportResult // in the order of the exceptions; none if the series was refused
}

var (
	// ErrOutdated: the entity has a later revision than the one imported (RFC 5546 §2.1.5).
	ErrOutdated = errors.New("a later revision of it is stored already")
	// ErrNoSeries: exceptions were imported of a series that is not there.
	ErrNoSeries = errors.New("its series is not there")
	// ErrNoOccurrence: the series has no occurrence on the exception's date.
	ErrNoOccurrence = errors.New("its series has no occurrence on that date")
	// ErrTwice: another exception of the same occurrence was imported with it.
	ErrTwice = errors.New("another one is for the same occurrence")
	// ErrManyExceptions: the series has as many exceptions as it may have.
	ErrManyExceptions = fmt.Errorf("its series would have more than %d exceptions", maxExceptions)
	// ErrManyLives: it was imported and deleted too often.
	ErrManyLives = fmt.Errorf("it was imported and deleted more than %d times", maxLives)
)

// maxLives bounds how often a thing of one UID is imported and deleted again: each time takes a read more.
const maxLives = 200

// Import creates and changes what another calendar knows, each UID and type once, and answers for each what became of
// it. Something that is here already and says the same is not written at all, so an import that was cut short is
// finished by repeating it. Each thing, with its exceptions as far as a transaction holds them, is written whole or not
// at all.
//
// An entity takes the revision of the import; one whose own is later stays as it is. Exceptions that an import does not
// name stay unless it brings a later revision of their series. Nobody is reminded of what was due before the import.
//
// The error says that the store gave up in between; what was done until then stays.
func (s *Service) Import(ctx context.Context, user string, things []Imported) ([]ImportResult, error) {
	if err := entity.CheckUserID(user); err != nil {
		return nil, fmt.Errorf("user: %w", err)
	}
	return (&Steps{call: call{Service: s, user: user}}).Import(ctx, things)
}

// Import is [Service.Import] as one of the steps: it keeps the lease while it runs. [ErrInProgress] if another has
// taken over.
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
	for i, w := range works {
		results[i] = w.result
		if !pack.takes(w) {
			if err := run.flush(ctx, &pack, things, results); err != nil {
				return nil, err
			}
		}
		pack.add(i, w)
	}
	return results, run.flush(ctx, &pack, things, results)
}

// pack is works that one transaction makes together: most are a few actions.
type pack struct {
	indexes []int
	works   []work
	steps   int
}

// maxPacked leaves room for the largest items in the 4 MB of a transaction.
const maxPacked = 75

func (p *pack) takes(w work) bool {
	return len(w.steps) == 0 || len(p.indexes) == 0 ||
		p.steps+len(w.steps) <= maxPacked && w.isSingle() && p.works[0].isSingle()
}

func (p *pack) add(i int, w work) {
	if len(w.steps) == 0 && w.isSingle() {
		return
	}
	p.indexes, p.works, p.steps = append(p.indexes, i), append(p.works, w), p.steps+len(w.steps)
}

// flush writes a pack. If anything in it was changed by somebody else, each work is done again by itself.
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
		if err != nil || done {
			return err
		}
	} else if done, err := r.carryOut(ctx, works.works[0]); err != nil || done {
		return err
	}
	for _, i := range works.indexes {
		result, err := r.alone(ctx, things[i])
		if err != nil {
			return err
		}
		results[i] = result
	}
	return nil
}

// alone carries out one thing with a reading of its own, and again if somebody else's write came between.
func (r *importing) alone(ctx context.Context, thing Imported) (ImportResult, error) {
	for n := range maxAttempts {
		if n > 0 && r.pause(ctx, n-1) != nil {
			break
		}
		works, err := r.prepare(ctx, []Imported{thing})
		if err != nil {
			return ImportResult{}, err
		}
		done, err := r.carryOut(ctx, works[0])
		if err != nil || done {
			return works[0].result, err
		}
	}
	return ImportResult{}, fmt.Errorf("import %q: given up: %w", thing.UID, errMoved)
}
