package values

import (
	"slices"
	"time"
	"unicode/utf8"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/revision"
	"nexus/pkg/text"
)

// checker checks a tree against the rules before its commit, and completes what follows from the rest of it.
type checker struct {
	*revision.Violations
	tree   *Tree
	before map[string]*Node // of the parent revision
	now    time.Time
	place  places
	nodes  map[string]*Node
	// forgotten are the nodes whose words an operation of this commit removed.
	forgotten map[string]bool
}

// place returns the JSON Pointer of a field of a node or an edge in the request; "" is the node or edge itself. If the
// request has no such field, it is the nearest one that the client did send.
type place func(field string) string

// places maps nodes and edges to places in the request, by their positions in the checked tree.
type places struct {
	node func(i int) place
	edge func(i int) place
	// whole is the place of the list of nodes, and of nodes that it lacks.
	whole string
}

// check completes the tree and records every rule it breaks. Nodes and edges must be in the order of the request,
// because the pointers count them.
func check(
	v *revision.Violations, tree *Tree, before Tree, now time.Time, place places, forgotten map[string]bool,
) {
	c := &checker{Violations: v, tree: tree, before: before.index(), now: now, place: place, forgotten: forgotten}
	if !c.checkSize() {
		return // a tree that is too large is not checked further
	}
	c.nodes = tree.index()
	for i := range tree.Nodes {
		c.checkNode(i, &tree.Nodes[i])
	}
	c.checkLost(before)
	c.checkEdges()
	c.checkHierarchy()
}

func (c *checker) checkSize() bool {
	text := 0
	for _, n := range c.tree.Nodes {
		text += len(n.Title) + len(n.Notes)
	}
	ok := true
	refuse := func(rule revision.Rule, is bool, format string, args ...any) {
		if is {
			c.Add(rule, "", c.place.whole, format, args...)
			ok = false
		}
	}
	refuse(RuleTooManyNodes, len(c.tree.Nodes) > MaxNodes, "a tree has at most %d nodes, tombstones included, not %d",
		MaxNodes, len(c.tree.Nodes))
	refuse(RuleTooManyEdges, len(c.tree.Edges) > MaxEdges, "a tree has at most %d edges, not %d", MaxEdges,
		len(c.tree.Edges))
	refuse(RuleTooMuchText, text > MaxText, "a tree has at most %d bytes of titles and notes, not %d", MaxText, text)
	return ok
}

// checkNode checks one node by itself and against its former state.
func (c *checker) checkNode(i int, n *Node) {
	at := c.place.node(i)
	was := c.before[n.NodeID]
	if c.nodes[n.NodeID] != n {
		c.Add(RuleNodeTwice, n.NodeID, at("nodeId"), "stands there twice")
		return
	}
	for _, instant := range []*time.Time{&n.CreatedAt, &n.CompletedAt, &n.DeletedAt, &n.ForgottenAt} {
		*instant = instant.UTC().Truncate(time.Second) // as everything is stored
	}
	c.checkForgetting(at, n, was)
	c.checkIdentity(at, n, was)
	c.checkText(at, n, was)
	switch {
	case was == nil && n.CreatedAt.IsZero():
		n.CreatedAt = c.now
	case was == nil && n.CreatedAt.Equal(c.now): // made by an operation of this very commit
	case was == nil:
		c.Add(RuleCreatedAt, n.NodeID, at("createdAt"), "is set by the server")
	case n.CreatedAt.IsZero():
		n.CreatedAt = was.CreatedAt
	case !n.CreatedAt.Equal(was.CreatedAt):
		c.Add(RuleCreatedAt, n.NodeID, at("createdAt"), "was %s and cannot change", item.FormatInstant(was.CreatedAt))
	}
	if n.NodeType == Driver && !n.CompletedAt.IsZero() {
		c.Add(RuleCompletedDriver, n.NodeID, at("completedAt"), "a driver is never completed")
	}
	if since := n.CompletedAt; !since.IsZero() && !c.plausible(since) {
		c.Add(RuleCompletedAt, n.NodeID, at("completedAt"), "must be an instant that has passed")
	}
	c.checkDeletion(at, n, was)
}

// plausible reports whether something can have happened at the instant.
func (c *checker) plausible(at time.Time) bool { return !at.After(c.now) && at.Year() >= 1900 }

func (c *checker) checkIdentity(at place, n, was *Node) {
	prefix := n.NodeType.idPrefix()
	if prefix == "" {
		c.Add(RuleNodeType, n.NodeID, at("nodeType"), "must be one of %s, %s, %s", Driver, Milestone, Action)
		return
	}
	if was != nil {
		if was.NodeType != n.NodeType {
			c.Add(RuleNodeTypeChanged, n.NodeID, at("nodeType"), "was %s and cannot change", was.NodeType)
		}
		return
	}
	if entity.CheckID(prefix, n.NodeID) == nil || entity.CheckID(repository.NodePrefix, n.NodeID) == nil {
		if entity.CheckClientID(prefix, n.NodeID) != nil && entity.CheckClientID(repository.NodePrefix, n.NodeID) != nil {
			c.Add(RuleNewNodeID, n.NodeID, at("nodeId"), "a new node's id ends in a lower-case UUID")
		}
		return
	}
	c.Add(RuleNodeID, n.NodeID, at("nodeId"), "must be %s_ or %s_ and 1 to 50 of A-Z a-z 0-9 _ -", prefix,
		repository.NodePrefix)
}

