package api

import (
	"context"
	"net/http"

	"nexus/pkg/entity"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
)

const plansPath = "/v1/plans/{date}"

// planOperations returns the operations on daily plans. A batch carries those that people use during a day, possibly
// offline: a plan for a day, rolling it over, completing. Its results only name the revisions, because a hundred plans
// would be too much for one answer. A rollback is decided on with the history in view, and is no part of a batch.
func planOperations() []*operation {
	table := []*operation{
		{
			id: "getPlan", method: http.MethodGet, path: plansPath, tag: "plans",
			summary: "Read the plan of a day", detail: "As it is, or with at as it was: the revision that was the present one " +
				"then. 404 as long as the day has no plan. What the present revision is for, the history tells.",
			query:   []entity.Field{atParam()},
			answers: []documented{revisionAnswered(http.StatusOK, "The revision and its plan.", planRevision)}, finds: true,
			run: getPlan,
		},
		{
			id: "listPlanRevisions", method: http.MethodGet, path: plansPath + "/revisions", tag: "plans",
			summary: "Show the history of a day's plan", detail: "The newest revision first.",
			query:   []entity.Field{limitParam(), cursorParam()},
			answers: []documented{{status: http.StatusOK, doc: "A page of the history.", schema: entriesPage(memberReason)}},
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				date := c.path[memberDate]
				return historyAnswer(ctx, c, "plan "+date+" "+c.user, viewOfPlanCommit,
					func(ctx context.Context, limit int, before string) (revision.Page, error) {
						return s.Plans.History(ctx, c.user, date, limit, before)
					})
			},
		},
		{
			id: "getPlanRevision", method: http.MethodGet, path: plansPath + "/revisions/{revId}", tag: "plans",
			summary: "Read a revision of a day's plan", detail: "It never changes.",
			answers: []documented{revisionAnswered(http.StatusOK, "The revision and its plan.", planRevision)}, finds: true,
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				got, err := s.Plans.Revision(ctx, c.user, c.path[memberDate], c.path[memberRevID])
				return answerOfPlan(c, got, err)
			},
		},
		{
			id: "commitPlan", method: http.MethodPost, path: plansPath + "/revisions", tag: "plans", writes: true,
			summary: "Commit the plan of a day",
			detail: "The whole plan, its to-dos in their order. To-dos are about actions of the values tree. " +
				"All of it is committed or none: each broken rule is named, with its action or block.",
			body: commitPlanBody(), conflicts: conflictOfHead, fills: fillsPlan,
			answers: []documented{revisionAnswered(http.StatusCreated, "The new revision and its plan.", planRevision)},
			run:     commitPlan,
		},
		{
			id: "diffPlan", method: http.MethodGet, path: plansPath + "/diff", tag: "plans",
			summary: "Compare two revisions of a day's plan",
			detail:  "What turns the one into the other. To-dos that only made room are not among the moved.",
			query:   diffParams(),
			answers: []documented{{status: http.StatusOK, doc: "The differences.", schema: schemaRef(planDiff)}}, finds: true,
			run: diffPlan,
		},
		{
			id: "rollbackPlan", method: http.MethodPost, path: plansPath + "/rollback", tag: "plans", writes: true, alone: true,
			summary: "Bring an earlier plan of the day back",
			detail:  "As a new revision, row for row; what lies between stays in the history.",
			body:    rollbackBody(), finds: true, conflicts: conflictOfHead, fills: fillsPlan,
			answers: []documented{revisionAnswered(http.StatusCreated, "The new revision and its plan.", planRevision)},
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				r := rollbackOf(c)
				made, err := s.Plans.Rollback(ctx, c.user, c.path[memberDate], r.parentRevID, r.revID, r.message, c.key)
				return madePlan(c, made, err)
			},
		},
		{
			id: "rolloverPlan", method: http.MethodPost, path: plansPath + "/rollover", tag: "plans", writes: true,
			summary: "Roll a day's plan over", detail: "What is unfinished is appended to the next day's plan, in its order " +
				"and with its classification; the day's own plan stays as it is. What the values tree has completed, archived or " +
				"deleted meanwhile is left behind. Repeating it changes nothing.",
			answers: []documented{
				{
					status: http.StatusOK,
					doc:    "The next day's plan as it is now, whose to-dos were appended to it, and whose were left behind.",
					schema: schemaRef(planRollover), traced: true,
				},
			},
			finds: true, fills: fillsNextPlan, run: rolloverPlan,
		},
		{
			id: "completePlan", method: http.MethodPost, path: plansPath + "/complete", tag: "plans", writes: true,
			summary: "Complete an action",
			detail:  "In the day's plan and in the values tree together, or in neither. Repeating it changes nothing.",
			body:    completePlanBody(), finds: true, fills: fillsPlanAndTree,
			answers: []documented{
				{status: http.StatusOK, doc: "The plan and the action as they are now.", schema: schemaRef(planCompletion),
					traced: true},
			},
			run: completePlan,
		},
		prunePlanOperation(),
		deletePlanOperation(),
	}
	for _, o := range table {
		o.mayBePruned = o.id != "listPlanRevisions" && o.id != "prunePlan" && o.id != "deletePlan"
		o.paths = revIDPath()
		o.paths[memberDate] = object{{"type", "string"}, {"format", "date"}, {"description", "The day, YYYY-MM-DD."}}
	}
	return table
}

