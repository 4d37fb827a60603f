package values

import (
	"context"
	"errors"

	"nexus/pkg/revision"
)

// RolledBack is the revision that a rollback made.
type RolledBack struct {
	Result
	// Remembered are the nodes that had been forgotten, and whose words the earlier tree brings back.
	Remembered []string
}

// Rollback makes a revision whose tree is that of an earlier one, row for row. The words of nodes that were forgotten
// since come back with it, and the result names these nodes. A repetition under the same key reads the parent for that,
// and names none if the parent was pruned.
func (s *Service) Rollback(
	ctx context.Context, user, parentRevID, revID, message, idempotencyKey string,
) (RolledBack, error) {
	made, err := s.trees.Rollback(ctx, repositoryOf(user), parentRevID, revID, message, revision.Receipt{
		Key: idempotencyKey, Request: []any{"RollbackValues", parentRevID, revID, message},
	})
	if err != nil {
		return RolledBack{}, err
	}
	parent := made.Parent
	if made.Replayed {
		before, err := s.Revision(ctx, user, made.ParentRevID)
		var pruned *revision.PrunedError
		if err != nil && !errors.As(err, &pruned) {
			return RolledBack{}, err
		}
		parent = before.State
	}
	return RolledBack{made, remembered(parent, made.State)}, nil
}

// remembered returns the nodes that are forgotten in one tree, and not in the one after it.
func remembered(before, after Tree) []string {
	var ids []string
	is := after.index()
	for _, n := range before.Nodes {
		if now := is[n.NodeID]; n.Forgotten() && now != nil && !now.Forgotten() {
			ids = append(ids, n.NodeID)
		}
	}
	return ids
}

// Prune removes older revisions of the tree: it sets the repository and the receipt's request. See
// [revision.Repository.Prune].
func (s *Service) Prune(ctx context.Context, user string, p revision.Pruning) (revision.Pruned, error) {
	p.Repository, p.Receipt.Request = repositoryOf(user), []any{"PruneValues", p.Keep, p.DryRun}
	return s.trees.Prune(ctx, p)
}
