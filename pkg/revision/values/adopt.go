package values

import (
	"slices"

	"nexus/pkg/revision"
)

// Adopted returns the tree of a revision from elsewhere as a commit on its parent would store it, and records every
// rule that a commit would break. Parent is the tree of the revision before it; nil if the history does not have that
// any more, so that nothing of the tree is compared with an earlier one. Violations have no pointer.
func (s *Service) Adopted(broken *revision.Violations, parent *Tree, c revision.Commit, tree Tree) Tree {
	s.trees.CheckAdopted(broken, c)
	was := tree
	if parent != nil {
		was = *parent
	}
	nowhere := func(int) place { return func(string) string { return "" } }
	adopted := tree.clone()
	check(broken, &adopted, was, c.RevTs, places{node: nowhere, edge: nowhere}, forgottenSince(broken, was, tree))
	adopted.sort()
	return adopted
}

// forgottenSince returns the nodes that the revision made forget their words, and records those that still have some.
func forgottenSince(broken *revision.Violations, was, is Tree) map[string]bool {
	forgotten, before := map[string]bool{}, was.index()
	for _, n := range is.Nodes {
		if !n.Forgotten() {
			continue
		}
		if n.Title != "" || n.Notes != "" {
			broken.Add(RuleForgottenAt, n.NodeID, "", "is forgotten and has words")
		}
		forgotten[n.NodeID] = before[n.NodeID] == nil || !before[n.NodeID].Forgotten()
	}
	return forgotten
}

// Equal reports whether two trees have the same rows.
func (t Tree) Equal(other Tree) bool {
	return slices.EqualFunc(t.Nodes, other.Nodes, sameNode) && slices.Equal(t.Edges, other.Edges)
}
