package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"nexus/pkg/archive"
	"nexus/pkg/blob"
	"nexus/pkg/calendar"
	"nexus/pkg/entity"
	"nexus/pkg/limit"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/table"
)

// Config holds the dependencies of the package. Those without a remark are required.
type Config struct {
	Store    table.Store
	Registry *entity.Registry
	Now      func() time.Time
	Archive  *archive.Archive // with its Copies
	Values   *values.Service
	Plans    *plan.Service
	Calendar *calendar.Service
	// Pause waits between two attempts of a write that met another one; see [command.RandomPause].
	Pause func(ctx context.Context, most time.Duration) error
	// Limits are those of the user who imports; nil for those where no stage says otherwise.
	Limits limit.Numbers
	// Fence, if set, is asked before each part of an export. Its error ends the export.
	Fence func(ctx context.Context, user string) error
	// FenceImport, if set, is asked before an import. Its error ends the import. The store asks before each write.
	FenceImport func(ctx context.Context, user string) error
	// CountCopies counts what only a cold copy is left of, of which no record tells. Each import ends with it, and it may
	// be repeated. Nil where nothing is imported.
	CountCopies func(ctx context.Context, user string) error
}

// Service exports and imports accounts. It is safe for concurrent use.
type Service struct{ Config }

// New returns a service. It panics if a part of the Config is missing: a mistake in the program.
func New(c Config) *Service {
	if c.Store == nil || c.Registry == nil || c.Now == nil || c.Archive == nil || c.Archive.Copies == nil ||
		c.Values == nil || c.Plans == nil || c.Calendar == nil || c.Pause == nil {
		panic("transfer: a part of the Config is missing")
	}
	if c.Limits == nil {
		c.Limits = limit.Default()
	}
	return &Service{c}
}

func (s *Service) fence(ctx context.Context, user string) error {
	if s.Fence == nil {
		return nil
	}
	return s.Fence(ctx, user)
}

// Export writes everything of a user as a zip file. Until it ends, parts keeps the parts under names that begin
// with the prefix; the caller removes them. The progress, if set, is called with the number of lines so far.
func (s *Service) Export(
	ctx context.Context, user string, to io.Writer, parts blob.Store, prefix string, progress func(lines int),
) (Manifest, error) {
	c, err := s.Begin(user)
	if err != nil {
		return Manifest{}, err
	}
	for !c.Done() {
		if c, err = s.Part(ctx, user, c, parts, prefix, nil); err != nil {
			return Manifest{}, err
		}
		if progress != nil {
			progress(c.Lines)
		}
	}
	return s.Join(ctx, user, c, parts, prefix, to)
}

// Begin returns the cursor of a new export.
func (s *Service) Begin(user string) (Cursor, error) {
	if err := entity.CheckUserID(user); err != nil {
		return Cursor{}, fmt.Errorf("user: %w", err)
	}
	return Cursor{From: instant(s.Now()), Parts: make([][]int, len(stages))}, nil
}

// Cursor is how far the walk of an export has come. It has a JSON form, which [Service.Part] of any later call takes.
type Cursor struct {
	From string `json:"from"`
	// Stage is the stage that goes on, and After its place in it. Parts has the numbers of the parts that each stage has
	// made, and Next is the number of the next one.
	Stage int     `json:"stage"`
	After string  `json:"after,omitempty"`
	Parts [][]int `json:"parts"`
	Next  int     `json:"next"`
	// Lines is the number of lines so far.
	Lines int `json:"lines"`
	// Damaged says that a revision is missing: joining looks for those before it writes the logs.
	Damaged bool `json:"damaged,omitempty"`
	// To is when the walk ended.
	To string `json:"to,omitempty"`
}

// Done reports whether the walk is at its end.
func (c Cursor) Done() bool { return c.Stage >= len(stages) }

// stage is one kind of data. Its step adds lines to a part until that is full, from behind a place on, and returns the
// place it has come to; empty at the end.
type stage struct {
	name string
	step func(s *Service, ctx context.Context, w *walk, after string) (next string, err error)
}

// stages are those of the walk, in their order. Copies come before items: an item that is restored between is in both,
// and one that leaves between has its copy in neither's way. Joining takes an item before its copy.
var stages = []stage{
	{"archive", (*Service).walkCopies}, {"items", (*Service).walkItems}, {"gone", (*Service).walkGone},
	{"settings", (*Service).walkSettings}, {"values", (*Service).walkValues}, {"plans", (*Service).walkPlans},
	{"calendar", (*Service).walkCalendar},
}

const (
	stageArchive = iota
	stageItems
	stageGone
	stageSettings
	stageValues
	stagePlans
	stageCalendar
)

// partBytes ends a part: with what its last step adds it stays far below the bound of an object.
const partBytes = 4 << 20

// walk is the making of one part.
type walk struct {
	user  string
	from  time.Time
	body  []byte
	lines int
	// damaged says that a revision is missing.
	damaged bool
	full    func() bool // the part's time is over; nil for no bound
}

// isFull reports whether the part is to end behind the present line.
func (w *walk) isFull() bool {
	return len(w.body) >= partBytes || w.full != nil && len(w.body) > 0 && w.full()
}

// add appends a line of a file. No line of JSON has a line feed.
func (w *walk) add(file string, line []byte) {
	w.body = append(append(append(append(w.body, file...), '\t'), line...), '\n')
	w.lines++
}

// errLarge says that one step made more than an object holds. No row is that large.
var errLarge = errors.New("a part of the export is too large")

// Part makes the next part, puts it, and returns the cursor behind it. To repeat it with the same cursor overwrites the
// part with one as good. Full, if set, reports whether the time of the part is over.
func (s *Service) Part(
	ctx context.Context, user string, c Cursor, parts blob.Store, prefix string, full func() bool,
) (Cursor, error) {
	if err := s.fence(ctx, user); err != nil {
		return c, err
	}
	from, err := readInstant(c.From)
	if err != nil || len(c.Parts) != len(stages) {
		return c, fmt.Errorf("cursor of an export: %w", errors.Join(err, errCursor))
	}
	at := stages[c.Stage]
	w := &walk{user: user, from: from, full: full}
	next, err := at.step(s, ctx, w, c.After)
	if err == nil && len(w.body) > blob.MaxBody {
		err = errLarge
	}
	if err == nil {
		err = parts.Put(ctx, partName(prefix, c.Stage, c.Next), w.body)
	}
	if err != nil {
		return c, fmt.Errorf("export, %s: %w", at.name, err)
	}
	c.Parts = slices.Clone(c.Parts)
	c.Parts[c.Stage] = append(slices.Clip(c.Parts[c.Stage]), c.Next)
	c.Next++
	c.Lines, c.Damaged = c.Lines+w.lines, c.Damaged || w.damaged
	if c.After = next; next == "" {
		c.Stage++
	}
	if c.Done() {
		c.To = instant(s.Now())
	}
	return c, nil
}

var errCursor = errors.New("of another form")

func partName(prefix string, stage, n int) string {
	return fmt.Sprintf("%s%s-%06d.part", prefix, stages[stage].name, n)
}
