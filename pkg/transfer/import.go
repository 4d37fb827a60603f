package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/account"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Errors of [Service.Import] beside [*FileError].
var (
	// ErrNotEmpty says that the account has something already; nothing was written.
	ErrNotEmpty = errors.New("the account is not empty")
	// ErrOtherFile says that the import of another file into the account has begun and not ended.
	ErrOtherFile = errors.New("the import of another file into this account was not finished")
	// ErrOvertaken says that the user wrote to a repository while it was imported.
	ErrOvertaken = errors.New("the account was written to while it was imported")
)

// Report is the outcome of an import.
type Report struct {
	Items     int `json:"items"`
	Archived  int `json:"archived"`
	Gone      int `json:"gone"`
	Revisions int `json:"revisions"`
	// Again says that the file was imported before: nothing was written now.
	Again bool `json:"again"`
	// Cleaned are texts in which characters were replaced, up to a thousand, and CleanedTotal is their number.
	Cleaned      []Cleaned `json:"cleaned"`
	CleanedTotal int       `json:"cleanedTotal"`
	// Missing is named in the manifest, because the export could not read it: up to a thousand, and MissingTotal is all.
	Missing      []Missing `json:"missing"`
	MissingTotal int       `json:"missingTotal"`
}

// Cleaned is one text of which characters were replaced by spaces.
type Cleaned struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Pointer string `json:"pointer"`
}

const maxCleaned, maxMissing = 1000, 1000

// Attributes of the row that says how far an import has come.
const (
	attrDigest = "digest" // of the file
	attrDone   = "done"   // the number of things that were written
	attrBegun  = "begunAt"
	attrState  = entity.AttrStatus

	stateChecking = "CHECKING" // whether the account is empty is not known yet
	stateRunning  = "RUNNING"
	stateDone     = "DONE"
)

// remembered is how long an import is remembered behind its end: for that time a repetition is answered.
const remembered = 30 * 24 * time.Hour

// Import puts a file that [Service.Export] wrote into a user's account, which must be empty: see [ErrNotEmpty]. It
// checks the whole file before it writes anything; a [*FileError] says what is wrong. After a crash or an outage the
// same file into the same account goes on where it was, and after its end it has no effect for 30 days. The progress,
// if set, is called with the number of things written.
func (s *Service) Import(
	ctx context.Context, user string, file io.ReaderAt, size int64, progress func(done int),
) (Report, error) {
	if err := entity.CheckUserID(user); err != nil {
		return Report{}, fmt.Errorf("user: %w", err)
	}
	opened, err := open(file, size)
	if err != nil {
		return Report{}, err
	}
	missing := opened.manifest.Missing
	report := Report{Cleaned: []Cleaned{}, Missing: []Missing{}, MissingTotal: len(missing)}
	report.Missing = append(report.Missing, missing[:min(len(missing), maxMissing)]...)
	c := &content{file: opened, parser: &parser{Service: s, user: user, now: s.second(), cleaned: report.add}}
	check := newChecker(&report, s.Limits)
	if err := c.visit(ctx, check); err != nil {
		return Report{}, err
	}
	if err := check.compare(opened.manifest.Counts); err != nil {
		return Report{}, err
	}
	if err := opened.checkReadable(); err != nil {
		return Report{}, err
	}
	c.cleaned = nil
	run, err := s.begin(ctx, user, opened.digest)
	if err != nil {
		return Report{}, err
	}
	if report.Again = run.state == stateDone; report.Again {
		return report, nil
	}
	run.progress = progress
	c.now = run.begun // what was due before the first attempt does not ring, whenever it is written
	if err := c.visit(ctx, run); err != nil {
		return report, err
	}
	return report, run.end(ctx)
}

func (s *Service) second() time.Time { return s.Now().UTC().Truncate(time.Second) }

func (r *Report) add(l numberedLine, pointer string) {
	if r.CleanedTotal++; len(r.Cleaned) < maxCleaned {
		r.Cleaned = append(r.Cleaned, Cleaned{l.file, l.n, pointer})
	}
}

