package values

import (
	"context"
	"fmt"
	"slices"
	"time"

	"nexus/pkg/item"
	"nexus/pkg/revision"
	"nexus/pkg/table"
)

// Nodes returns the nodes of the present tree with the ids. One Get, and one BatchGet of a key for each id.
func (s *Service) Nodes(ctx context.Context, user string, ids []string) (map[string]Node, error) {
	head, err := s.Head(ctx, user)
	if err != nil {
		return nil, err
	}
	found := map[string]Node{}
	var keys []item.Key
	for _, id := range ids {
		if isNodeID(id) && head.RevID != "" {
			keys = append(keys, repositoryOf(user).NodeKey(head.RevID, id))
		}
	}
	for chunk := range slices.Chunk(keys, table.MaxBatchGet) {
		rows, err := s.trees.Rows(ctx, chunk)
		if err != nil {
			return nil, fmt.Errorf("read %d nodes of revision %s: %w", len(chunk), head.RevID, err)
		}
		t, err := read(rows)
		if err != nil {
			return nil, fmt.Errorf("nodes of revision %s: %w: %w", head.RevID, revision.ErrBroken, err)
		}
		for _, n := range t.Nodes {
			found[n.NodeID] = n
		}
	}
	return found, nil
}

// Open returns the present tree; the zero Base of a user who has none. One Get and one Query.
func (s *Service) Open(ctx context.Context, user string) (Base, error) {
	return s.trees.Open(ctx, repositoryOf(user))
}

// PrepareCompletion prepares the revision in which an action is completed as of the instant, which must have passed. It
// returns no revision if the action is completed already, and a [*revision.NotFoundError] if the tree has no such
// action that is not deleted.
func (s *Service) PrepareCompletion(
	base Base, actionID string, at time.Time, message string,
) (*revision.Prepared, Node, error) {
	i := slices.IndexFunc(base.State.Nodes, func(n Node) bool { return n.NodeID == actionID })
	if i < 0 || base.State.Nodes[i].NodeType != Action || base.State.Nodes[i].Deleted() {
		return nil, Node{}, &revision.NotFoundError{Repository: base.Repository, What: "an action of this id"}
	}
	if done := base.State.Nodes[i]; !done.CompletedAt.IsZero() {
		return nil, done, nil
	}
	tree := base.State.clone()
	tree.Nodes[i].CompletedAt = at
	prepared := s.trees.Prepare(base, s.trees.When(base.Head), revision.Change[Tree]{
		Message: message, Source: SourceCompletion, State: tree,
	})
	return prepared, tree.Nodes[i], nil
}
