package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/query"
	"nexus/pkg/revision"
)

// Members of bodies and answers about versioned repositories.
const (
	memberRevID       = "revId"
	memberRevTs       = "revTs"
	memberCommittedAt = "committedAt"
	memberParentRevID = "parentRevId"
	memberOriginRevID = "originRevId"
	memberMessage     = "message"
	memberSource      = "source"
	memberReason      = "reason"
	memberAt          = "at"
	memberFrom        = "from"
	memberTo          = "to"
	memberItems       = "items"

	revIDPattern = `^rev_[0-9]{8}T[0-9]{6}Z_[0-9a-f]{32}$`
	exampleRevID = "rev_20260302T093000Z_1b9d6bcdbbfd4b2d9b5dab8dfbbd4bed"
	headSchema   = "RevisionHead"

	// maxCommit bounds the body of a commit, in bytes. Lambda takes requests of 6 MB, in which the body is a text.
	maxCommit = 4 << 20
)

// headView names a revision.
type headView struct {
	RevID string    `json:"revId,omitempty"`
	RevTs time.Time `json:"revTs,omitzero"`
}

func viewOfHead(h revision.Head) headView { return headView{h.RevID, h.RevTs} }

// entryView is an entry of a repository's log. For the present revision, when read by itself, only the first two
// members are known.
type entryView struct {
	headView
	CommittedAt time.Time `json:"committedAt,omitzero"` // if it differs from revTs
	ParentRevID string    `json:"parentRevId,omitempty"`
	Message     string    `json:"message,omitempty"`
	Source      string    `json:"source,omitempty"` // of the values tree
	Reason      string    `json:"reason,omitempty"` // of a plan, as its source
	OriginRevID string    `json:"originRevId,omitempty"`
}

// viewOfCommit is for the values tree; a plan's source has another name.
func viewOfCommit(c revision.Commit) entryView {
	v := entryView{
		headView: headView{c.RevID, c.RevTs}, ParentRevID: c.ParentRevID, Message: c.Message, Source: c.Source,
		OriginRevID: c.OriginRevID,
	}
	if !c.CommittedAt.Equal(c.RevTs) {
		v.CommittedAt = c.CommittedAt
	}
	return v
}

func viewOfPlanCommit(c revision.Commit) entryView {
	v := viewOfCommit(c)
	v.Source, v.Reason = "", c.Source
	return v
}

// listed returns the list, or an empty one for nil.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// viewAnswer returns the answer with a view as its body.
func viewAnswer(status int, view any) (answer, error) {
	body, err := encode(view)
	if err != nil {
		return answer{}, fmt.Errorf("answer: %w", err)
	}
	return answer{status: status, body: body}, nil
}

// revisionAnswer returns the answer that contains a whole revision.
func revisionAnswer(revID string, view any) (answer, error) {
	a, err := viewAnswer(http.StatusOK, view)
	a.revID = revID
	return a, err
}

// madeAnswer returns the answer to a write that made a revision in the repository at the path.
func madeAnswer(user, path string, head headView, view any, replayed bool) (answer, error) {
	a, err := revisionAnswer(head.RevID, view)
	if err != nil {
		return answer{}, err
	}
	a.status, a.location, a.replayed = http.StatusCreated, path+"/revisions/"+head.RevID, replayed
	a.traces = traceOfRevision(nil, user, head.RevID)
	a.brief, err = encode(head)
	return a, err
}

// traceOfRevision adds the trace id of a revision, which is written once and never changed.
func traceOfRevision(traces []string, user, revID string) []string {
	return appendTrace(traces, user, entity.Ref{ID: revID}, 1)
}

// historyAnswer returns a page of a log. The list names the log and its user.
func historyAnswer(
	ctx context.Context, c call, list string, view func(revision.Commit) entryView,
	history func(ctx context.Context, limit int, before string) (revision.Page, error),
) (answer, error) {
	limit, text, p := pageOf(c.query)
	if p != nil {
		return answer{}, p
	}
	before := ""
	if text != "" {
		var ok bool
		if before, ok = readMarkedCursor(list, text); !ok || repository.CheckRevisionID(before) != nil {
			return answer{}, query.ErrCursor
		}
	}
	page, err := history(ctx, limit, before)
	if err != nil {
		return answer{}, err
	}
	entries := make([]entryView, len(page.Commits))
	for i, commit := range page.Commits {
		entries[i] = view(commit)
	}
	next := ""
	if page.Before != "" {
		next = markedCursor(list, page.Before)
	}
	return viewAnswer(http.StatusOK, struct {
		Items []entryView `json:"items"`
		Next  string      `json:"nextCursor,omitempty"`
	}{entries, next})
}

// rollback is the body of a request to restore an earlier revision.
type rollback struct{ parentRevID, revID, message string }

// rollbackOf reads a rollback. It adds a default message if the client sent none.
func rollbackOf(c call) rollback {
	r := rollback{c.form.Str(memberParentRevID), c.form.Str(memberRevID), c.form.Str(memberMessage)}
	if r.message == "" {
		r.message = "rolled back to " + r.revID
	}
	return r
}

func rollbackBody() *body {
	taken := form(
		entity.Field{
			Name: memberParentRevID, Kind: entity.Text, Required: true, Min: 1, Max: maxRevID,
			Doc: "The present revision, as the client knows it.",
		},
		entity.Field{
			Name: memberRevID, Kind: entity.Text, Required: true, Min: 1, Max: maxRevID, Doc: "The revision to bring back.",
		},
		entity.Field{Name: memberMessage, Kind: entity.Text, Doc: "What for; made here unless given."},
	)
	schema := closed([]string{memberParentRevID, memberRevID}, object{
		{memberParentRevID, revIDSchema(taken.Fields[0].Doc)}, {memberRevID, revIDSchema(taken.Fields[1].Doc)},
		{memberMessage, textSchema(taken.Fields[2].Doc)},
	})
	return &body{
		form: taken, schema: schema, required: true,
		example: map[string]any{memberParentRevID: exampleRevID, memberRevID: exampleRevID},
	}
}

// maxRevID is the length of a revision's id.
const maxRevID int64 = int64(len(exampleRevID))

// Query parameters about revisions.

func atParam() entity.Field {
	return entity.Field{
		Name: memberAt, Kind: entity.Instant,
		Doc: "As it was at the end of this second, RFC 3339 with offset; as it is unless given. A + is written %2B.",
	}
}

func diffParams() []entity.Field {
	return []entity.Field{
		{Name: memberFrom, Kind: entity.Text, Required: true, Min: 1, Max: maxRevID, Doc: "The revision to begin with."},
		{Name: memberTo, Kind: entity.Text, Required: true, Min: 1, Max: maxRevID, Doc: "The revision to end with."},
	}
}

const conflictOfHead = "parentRevId is not the present revision: currentRevId in the problem says which is. Nothing " +
	"was written."