// begin takes up the import of the file, or begins it if the account is empty.
func (s *Service) begin(ctx context.Context, user, digest string) (*run, error) {
	key := account.ImportKey(user)
	row := key.Item()
	row[attrDigest], row[attrDone] = item.String(digest), item.Int(0)
	row[attrState] = item.String(stateChecking)
	row.SetTime(attrBegun, s.Now())
	if s.FenceImport != nil {
		if err := s.FenceImport(ctx, user); err != nil {
			return nil, err
		}
	}
	put := table.Put{Item: row, If: table.OrNoRow(table.Less(entity.AttrTTL, item.Int(s.Now().Unix()+1)))}
	for range maxRounds {
		err := s.Store.Put(ctx, put)
		var failed *table.ConditionError
		switch {
		case errors.As(err, &failed):
			old := failed.Failures[0].Old
			if old.Str(attrDigest) == digest {
				return s.takeUp(ctx, user, old)
			}
			if err := otherFile(old); err != nil {
				return nil, err
			}
			// The import of the other file has written nothing, and finds that this one has begun.
			put.If = table.Exists(
				table.Equal(attrDigest, old[attrDigest]), table.Equal(attrState, item.String(stateChecking)))
		case err != nil:
			return nil, fmt.Errorf("begin the import: %w", err)
		default:
			return s.takeUp(ctx, user, row)
		}
	}
	return nil, fmt.Errorf("begin the import: %w", table.ErrConflict)
}

// otherFile returns why no other file than that of the row can be imported; nil if it can.
func otherFile(row item.Item) error {
	switch row.Str(attrState) {
	case stateDone:
		return ErrNotEmpty
	case stateChecking, "":
		return nil
	}
	return ErrOtherFile
}

// takeUp returns the import at the row's place.
func (s *Service) takeUp(ctx context.Context, user string, row item.Item) (*run, error) {
	r := &run{
		Service: s, user: user, digest: row.Str(attrDigest), state: row.Str(attrState), done: int(row.Int(attrDone)),
	}
	var ok bool
	if r.begun, ok = row.Time(attrBegun); !ok {
		return nil, fmt.Errorf("row %s: %s is no instant", row.Key(), attrBegun)
	}
	if r.state == stateChecking {
		return r, r.checkEmpty(ctx)
	}
	return r, nil
}

// checkEmpty begins the writes of an import into an empty account, and otherwise leaves nothing.
func (r *run) checkEmpty(ctx context.Context) error {
	empty, err := r.isEmpty(ctx)
	if err != nil {
		return err
	}
	asBegun := table.Exists(
		table.Equal(attrDigest, item.String(r.digest)), table.Equal(attrState, item.String(stateChecking)))
	var failed *table.ConditionError
	if !empty {
		err := r.Store.Delete(ctx, table.Delete{Key: account.ImportKey(r.user), If: asBegun})
		if err != nil && !errors.As(err, &failed) {
			return fmt.Errorf("end the import: %w", err)
		}
		return ErrNotEmpty
	}
	r.state = stateRunning
	_, err = r.Store.Update(ctx, table.Update{
		Key: account.ImportKey(r.user), Set: item.Item{attrState: item.String(stateRunning)}, If: asBegun,
	})
	if errors.As(err, &failed) {
		return ErrOtherFile
	}
	return err
}

// isEmpty reports whether the account has nothing but settings: no entity, no id that is gone or archived, no ledger,
// and no revision of anything.
func (r *run) isEmpty(ctx context.Context) (bool, error) {
	prefixes := []string{entity.GonePrefix(), entity.ColdPrefix(), entity.ItemPrefix(entity.RowLedger)}
	for _, t := range types(r.Registry) {
		prefixes = append(prefixes, entity.ItemPrefix(t.Name))
	}
	questions := []table.Query{
		{Partition: repository.UserPK(r.user), Range: table.Range{Prefix: repository.HeadPrefix()}},
		{Partition: repository.UserPK(r.user), Range: table.Range{Prefix: repository.DayPrefix()}},
	}
	for _, prefix := range prefixes {
		questions = append(questions, table.Query{Partition: entity.UserPK(r.user), Range: table.Range{Prefix: prefix}})
	}
	for _, q := range questions {
		q.Limit = 1
		page, err := r.Store.Query(ctx, q)
		if err != nil {
			return false, fmt.Errorf("whether the account is empty: %w", err)
		}
		if len(page.Items) > 0 {
			return false, nil
		}
	}
	return true, nil
}