// planView is a revision of a day's plan, or a day without one.
type planView struct {
	Date string `json:"date"`
	entryView
	Todos  []plan.Todo  `json:"todos"`
	Blocks []plan.Block `json:"blocks"`
}

func viewOfPlan(date string, entry entryView, p plan.Plan) planView {
	return planView{date, entry, listed(p.Todos), listed(p.Blocks)}
}

func viewOfBase(b plan.Base) planView {
	return viewOfPlan(b.Repository.Date, entryView{headView: viewOfHead(b.Head)}, b.State)
}

func getPlan(ctx context.Context, s *Config, c call) (answer, error) {
	date := c.path[memberDate]
	if at, given := c.query.Time(memberAt); given {
		got, err := s.Plans.AsOf(ctx, c.user, date, at)
		return answerOfPlan(c, got, err)
	}
	base, err := s.Plans.Current(ctx, c.user, date)
	if err != nil {
		return answer{}, err
	}
	return revisionAnswer(base.Head.RevID, viewOfBase(base))
}

func answerOfPlan(c call, got plan.Revision, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	return revisionAnswer(got.RevID, viewOfPlan(c.path[memberDate], viewOfPlanCommit(got.Commit), got.State))
}

func commitPlan(ctx context.Context, s *Config, c call) (answer, error) {
	commit, p := readCommitOfPlan(c)
	if p != nil {
		return answer{}, p
	}
	made, err := s.Plans.Commit(ctx, c.user, c.path[memberDate], commit)
	return madePlan(c, made, err)
}

// madePlan answers with the revision that a write made.
func madePlan(c call, made plan.Result, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	date, entry := c.path[memberDate], viewOfPlanCommit(made.Commit)
	return madeAnswer(c.user, "/v1/plans/"+date, entry.headView, viewOfPlan(date, entry, made.State), made.Replayed)
}

func diffPlan(ctx context.Context, s *Config, c call) (answer, error) {
	d, err := s.Plans.Diff(ctx, c.user, c.path[memberDate], c.query.Str(memberFrom), c.query.Str(memberTo))
	if err != nil {
		return answer{}, err
	}
	d.Added.Todos, d.Added.Blocks = listed(d.Added.Todos), listed(d.Added.Blocks)
	d.Removed.Todos, d.Removed.Blocks = listed(d.Removed.Todos), listed(d.Removed.Blocks)
	d.Changed.Todos, d.Changed.Blocks = listed(d.Changed.Todos), listed(d.Changed.Blocks)
	d.Moved = listed(d.Moved)
	return viewAnswer(http.StatusOK, d)
}

func rolloverPlan(ctx context.Context, s *Config, c call) (answer, error) {
	done, err := s.Plans.Rollover(ctx, c.user, c.path[memberDate], c.key, c.retention)
	if err != nil {
		return answer{}, err
	}
	a, err := viewAnswer(http.StatusOK, struct {
		Plan    planView    `json:"plan"`
		Carried []string    `json:"carried"`
		Left    []plan.Left `json:"left"`
	}{viewOfBase(done.Next), listed(done.Carried), listed(done.Left)})
	if err != nil {
		return answer{}, err
	}
	if a.replayed = done.Replayed; len(done.Carried) > 0 {
		a.traces = traceOfRevision(nil, c.user, done.Next.Head.RevID)
	}
	a.brief, err = encode(map[string]headView{memberPlan: viewOfHead(done.Next.Head)})
	return a, err
}

func completePlan(ctx context.Context, s *Config, c call) (answer, error) {
	done, err := s.Plans.Complete(ctx, c.user, c.path[memberDate], c.form.Str(memberActionID), c.key, c.retention)
	if err != nil {
		return answer{}, err
	}
	a, err := viewAnswer(http.StatusOK, object{
		{memberPlan, viewOfBase(done.Plan)}, {memberValues, viewOfHead(done.Values)}, {"action", done.Action},
		{"planChanged", done.PlanChanged}, {"valuesChanged", done.ValuesChanged},
	})
	if err != nil {
		return answer{}, err
	}
	a.replayed = done.Replayed
	if done.ValuesChanged {
		a.traces = traceOfRevision(a.traces, c.user, done.Values.RevID)
	}
	if done.PlanChanged {
		a.traces = traceOfRevision(a.traces, c.user, done.Plan.Head.RevID)
	}
	a.brief, err = encode(map[string]headView{
		memberPlan: viewOfHead(done.Plan.Head), memberValues: viewOfHead(done.Values),
	})
	return a, err
}
