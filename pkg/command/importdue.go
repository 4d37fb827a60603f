package command

import (
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// asks marks, in the row of an exception, that its instants were requested now, if the row moves, adds or removes one,
// as a command about that occurrence does. The row replaces the stored one, if there is one.
func (e *exceptions) asks(stored, row item.Item) {
	_, date, err := entity.ParseInstanceID(row.Str(product.AttrEventID))
	if err != nil {
		return
	}
	was, is := e.series, e.series.With(row)
	if stored != nil {
		was = was.With(stored)
	}
	before, counts := was.On(date)
	after, _ := is.On(date)
	if counts && duesMoved(before, was.Item(before), after, is.Item(after)) {
		row.SetTime(product.AttrDueSetAt, e.now)
	}
}

// undo removes an occurrence's exception.
func (e *exceptions) undo(row item.Item) {
	bare := e.undone(row)
	e.asks(row, bare)
	e.steps = append(e.steps, []step{{action: table.Diff(row, bare, table.AtVersion(row.Int(entity.AttrVersion)))}})
}