// checkText checks a node's texts. It checks the characters only of a text that differs from the parent's, so that an
// older one does not prevent other edits of the tree.
func (c *checker) checkText(at place, n, was *Node) {
	if was == nil || n.Title != was.Title {
		if wrong := text.CheckLine(n.Title); wrong != "" {
			c.Add(RuleText, n.NodeID, at("title"), "%s", wrong)
		}
	}
	if was == nil || n.Notes != was.Notes {
		if wrong := text.CheckMarkdown(n.Notes); wrong != "" {
			c.Add(RuleText, n.NodeID, at("notes"), "%s", wrong)
		}
	}
	switch {
	case !utf8.ValidString(n.Title):
		c.Add(RuleText, n.NodeID, at("title"), "must be valid UTF-8")
	case n.Title == "" && !n.Forgotten():
		c.Add(RuleTitleMissing, n.NodeID, at("title"), "must not be empty")
	case utf8.RuneCountInString(n.Title) > maxTitle:
		c.Add(RuleTitleLong, n.NodeID, at("title"), "must have at most %d characters", maxTitle)
	}
	switch {
	case !utf8.ValidString(n.Notes):
		c.Add(RuleText, n.NodeID, at("notes"), "must be valid UTF-8")
	case len(n.Notes) > maxNotes:
		c.Add(RuleNotesLong, n.NodeID, at("notes"), "must have at most %d bytes", maxNotes)
	}
}

// checkForgetting checks that an operation alone removes a node's words. A tombstone that is sent without the member
// keeps it.
func (c *checker) checkForgetting(at place, n, was *Node) {
	wasForgotten := was != nil && was.Forgotten()
	switch {
	case wasForgotten && n.Deleted() && n.ForgottenAt.IsZero():
		n.ForgottenAt = was.ForgottenAt
	case n.ForgottenAt.IsZero(), c.forgotten[n.NodeID]:
	case wasForgotten && n.Deleted() && n.ForgottenAt.Equal(was.ForgottenAt):
	default:
		c.Add(RuleForgottenAt, n.NodeID, at("forgottenAt"), "is set by forgetting a deleted node, and ends with its restore")
	}
}

// checkDeletion checks what makes a node a tombstone, and preserves one unchanged until it is restored.
func (c *checker) checkDeletion(at place, n, was *Node) {
	if !n.Deleted() {
		return
	}
	if !n.Archived {
		c.Add(RuleDeletedUnarchived, n.NodeID, at("archived"), "what is deleted is archived too")
	}
	switch {
	case !c.plausible(n.DeletedAt) || n.DeletedAt.Before(n.CreatedAt):
		c.Add(RuleDeletedAt, n.NodeID, at("deletedAt"), "must be an instant between the node's creation and now")
	case was != nil && was.Deleted():
		kept := *was
		// They have separate findings.
		kept.CreatedAt, kept.RootDriverID, kept.ForgottenAt = n.CreatedAt, n.RootDriverID, n.ForgottenAt
		if c.forgotten[n.NodeID] {
			kept.Title, kept.Notes = "", ""
		}
		if !sameNode(*n, kept) {
			c.Add(RuleTombstoneChanged, n.NodeID, at(""), "is deleted and can only be restored")
		}
	}
}

// sameNode compares instants by their time.
func sameNode(a, b Node) bool {
	times := a.CreatedAt.Equal(b.CreatedAt) && a.CompletedAt.Equal(b.CompletedAt) && a.DeletedAt.Equal(b.DeletedAt) &&
		a.ForgottenAt.Equal(b.ForgottenAt)
	a.CreatedAt, a.CompletedAt, a.DeletedAt, a.ForgottenAt = b.CreatedAt, b.CompletedAt, b.DeletedAt, b.ForgottenAt
	return times && a == b
}

// checkLost carries over the tombstones that the request leaves out, and refuses the loss of any other node.
func (c *checker) checkLost(before Tree) {
	var kept []Node
	for _, was := range before.Nodes {
		switch {
		case c.nodes[was.NodeID] != nil:
		case was.Deleted():
			kept = append(kept, was)
		default:
			c.Add(RuleNodeLost, was.NodeID, c.place.whole,
				"is in the parent revision and left out: nothing is removed, delete it instead")
		}
	}
	if len(c.tree.Nodes)+len(kept) > MaxNodes {
		c.Add(RuleTooManyNodes, "", c.place.whole, "a tree has at most %d nodes, tombstones included", MaxNodes)
		return
	}
	c.tree.Nodes = append(slices.Clip(c.tree.Nodes), kept...)
	c.nodes = c.tree.index()
}
