package plan

import (
	"cmp"
	"slices"
	"time"
)

// Classification says how important a to-do is.
type Classification string

// The classifications.
const (
	Urgent    Classification = "urgent"
	Important Classification = "important"
	Other     Classification = "other"
)

// BlockType says what a block of time is for.
type BlockType string

// The types of blocks.
const (
	Meeting  BlockType = "MEETING"
	Pomodoro BlockType = "POMODORO"
	Break    BlockType = "BREAK"
	Buffer   BlockType = "BUFFER"
)

// BlockTypes returns all types.
func BlockTypes() []BlockType { return []BlockType{Meeting, Pomodoro, Break, Buffer} }

// Bounds of a plan.
const (
	MaxTodos     = 200
	MaxBlocks    = 200
	maxNotes     = 4 << 10 // bytes
	maxTitle     = 500     // characters
	maxPomodoros = 50
	maxBlock     = 24 * time.Hour
)

// Todo is an action chosen for the day.
type Todo struct {
	ActionID string `json:"actionId"`
	// Order is its place, from 1. In a commit the place in the list decides, and Order may be left out.
	Order              int            `json:"order,omitempty"`
	Classification     Classification `json:"classification"`
	EstimatedPomodoros int            `json:"estimatedPomodoros,omitempty"`
	Notes              string         `json:"notes,omitempty"`
	CompletedAt        time.Time      `json:"completedAt,omitzero"`
}

// Done reports whether the to-do is completed.
func (t Todo) Done() bool { return !t.CompletedAt.IsZero() }

// Block is a block of time, from its start up to its end.
type Block struct {
	// BlockID may be left out for a new block.
	BlockID      string    `json:"blockId"`
	BlockType    BlockType `json:"blockType"`
	StartTimeIso time.Time `json:"startTimeIso"`
	EndTimeIso   time.Time `json:"endTimeIso"`
	Title        string    `json:"title,omitempty"`
	// ActionID and PomodoroIndex, which counts an action's pomodoros from 1, belong to a POMODORO alone.
	ActionID      string `json:"actionId,omitempty"`
	PomodoroIndex int    `json:"pomodoroIndex,omitempty"`
}

// Plan is a state of a day's plan. When read, its to-dos are in their order, and its blocks in that of their starts.
type Plan struct {
	Todos  []Todo  `json:"todos"`
	Blocks []Block `json:"blocks"`
}

func (p Plan) clone() Plan { return Plan{slices.Clone(p.Todos), slices.Clone(p.Blocks)} }

// todo returns the position of an action's to-do, or -1.
func (p Plan) todo(actionID string) int {
	return slices.IndexFunc(p.Todos, func(t Todo) bool { return t.ActionID == actionID })
}

func (p *Plan) sort() {
	slices.SortStableFunc(p.Todos, func(a, b Todo) int { return cmp.Compare(a.Order, b.Order) })
	slices.SortStableFunc(p.Blocks, compareBlocks)
}

func compareBlocks(a, b Block) int {
	return cmp.Or(a.StartTimeIso.Compare(b.StartTimeIso), cmp.Compare(a.BlockID, b.BlockID))
}
