package transfer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"nexus/pkg/item"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
)

func readInstant(text string) (time.Time, error) { return item.ParseInstant(text) }

// decode reads one JSON value that has only known members.
func decode(line []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("has more than one value")
	}
	return nil
}

// isOf reports whether a line has the member, which one kind of row alone has.
func isOf(line []byte, member string) bool {
	var all map[string]json.RawMessage
	return json.Unmarshal(line, &all) == nil && all[member] != nil
}

// readTree reads the rows of a tree: nodes and edges.
func readTree(rows [][]byte) (t values.Tree, err error) {
	t.Edges, t.Nodes, err = readRows[values.Edge, values.Node](rows, "parentNodeId")
	return t, err
}

// readPlan reads the rows of a plan: to-dos and blocks.
func readPlan(rows [][]byte) (p plan.Plan, err error) {
	p.Blocks, p.Todos, err = readRows[plan.Block, plan.Todo](rows, "blockType")
	return p, err
}

// readRows reads rows of two kinds: those with the member, and the others.
func readRows[A, B any](rows [][]byte, member string) (with []A, without []B, err error) {
	for i, row := range rows {
		if isOf(row, member) {
			var a A
			err = decode(row, &a)
			with = append(with, a)
		} else {
			var b B
			err = decode(row, &b)
			without = append(without, b)
		}
		if err != nil {
			return with, without, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return with, without, nil
}
