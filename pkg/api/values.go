package api

import (
	"context"
	"net/http"

	"nexus/pkg/entity"
	"nexus/pkg/revision"
	"nexus/pkg/revision/values"
)

const valuesPath = "/v1/values"

// valuesOperations returns the operations on the values tree. No batch carries its writes: a user reviews the present
// tree, and reads it again after a conflict before trying again. A commit of two thousand nodes takes the time, and
// its answer the room, of a whole batch.
func valuesOperations() []*operation {
	table := []*operation{
		{
			id: "getValues", method: http.MethodGet, path: valuesPath, tag: "values",
			summary: "Read the values tree", detail: "As it is, or with at as it was: the revision that was the present one " +
				"then. 404 as long as there is no revision. What the present revision is for, the history tells.",
			query:   []entity.Field{atParam()},
			answers: []documented{revisionAnswered(http.StatusOK, "The revision and its tree.", valuesRevision)}, finds: true,
			run: getValues,
		},
		{
			id: "getValuesChildren", method: http.MethodGet, path: valuesPath + "/nodes/{nodeId}/children", tag: "values",
			summary: "List the children of a node", detail: "The edges from the node in the present tree, in their order. A " +
				"node that has none, or is not there, has an empty list.",
			paths: nodeIDPath(), finds: true, answers: childrenAnswered(),
			run: getValuesChildren,
		},
		{
			id: "listValuesRevisions", method: http.MethodGet, path: valuesPath + "/revisions", tag: "values",
			summary: "Show the history of the values tree", detail: "The newest revision first.",
			query:   []entity.Field{limitParam(), cursorParam()},
			answers: []documented{{status: http.StatusOK, doc: "A page of the history.", schema: entriesPage(memberSource)}},
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				return historyAnswer(ctx, c, "values "+c.user, viewOfCommit,
					func(ctx context.Context, limit int, before string) (revision.Page, error) {
						return s.Values.History(ctx, c.user, limit, before)
					})
			},
		},
		{
			id: "getValuesRevision", method: http.MethodGet, path: valuesPath + "/revisions/{revId}", tag: "values",
			summary: "Read a revision of the values tree", detail: "It never changes.", paths: revIDPath(),
			answers: []documented{revisionAnswered(http.StatusOK, "The revision and its tree.", valuesRevision)}, finds: true,
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				got, err := s.Values.Revision(ctx, c.user, c.path[memberRevID])
				return answerOfTree(got, err)
			},
		},
		{
			id: "getValuesRevisionChildren", method: http.MethodGet,
			path: valuesPath + "/revisions/{revId}/nodes/{nodeId}/children", tag: "values",
			summary: "List the children of a node as they were", detail: "The edges from the node in that revision, in their " +
				"order. A node that had none, or was not there, has an empty list.",
			paths: revisionNodePath(), finds: true, answers: childrenAnswered(),
			run: getValuesRevisionChildren,
		},
		{
			id: "commitValues", method: http.MethodPost, path: valuesPath + "/revisions", tag: "values", writes: true,
			alone:   true,
			summary: "Commit the values tree", detail: "Either the whole tree, whose tombstones may be left out, or " +
				"operations that edit that of parentRevId, one on top of the other. " +
				"All of it is committed or none: each broken rule is named, with its node. Nodes are never lost, only deleted.",
			body:      commitValuesBody(),
			answers:   []documented{revisionAnswered(http.StatusCreated, "The new revision and its tree.", valuesRevision)},
			conflicts: conflictOfHead, fills: fillsTree,
			run: commitValues,
		},
		{
			id: "diffValues", method: http.MethodGet, path: valuesPath + "/diff", tag: "values",
			summary: "Compare two revisions of the values tree",
			detail:  "What turns the one into the other. Nodes that were only moved are not among the changed.",
			query:   diffParams(),
			answers: []documented{{status: http.StatusOK, doc: "The differences.", schema: schemaRef(valuesDiff)}}, finds: true,
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				d, err := s.Values.Diff(ctx, c.user, c.query.Str(memberFrom), c.query.Str(memberTo))
				if err != nil {
					return answer{}, err
				}
				d.Added.Nodes, d.Added.Edges = listed(d.Added.Nodes), listed(d.Added.Edges)
				d.Removed.Nodes, d.Removed.Edges = listed(d.Removed.Nodes), listed(d.Removed.Edges)
				d.Changed, d.Moved = listed(d.Changed), listed(d.Moved)
				return viewAnswer(http.StatusOK, d)
			},
		},
		{
			id: "rollbackValues", method: http.MethodPost, path: valuesPath + "/rollback", tag: "values", writes: true,
			alone:   true,
			summary: "Bring an earlier values tree back",
			detail: "As a new revision, node for node; what lies between stays in the history. Words of nodes that were " +
				"forgotten since come back with it: " + memberRemembered + " names these nodes.",
			body: rollbackBody(), finds: true, conflicts: conflictOfHead, fills: fillsTree,
			answers: []documented{revisionAnswered(http.StatusCreated, "The new revision and its tree.", valuesRevision)},
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				r := rollbackOf(c)
				made, err := s.Values.Rollback(ctx, c.user, r.parentRevID, r.revID, r.message, c.key)
				return madeTree(c, made, err)
			},
		},
		pruneValuesOperation(),
	}
	for _, o := range table {
		o.mayBePruned = o.id != "getValuesChildren" && o.id != "listValuesRevisions" && o.id != "pruneValues"
	}
	return table
}

