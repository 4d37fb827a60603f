package api

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/revision"
)

// Members about pruning.
const (
	memberKeep        = "keep"
	memberLast        = "last"
	memberSince       = "since"
	memberDryRun      = "dryRun"
	memberRevisions   = "revisions"
	memberRows        = "rows"
	memberRemoved     = "removed"
	memberPrunedUntil = "prunedUntil"

	prunedSchema = "Pruned"

	// maxKept bounds the revisions that a client asks to keep.
	maxKept = 1_000_000
	// maxSwept is how many rows of earlier prunings a request removes, before it leaves the rest to the next one.
	maxSwept = 2000
	// maxWait bounds the seconds after which a deletion is to be repeated.
	maxWait = 60
)

const pruneDetail = "Revisions below the line leave the history, oldest first, at most 1,000 in a request: more says " +
	"that some are left. The present revision stays, and one that the next day's plan was rolled over from. Their rows " +
	"stay for 15 minutes, so that a reader of one of them reads it whole. The next pruning of the user removes them " +
	"then: removed counts the rows of earlier prunings that this request removed. Repeating it changes nothing else. " +
	"Where more is true, ask again under another idempotency key."

// pruneValuesOperation returns the operation that shortens the tree's history.
func pruneValuesOperation() *operation {
	return &operation{
		id: "pruneValues", method: http.MethodPost, path: valuesPath + "/prune", tag: "values", writes: true, alone: true,
		summary: "Shorten the history of the values tree", detail: pruneDetail, body: pruneBody(), finds: true,
		answers: prunedAnswered(),
		run: func(ctx context.Context, s *Config, c call) (answer, error) {
			return prune(c, func(p revision.Pruning) (revision.Pruned, error) { return s.Values.Prune(ctx, c.user, p) })
		},
	}
}

// prunePlanOperation returns the operation that shortens the history of a day's plan.
func prunePlanOperation() *operation {
	return &operation{
		id: "prunePlan", method: http.MethodPost, path: plansPath + "/prune", tag: "plans", writes: true, alone: true,
		summary: "Shorten the history of a day's plan", detail: pruneDetail, body: pruneBody(), finds: true,
		answers: prunedAnswered(),
		run: func(ctx context.Context, s *Config, c call) (answer, error) {
			return prune(c, func(p revision.Pruning) (revision.Pruned, error) {
				return s.Plans.Prune(ctx, c.user, c.path[memberDate], p)
			})
		},
	}
}

// deletePlanOperation returns the operation that removes a day's plan with its history.
func deletePlanOperation() *operation {
	return &operation{
		id: "deletePlan", method: http.MethodDelete, path: plansPath, tag: "plans", writes: true, alone: true,
		summary: "Delete the plan of a day",
		detail: "With its whole history. The next commit begins a new one. Until the second of its last revision is past, " +
			"or if the history has more than 1,000 revisions, the answer is 503: repeat the request after Retry-After.",
		finds: true, conflicts: "The next day's plan was rolled over from a revision of this one.",
		answers: []documented{{status: http.StatusNoContent, doc: "The day has no plan any more."}},
		run: func(ctx context.Context, s *Config, c call) (answer, error) {
			done, err := s.Plans.Delete(ctx, c.user, c.path[memberDate], c.key)
			return answer{status: http.StatusNoContent, replayed: done.Replayed}, err
		},
	}
}

// prune carries out one pruning, after it has removed rows of earlier ones.
func prune(c call, shorten func(revision.Pruning) (revision.Pruned, error)) (answer, error) {
	line := c.form.Map(memberKeep)
	keep := revision.Keep{Last: int(line.Int(memberLast))}
	keep.Since, _ = line.Time(memberSince)
	done, err := shorten(revision.Pruning{
		Keep: keep, DryRun: c.form.Bool(memberDryRun), Sweep: maxSwept, Receipt: revision.Receipt{Key: c.key},
	})
	if errors.Is(err, revision.ErrKeep) {
		return answer{}, refuseFields(entity.FieldError{
			Pointer: "/" + memberKeep, Detail: "must have either " + memberLast + " or " + memberSince,
		})
	}
	if err != nil {
		return answer{}, err
	}
	out, err := viewAnswer(http.StatusOK, object{
		{memberRevisions, done.Revisions}, {memberRows, done.Rows}, {memberRemoved, done.Removed}, {memberMore, done.More},
	})
	out.replayed = done.Replayed
	return out, err
}

func pruneBody() *body {
	last := entity.Field{
		Name: memberLast, Kind: entity.Integer, Min: 1, Max: maxKept, Doc: "How many of the newest revisions stay.",
	}
	since := entity.Field{
		Name: memberSince, Kind: entity.Instant,
		Doc: "The revision that was present at this instant stays, and all later ones.",
	}
	taken := form(
		entity.Field{
			Name: memberKeep, Kind: entity.Object, Required: true, Fields: []entity.Field{last, since},
			Doc: "The line: last or since.",
		},
		entity.Field{Name: memberDryRun, Kind: entity.Flag, Doc: "Count, and remove nothing."},
	)
	line := append(closed(nil, object{
		{memberLast, countSchema(last.Doc, 1, maxKept)}, {memberSince, instantSchema(since.Doc)},
	}), member{"minProperties", 1}, member{"maxProperties", 1}, member{"description", taken.Fields[0].Doc})
	return &body{
		form: taken, required: true,
		schema:  closed([]string{memberKeep}, object{{memberKeep, line}, {memberDryRun, flagSchema(taken.Fields[1].Doc)}}),
		example: map[string]any{memberKeep: map[string]any{memberLast: 20}},
	}
}

func prunedAnswered() []documented {
	return []documented{{status: http.StatusOK, doc: "What left the history.", schema: schemaRef(prunedSchema)}}
}

func prunedMembers() object {
	count := func(doc string) object { return object{{"type", "integer"}, {"minimum", 0}, {"description", doc}} }
	return record([]string{memberRevisions, memberRows, memberRemoved, memberMore}, object{
		{memberRevisions, count("The revisions that left the history, or would in a dry run.")},
		{memberRows, count("The rows of their snapshots, which stay for 15 minutes.")},
		{memberRemoved, count("The rows of earlier prunings that this request removed.")},
		{memberMore, flagSchema("Revisions below the line are left: ask again.")},
	})
}

// problemOfPruning answers for what was pruned, or cannot be deleted; nil for any other error.
func problemOfPruning(err error) *Problem {
	var (
		gone  *revision.PrunedError
		named *revision.NamedError
		early *revision.EarlyError
	)
	switch {
	case errors.As(err, &gone):
		p := refuse(pruned, "The history no longer has %s.", gone.What)
		if !gone.Until.IsZero() {
			p.PrunedUntil = item.FormatInstant(gone.Until)
		}
		return p
	case errors.As(err, &named):
		return refuse(stateConflict, "The plan of %s was rolled over from a revision of this one.", named.By.Date)
	case errors.As(err, &early):
		seconds := min(max(1, int(math.Ceil(early.Wait.Seconds()))), maxWait)
		says := "The plan can be deleted once its last revision is past."
		if early.Wait == 0 {
			says = "A part of the plan's history is removed. Repeat the request for the rest."
		}
		return refuse(unavailable, "%s", says).
			with("Retry-After", strconv.Itoa(seconds)).because(err)
	}
	return nil
}
