package transfer

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/table"
)

// place is where the walk over the revisions of one repository is: the head with which it began, and the last revision
// that was taken.
type place struct{ head, last string }

func readPlace(text string) (p place) {
	p.head, p.last, _ = strings.Cut(text, "/")
	return p
}

func (p place) String() string { return p.head + "/" + p.last }

// walkValues reads the history of the values tree.
func (s *Service) walkValues(ctx context.Context, w *walk, after string) (string, error) {
	repo, at := s.Values.Repository(w.user)
	return walkHistory(ctx, w, repo, at, valuesDir, after, treeLines)
}

// walkPlans reads the histories of all plans, by their days.
func (s *Service) walkPlans(ctx context.Context, w *walk, after string) (string, error) {
	day, within, began := strings.Cut(after, "/")
	for {
		if began && day != "" {
			next, err := s.walkPlan(ctx, w, day, within)
			if next != "" || err != nil {
				return next, err
			}
			if w.isFull() {
				return day, nil
			}
		}
		rows, _, err := s.page(ctx, repository.UserPK(w.user), repository.DayPrefix(), dayAfter(day))
		if err != nil || len(rows) == 0 {
			return "", err
		}
		day, within, began = strings.TrimPrefix(rows[0].Str(item.AttrSK), repository.DayPrefix()), "", true
	}
}

// dayAfter returns the sort key behind which the next day's row is.
func dayAfter(day string) string {
	if day == "" {
		return ""
	}
	return repository.DayPrefix() + day
}

func (s *Service) walkPlan(ctx context.Context, w *walk, day, within string) (string, error) {
	repo, at := s.Plans.Repository(w.user, day)
	next, err := walkHistory(ctx, w, repo, at, plansDir+day+"/", within, planLines)
	if next != "" {
		next = day + "/" + next
	}
	return next, err
}

// Reasons for which a part of a history is missing.
const (
	whyRows  = "its rows are damaged"
	whyEntry = "its entry in the log is damaged"
	whyHead  = "it is damaged: the newest revision stands for it"
)

// damage names a part of a history that cannot be read, by the name of its file.
func (w *walk) damage(name, why string) {
	w.damaged = true
	w.add(tagMissing, encode(Missing{name, why}))
}

// walkHistory adds the log of a repository up to its head, and then the rows of each revision of it. A revision that is
// made in between is left out: the file has the state of the beginning. What is damaged is missing.
func walkHistory[S any](
	ctx context.Context, w *walk, repo *revision.Repository[S], at repository.Address, dir, after string,
	linesOf func(S) [][]byte,
) (next string, err error) {
	p := readPlace(after)
	if after == "" {
		head, err := repo.Head(ctx, at)
		switch {
		case errors.Is(err, revision.ErrBroken):
			w.damage(dir+"head", whyHead)
		case err != nil || head.RevID == "":
			return "", err
		}
		if p.head, err = addLog(ctx, w, repo, at, dir, head); err != nil {
			return "", err
		}
	}
	for commit, err := range repo.Log(ctx, at) {
		isBroken := errors.Is(err, revision.ErrBroken)
		if err != nil && !isBroken {
			return "", err
		}
		if commit.RevID <= p.last || commit.RevID > p.head {
			continue
		}
		if w.isFull() {
			return p.String(), nil
		}
		if p.last = commit.RevID; isBroken {
			w.damage(dir+commit.RevID, whyEntry)
			continue
		}
		rev, err := repo.Revision(ctx, at, commit.RevID)
		var pruned *revision.PrunedError
		switch {
		case errors.As(err, &pruned):
			return "", fmt.Errorf("the history was pruned while it was read: %w: %w", table.ErrConflict, err)
		case errors.Is(err, revision.ErrBroken):
			w.damage(dir+commit.RevID, whyRows)
			continue
		case err != nil:
			return "", err
		}
		file := dir + commit.RevID + lines
		w.add(file, nil) // a state without rows has a file, too
		for _, line := range linesOf(rev.State) {
			w.add(file, line)
		}
		w.lines--
	}
	return "", nil
}

// addLog adds the entries up to a head, without one all of them, and returns the newest revision. An entry that is
// damaged is named by the walk over the revisions.
func addLog[S any](
	ctx context.Context, w *walk, repo *revision.Repository[S], at repository.Address, dir string, head revision.Head,
) (newest string, err error) {
	for commit, err := range repo.Log(ctx, at) {
		if head.RevID != "" && commit.RevID > head.RevID {
			break
		}
		if err != nil && !errors.Is(err, revision.ErrBroken) {
			return "", err
		}
		if newest = commit.RevID; err != nil {
			continue
		}
		line := lineOf(commit, at.Date != "")
		if commit.RevID == head.RevID {
			line.RolledFromRevID, line.OldestRevID = head.RolledFromRevID, head.OldestRevID
		}
		w.add(dir+logFile, encode(line))
	}
	return newest, nil
}

func treeLines(t values.Tree) [][]byte {
	out := make([][]byte, 0, len(t.Nodes)+len(t.Edges))
	for _, n := range t.Nodes {
		out = append(out, encode(n))
	}
	for _, e := range t.Edges {
		out = append(out, encode(e))
	}
	return out
}

func planLines(p plan.Plan) [][]byte {
	out := make([][]byte, 0, len(p.Todos)+len(p.Blocks))
	for _, t := range p.Todos {
		out = append(out, encode(t))
	}
	for _, b := range p.Blocks {
		out = append(out, encode(b))
	}
	return out
}