// treeView is a revision of the values tree.
type treeView struct {
	entryView
	Nodes []values.Node `json:"nodes"`
	Edges []values.Edge `json:"edges"`
	// Remembered are the forgotten nodes whose words a rollback brought back.
	Remembered []string `json:"remembered,omitempty"`
}

func viewOfTree(entry entryView, tree values.Tree) treeView {
	return treeView{entryView: entry, Nodes: listed(tree.Nodes), Edges: listed(tree.Edges)}
}

func getValues(ctx context.Context, s *Config, c call) (answer, error) {
	if at, given := c.query.Time(memberAt); given {
		got, err := s.Values.AsOf(ctx, c.user, at)
		return answerOfTree(got, err)
	}
	base, err := s.Values.Current(ctx, c.user)
	if err != nil {
		return answer{}, err
	}
	return revisionAnswer(base.Head.RevID, viewOfTree(entryView{headView: viewOfHead(base.Head)}, base.State))
}

func answerOfTree(got values.Revision, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	return revisionAnswer(got.RevID, viewOfTree(viewOfCommit(got.Commit), got.State))
}

func getValuesChildren(ctx context.Context, s *Config, c call) (answer, error) {
	head, err := s.Values.Head(ctx, c.user)
	if err != nil {
		return answer{}, err
	}
	if head.RevID == "" {
		return answer{}, refuse(notFound, "There is no revision yet.")
	}
	return childrenAnswer(ctx, s, c, viewOfHead(head))
}

// getValuesRevisionChildren reads the log first, so that rows of an uncommitted revision are never visible.
func getValuesRevisionChildren(ctx context.Context, s *Config, c call) (answer, error) {
	commit, err := s.Values.Entry(ctx, c.user, c.path[memberRevID])
	if err != nil {
		return answer{}, err
	}
	return childrenAnswer(ctx, s, c, viewOfCommit(commit).headView)
}

// childrenAnswer lists a node's children in an existing revision.
func childrenAnswer(ctx context.Context, s *Config, c call, of headView) (answer, error) {
	edges, err := s.Values.Children(ctx, c.user, of.RevID, c.path[memberNodeID])
	if err != nil {
		return answer{}, err
	}
	return viewAnswer(http.StatusOK, struct {
		headView
		Items []values.Edge `json:"items"`
	}{of, listed(edges)})
}

func commitValues(ctx context.Context, s *Config, c call) (answer, error) {
	commit, p := readCommitOfTree(c)
	if p != nil {
		return answer{}, p
	}
	made, err := s.Values.Commit(ctx, c.user, commit)
	return madeTree(c, values.RolledBack{Result: made}, err)
}

// madeTree answers with the revision that a write made.
func madeTree(c call, made values.RolledBack, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	entry := viewOfCommit(made.Commit)
	view := viewOfTree(entry, made.State)
	view.Remembered = made.Remembered
	return madeAnswer(c.user, valuesPath, entry.headView, view, made.Replayed)
}
