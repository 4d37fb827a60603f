package values

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/revision"
)

// Service manages the values trees of all users. It is safe for concurrent use.
type Service struct {
	trees *revision.Repository[Tree]
	newID func() string
}

// New returns a service. NewID, a part of the publisher's configuration as well, returns a new UUIDv4 in lower case.
func New(p *revision.Publisher, newID func() string) *Service {
	if newID == nil {
		panic("values: no source of ids")
	}
	return &Service{revision.New(p, shape()), newID}
}

type (
	// Revision is a commit with its tree.
	Revision = revision.Revision[Tree]
	// Result is the revision that a write made.
	Result = revision.Result[Tree]
	// Base is the present tree with the head that names it.
	Base = revision.Base[Tree]
)

func repositoryOf(user string) repository.Address { return repository.Address{User: user} }

// Repository returns the repository of all trees, and its address for a user: for what reads and writes whole
// histories.
func (s *Service) Repository(user string) (*revision.Repository[Tree], repository.Address) {
	return s.trees, repositoryOf(user)
}

// Head returns the pointer to the present revision; the zero Head if there is none. One Get.
func (s *Service) Head(ctx context.Context, user string) (revision.Head, error) {
	return s.trees.Head(ctx, repositoryOf(user))
}

// Current returns the present tree, or a [*revision.NotFoundError]. One Get and one Query.
func (s *Service) Current(ctx context.Context, user string) (Base, error) {
	return s.trees.Current(ctx, repositoryOf(user))
}

// Children returns the edges to a node's children, in their order, in a revision that a read returned. One Query.
func (s *Service) Children(ctx context.Context, user, revID, nodeID string) ([]Edge, error) {
	if err := repositoryOf(user).Check(); err != nil {
		return nil, fmt.Errorf("address: %w", err)
	}
	if repository.CheckRevisionID(revID) != nil || !isNodeID(nodeID) {
		return nil, &revision.NotFoundError{Repository: repositoryOf(user), What: "a node of this id"}
	}
	rows, err := s.trees.Part(ctx, repositoryOf(user), revID, repository.EdgesPrefix(nodeID))
	if err != nil {
		return nil, err
	}
	t, err := read(rows)
	if err != nil {
		return nil, fmt.Errorf("children of %s: %w: %w", nodeID, revision.ErrBroken, err)
	}
	return t.Edges, nil
}

func isNodeID(id string) bool {
	for _, prefix := range []string{
		repository.DriverPrefix, repository.MilestonePrefix, repository.ActionPrefix, repository.NodePrefix,
	} {
		if entity.CheckID(prefix, id) == nil {
			return true
		}
	}
	return false
}

// Revision returns any revision of the history, or a [*revision.NotFoundError]. One Get and one Query.
func (s *Service) Revision(ctx context.Context, user, revID string) (Revision, error) {
	return s.trees.Revision(ctx, repositoryOf(user), revID)
}

// Entry returns a revision's entry in the log, or a [*revision.NotFoundError] if it was never committed. One Get.
func (s *Service) Entry(ctx context.Context, user, revID string) (revision.Commit, error) {
	return s.trees.Entry(ctx, repositoryOf(user), revID)
}

// History returns a page of the log, newest first. One Query. See [revision.Repository.History].
func (s *Service) History(ctx context.Context, user string, limit int, before string) (revision.Page, error) {
	return s.trees.History(ctx, repositoryOf(user), limit, before)
}

// AsOf returns the tree that was the present one at the instant. Two Queries and a Get.
func (s *Service) AsOf(ctx context.Context, user string, instant time.Time) (Revision, error) {
	return s.trees.AsOf(ctx, repositoryOf(user), instant)
}

// Diff returns the difference between one revision and another. Two Gets and two Queries.
func (s *Service) Diff(ctx context.Context, user, from, to string) (Diff, error) {
	a, err := s.Revision(ctx, user, from)
	if err != nil {
		return Diff{}, err
	}
	b, err := s.Revision(ctx, user, to)
	if err != nil {
		return Diff{}, err
	}
	return Compare(a.State, b.State), nil
}

// Commit is a new revision of a tree: a whole tree, or edits of the parent's.
type Commit struct {
	ParentRevID string
	Message     string
	Source      string
	// Tree replaces the parent's; its tombstones may be left out. Nil for a commit of operations.
	Tree *Tree
	// Operations edit the parent's tree, one on top of the other.
	Operations     []Operation
	IdempotencyKey string
}

// Commit makes a revision. Errors are those of [revision.Publisher.Write], and a [*revision.RuleError] with everything
// that is wrong; it panics if the commit has both a tree and operations, or neither, which is a mistake in the program.
func (s *Service) Commit(ctx context.Context, user string, c Commit) (Result, error) {
	if (c.Tree == nil) == (c.Operations == nil) {
		panic("values: a commit has a tree or operations")
	}
	return s.trees.Commit(ctx, revision.Request[Tree]{
		Repository: repositoryOf(user), ParentRevID: c.ParentRevID, Message: c.Message, Source: c.Source,
		Receipt: revision.Receipt{
			Key: c.IdempotencyKey, Request: []any{"CommitValues", c.ParentRevID, c.Message, c.Source, c.Tree, c.Operations},
		},
		Build: func(_ context.Context, parent Tree, at time.Time) (Tree, error) {
			var broken revision.Violations
			s.trees.CheckCommit(&broken, c.Message, c.Source)
			tree := s.build(&broken, parent, at, c)
			return tree, broken.Err()
		},
	})
}

func (s *Service) build(broken *revision.Violations, parent Tree, at time.Time, c Commit) Tree {
	if c.Tree == nil {
		return Edit(broken, parent, at, s.newID, c.Operations)
	}
	tree := c.Tree.clone()
	sent := len(tree.Nodes)
	const nodes, edges = "/nodes", "/edges"
	check(broken, &tree, parent, at, places{
		node: func(i int) place {
			if i >= sent { // a tombstone that was carried over
				return func(string) string { return nodes }
			}
			return member(nodes, i)
		},
		edge:  func(i int) place { return member(edges, i) },
		whole: nodes,
	}, nil)
	tree.sort()
	return tree
}

// member is the place of a list's member.
func member(list string, i int) place {
	return func(field string) string {
		at := list + "/" + strconv.Itoa(i)
		if field == "" {
			return at
		}
		return at + "/" + field
	}
}

// Edit applies operations to a tree and records every rule that they, or the result, break. NewID makes the ids of
// created nodes that have none.
func Edit(broken *revision.Violations, parent Tree, at time.Time, newID func() string, ops []Operation) Tree {
	before := broken.Len()
	e := newEditor(broken, parent, at, newID)
	e.apply(ops)
	tree := e.tree()
	if broken.Len() == before {
		check(broken, &tree, parent, at, e.places(&tree), e.forgotten)
	}
	tree.sort()
	return tree
}
