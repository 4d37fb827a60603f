package revision

import (
	"context"
	"fmt"
	"time"

	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

const (
	// runsAhead is how far after an instant the log is first searched for commits made by then: a burst of so many
	// commits takes one Query.
	runsAhead = time.Minute
	// asOfPage is the number of entries that a Query for an instant reads: few enough to cost one read unit or two.
	asOfPage = 10
)

// AsOf returns the revision that was the present one at the end of the instant's second, or a [*NotFoundError] if
// there was none yet. A [*PrunedError] says that it was pruned, or that this is unknown. It takes a Query of the log, a
// Get of the head and a Query of the snapshot. It takes one more of the log for each minute that a burst of commits ran
// ahead of the clock, and for each ten commits of the minute after the instant.
//
// It reads the head after the log. If the log's unbroken part begins no later than the entry found, it did so when the
// log was read. In the other order a pruning between the two reads could leave an entry that was kept for its name.
//
// It uses the instants at which heads moved, which rise along the line of history as far as the writers' clocks agree.
// Times of revisions are different: they always rise, and therefore may run ahead of the clock.
func (r *Repository[S]) AsOf(ctx context.Context, at repository.Address, instant time.Time) (Revision[S], error) {
	if err := at.Check(); err != nil {
		return Revision[S]{}, fmt.Errorf("address: %w", err)
	}
	instant = instant.UTC().Truncate(time.Second)
	for until := instant.Add(runsAhead); ; until = until.Add(runsAhead) {
		commit, found, err := r.committedBy(ctx, at, until, instant)
		if err != nil {
			return Revision[S]{}, err
		}
		// Commits further ahead follow in steps of a second, so that one step would be at the bound.
		if found && !commit.RevTs.Before(until) {
			continue
		}
		head, err := r.Head(ctx, at)
		switch {
		case err != nil:
			return Revision[S]{}, err
		case head.RevID != "" && (!found || head.lacks(commit.RevID)) && head.OldestRevID != "":
			return Revision[S]{}, &PrunedError{at, "the revision at " + item.FormatInstant(instant), head.PrunedUntil}
		case !found || head.RevID == "":
			return Revision[S]{}, &NotFoundError{Repository: at, What: "a revision at " + item.FormatInstant(instant)}
		}
		return r.load(ctx, at, commit)
	}
}

// committedBy returns the newest entry of the log, among those whose times do not lie beyond a bound, that was
// committed by the instant.
func (r *Repository[S]) committedBy(
	ctx context.Context, at repository.Address, until, instant time.Time,
) (Commit, bool, error) {
	from, to := at.LogUntil(until)
	q := table.Query{Partition: at.LogPK(), Range: table.Range{From: from, To: to}, Limit: asOfPage, Descending: true}
	for {
		page, err := r.store.Query(ctx, q)
		if err != nil {
			return Commit{}, false, fmt.Errorf("read the history of %s: %w", at, err)
		}
		for _, row := range page.Items {
			commit, err := readCommit(row, r.shape.SourceAttr)
			if err != nil {
				return Commit{}, false, err
			}
			if !commit.CommittedAt.After(instant) {
				return commit, true, nil
			}
		}
		if len(page.Next) == 0 {
			return Commit{}, false, nil
		}
		q.Start = page.Next
	}
}
