package transfer

import (
	"context"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
)

// visitor takes what a file holds, in the order in which it is written.
type visitor interface {
	settings(ctx context.Context, row item.Item) error
	item(ctx context.Context, l numberedLine, of parsed) error
	copied(ctx context.Context, l numberedLine, of parsed) error
	gone(ctx context.Context, l numberedLine, id string, row item.Item) error
	revision(ctx context.Context, r adoptable) error
	head(ctx context.Context, h newHead) error
}

// adoptable is a revision of a file. Adopt puts it, with the caller's own actions; see [revision.Repository.Adopt].
type adoptable struct {
	at     repository.Address
	commit revision.Commit
	adopt  adoption
}

// newHead is the head of a repository of a file.
type newHead struct {
	at         repository.Address
	commit     revision.Commit
	rolledFrom revision.Named
	oldest     *revision.Commit // of a pruned history
}

// content reads a file for a user.
type content struct {
	*parser
	file *archiveFile
	// trees says what the plans may name, once the tree's history was read.
	actions actions
	heads   []newHead
	// dayBefore has the revisions of the plan that was read last: the next day's may name one of them.
	dayBefore revisions
}

// revisions are those of one repository, by their ids.
type revisions struct {
	at  repository.Address
	ids map[string]bool
}

// visit calls the visitor for everything: settings, entities with every series before its exceptions, copies, ids that
// are gone, revisions from the oldest on, and the heads last.
func (c *content) visit(ctx context.Context, v visitor) error {
	c.actions, c.heads, c.dayBefore = actions{nodes: map[string]values.Node{}}, nil, revisions{}
	for _, part := range []func(context.Context, visitor) error{
		c.visitSettings, c.visitItems, c.visitCopies, c.visitGone, c.visitHistories,
	} {
		if err := part(ctx, v); err != nil {
			return err
		}
	}
	for _, h := range c.heads {
		if err := v.head(ctx, h); err != nil {
			return err
		}
	}
	return nil
}

// optional returns the name of a file that an account need not have.
func (c *content) optional(name string) []string {
	if c.file.listed[name].Name == "" {
		return nil
	}
	return []string{name}
}

func (c *content) visitSettings(ctx context.Context, v visitor) error {
	for l, err := range c.file.lines(c.optional(settingsFile)...) {
		if err != nil {
			return err
		}
		if l.n > 1 {
			return l.refuse("has more than one line")
		}
		row, err := c.settings(l)
		if err == nil {
			err = v.settings(ctx, row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *content) visitItems(ctx context.Context, v visitor) error {
	for l, err := range c.file.lines(c.file.names(itemsDir)...) {
		var of parsed
		if err == nil {
			of, err = c.entity(l)
		}
		if err == nil {
			err = v.item(ctx, l, of)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *content) visitCopies(ctx context.Context, v visitor) error {
	for l, err := range c.file.lines(c.file.names(archiveDir)...) {
		var of parsed
		if err == nil {
			of, err = c.copied(l)
		}
		if err == nil {
			err = v.copied(ctx, l, of)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *content) visitGone(ctx context.Context, v visitor) error {
	for l, err := range c.file.lines(c.optional(goneFile)...) {
		var id string
		var row item.Item
		if err == nil {
			id, row, err = c.gone(l)
		}
		if err == nil {
			err = v.gone(ctx, l, id, row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *content) visitHistories(ctx context.Context, v visitor) error {
	if len(c.file.names(valuesDir)) > 0 {
		repo, at := c.Values.Repository(c.user)
		h := &history[values.Tree]{
			content: c, repo: repo, at: at, dir: valuesDir, read: readTree, clean: c.cleanTree, equal: values.Tree.Equal,
			adopted: func(broken *revision.Violations, parent *values.Tree, entry revision.Commit, t values.Tree) values.Tree {
				t = c.Values.Adopted(broken, parent, entry, t)
				c.actions.learn(t)
				return t
			},
		}
		if err := h.visit(ctx, v); err != nil {
			return err
		}
		c.actions.arePruned = h.isPruned
	}
	for _, missing := range c.file.manifest.Missing {
		c.actions.arePruned = c.actions.arePruned || strings.HasPrefix(missing.ID, valuesDir)
	}
	for _, day := range c.file.days() {
		repo, at := c.Plans.Repository(c.user, day)
		h := &history[plan.Plan]{
			content: c, repo: repo, at: at, dir: plansDir + day + "/", read: readPlan, clean: c.cleanPlan,
			equal: plan.Plan.Equal,
			adopted: func(broken *revision.Violations, parent *plan.Plan, entry revision.Commit, p plan.Plan) plan.Plan {
				return c.Plans.Adopted(broken, at, parent, entry, p, c.actions.namedBy(p))
			},
		}
		if err := h.visit(ctx, v); err != nil {
			return err
		}
	}
	return nil
}

// actions are the actions of all trees of a file: a plan may name one that was in the tree when it was planned.
type actions struct {
	nodes map[string]values.Node
	// arePruned says that the file does not have all trees, so that a plan may name others.
	arePruned bool
}

func (a *actions) learn(t values.Tree) {
	for _, n := range t.Nodes {
		if known, ok := a.nodes[n.NodeID]; !ok || known.Deleted() {
			a.nodes[n.NodeID] = values.Node{NodeID: n.NodeID, NodeType: n.NodeType, DeletedAt: n.DeletedAt}
		}
	}
}

// namedBy returns the nodes that a plan may name.
func (a *actions) namedBy(p plan.Plan) map[string]values.Node {
	if !a.arePruned {
		return a.nodes
	}
	named := map[string]values.Node{}
	for _, t := range p.Todos {
		node, ok := a.nodes[t.ActionID]
		if !ok || node.Deleted() {
			node = values.Node{NodeID: t.ActionID, NodeType: values.Action}
		}
		named[t.ActionID] = node
	}
	return named
}

// isSeries reports whether an entity is a series, and isException whether it is one of a series.
func (p parsed) isSeries() bool    { return p.typ.Name == entity.TypeMaster }
func (p parsed) isException() bool { return p.typ.Name == entity.TypeInstance }
