package plan

import (
	"cmp"
	"slices"

	"nexus/pkg/revision"
)

// Diff turns one plan into another.
type Diff struct {
	Added   Plan    `json:"added"`
	Removed Plan    `json:"removed"`
	Changed Changes `json:"changed"`
	// Moved are the to-dos that changed their place in the order, without those that only made room.
	Moved []TodoMove `json:"moved"`
}

// Changes are the changed to-dos and blocks. A to-do's place is no part of it.
type Changes struct {
	Todos  []TodoChange  `json:"todos"`
	Blocks []BlockChange `json:"blocks"`
}

// TodoChange is a to-do before and after.
type TodoChange struct {
	Before Todo `json:"before"`
	After  Todo `json:"after"`
}

// BlockChange is a block before and after.
type BlockChange struct {
	Before Block `json:"before"`
	After  Block `json:"after"`
}

// TodoMove is a to-do's place before and after.
type TodoMove struct {
	ActionID string `json:"actionId"`
	Before   int    `json:"before"`
	After    int    `json:"after"`
}

// Compare returns the difference that turns a into b. Both are plans that were read.
func Compare(a, b Plan) Diff {
	var d Diff
	d.compareTodos(a, b)
	was, is := blocksOf(a), blocksOf(b)
	for _, block := range a.Blocks {
		switch after, stays := is[block.BlockID]; {
		case !stays:
			d.Removed.Blocks = append(d.Removed.Blocks, block)
		case after != block:
			d.Changed.Blocks = append(d.Changed.Blocks, BlockChange{block, after})
		}
	}
	for _, block := range b.Blocks {
		if _, known := was[block.BlockID]; !known {
			d.Added.Blocks = append(d.Added.Blocks, block)
		}
	}
	return d
}

func (d *Diff) compareTodos(a, b Plan) {
	was, is := todosOf(a), todosOf(b)
	for _, t := range a.Todos {
		if _, stays := is[t.ActionID]; !stays {
			d.Removed.Todos = append(d.Removed.Todos, t)
		}
	}
	var common []Todo
	var places []int
	for _, t := range b.Todos {
		before, known := was[t.ActionID]
		if !known {
			d.Added.Todos = append(d.Added.Todos, t)
			continue
		}
		common, places = append(common, t), append(places, before.Order)
		if after := t; !sameTodo(before, after) {
			d.Changed.Todos = append(d.Changed.Todos, TodoChange{before, after})
		}
	}
	for i, kept := range revision.LongestRising(places) {
		if !kept {
			d.Moved = append(d.Moved, TodoMove{common[i].ActionID, places[i], common[i].Order})
		}
	}
}

func sameTodo(a, b Todo) bool {
	a.Order = b.Order
	return a == b
}

func todosOf(p Plan) map[string]Todo {
	out := make(map[string]Todo, len(p.Todos))
	for _, t := range p.Todos {
		out[t.ActionID] = t
	}
	return out
}

func blocksOf(p Plan) map[string]Block {
	out := make(map[string]Block, len(p.Blocks))
	for _, b := range p.Blocks {
		out[b.BlockID] = b
	}
	return out
}

// Apply returns the plan that the difference turns p into. P is the plan that the difference was taken from.
func (d Diff) Apply(p Plan) Plan {
	out := Plan{Todos: d.applyTodos(p.Todos)}
	blocks := blocksOf(p)
	for _, b := range d.Removed.Blocks {
		delete(blocks, b.BlockID)
	}
	for _, c := range d.Changed.Blocks {
		blocks[c.After.BlockID] = c.After
	}
	for _, b := range d.Added.Blocks {
		blocks[b.BlockID] = b
	}
	for _, b := range blocks {
		out.Blocks = append(out.Blocks, b)
	}
	out.sort()
	return out
}

// applyTodos removes the deleted to-dos and inserts the added ones at their places, in the order of the places. The
// others have kept their order, so that every earlier place is then filled.
func (d Diff) applyTodos(todos []Todo) []Todo {
	now := map[string]Todo{}
	for _, t := range todos {
		now[t.ActionID] = t
	}
	for _, c := range d.Changed.Todos {
		now[c.After.ActionID] = c.After
	}
	gone := map[string]bool{}
	for _, t := range d.Removed.Todos {
		gone[t.ActionID] = true
	}
	arriving := slices.Clone(d.Added.Todos)
	for _, m := range d.Moved {
		gone[m.ActionID] = true
		t := now[m.ActionID]
		t.Order = m.After
		arriving = append(arriving, t)
	}
	var out []Todo
	for _, t := range todos {
		if !gone[t.ActionID] {
			out = append(out, now[t.ActionID])
		}
	}
	slices.SortFunc(arriving, func(a, b Todo) int { return cmp.Compare(a.Order, b.Order) })
	for _, t := range arriving {
		out = slices.Insert(out, min(t.Order-1, len(out)), t)
	}
	for i := range out {
		out[i].Order = i + 1
	}
	return out
}
