package plan

import (
	"fmt"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/revision"
)

// Attributes of a snapshot's rows.
const (
	attrActionID       = "actionId"
	attrClassification = "classification"
	attrEstimate       = "estimatedPomodoros"
	attrNotes          = "notes"
	attrBlockType      = "blockType"
	attrEnd            = "endTimeIso"
	attrPomodoroIndex  = "pomodoroIndex"
)

// Reasons of revisions that a client may name.
const (
	ReasonMorningPlan  = "morning_plan"
	ReasonMiddayReplan = "midday_replan"
	ReasonRollover     = "rollover"
	ReasonCompletion   = "completion"
)

func shape() revision.Shape[Plan] {
	return revision.Shape[Plan]{
		SourceAttr: "reason", Sources: []string{ReasonMorningPlan, ReasonMiddayReplan, ReasonRollover, ReasonCompletion},
		Rows: rows, Read: read,
	}
}

func rows(at repository.Address, revID string, p Plan) []item.Item {
	out := make([]item.Item, 0, len(p.Todos)+len(p.Blocks))
	for i, t := range p.Todos {
		row := at.TodoKey(revID, i+1, t.ActionID).Item()
		row[attrActionID] = item.String(t.ActionID)
		row[attrClassification] = item.String(t.Classification)
		row[attrEstimate] = item.Int(int64(t.EstimatedPomodoros))
		if t.Notes != "" {
			row[attrNotes] = item.String(t.Notes)
		}
		row.SetTime(product.AttrCompletedAt, t.CompletedAt)
		out = append(out, row)
	}
	for _, b := range p.Blocks {
		row := at.BlockKey(revID, b.StartTimeIso, b.BlockID).Item()
		row[attrBlockType] = item.String(b.BlockType)
		row[attrEnd] = item.String(item.FormatInstant(b.EndTimeIso))
		if b.Title != "" {
			row[entity.AttrTitle] = item.String(b.Title)
		}
		if b.BlockType == Pomodoro {
			row[attrActionID] = item.String(b.ActionID)
			row[attrPomodoroIndex] = item.Int(int64(b.PomodoroIndex))
		}
		out = append(out, row)
	}
	return out
}

// read is the inverse of rows, in the order of the rows' keys: blocks, then to-dos.
func read(rows []item.Item) (Plan, error) {
	var p Plan
	for _, row := range rows {
		key, err := repository.ParseSnapshotKey(row.Str(item.AttrSK))
		if err != nil {
			return Plan{}, err
		}
		switch key := key.(type) {
		case repository.TodoRow:
			done, _ := row.Time(product.AttrCompletedAt)
			p.Todos = append(p.Todos, Todo{
				ActionID: key.ActionID, Order: key.Order, Classification: Classification(row.Str(attrClassification)),
				EstimatedPomodoros: int(row.Int(attrEstimate)), Notes: row.Str(attrNotes), CompletedAt: done,
			})
		case repository.BlockRow:
			end, ok := row.Time(attrEnd)
			if !ok {
				return Plan{}, fmt.Errorf("block %s: %s is no instant", row.Key(), attrEnd)
			}
			p.Blocks = append(p.Blocks, Block{
				BlockID: key.BlockID, BlockType: BlockType(row.Str(attrBlockType)), StartTimeIso: key.Start, EndTimeIso: end,
				Title: row.Str(entity.AttrTitle), ActionID: row.Str(attrActionID), PomodoroIndex: int(row.Int(attrPomodoroIndex)),
			})
		default:
			return Plan{}, fmt.Errorf("row %s in a plan", row.Key())
		}
	}
	return p, nil
}
