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
	for i, row := range rows {
		if isOf(row, "parentNodeId") {
			var e values.Edge
			err = decode(row, &e)
			t.Edges = append(t.Edges, e)
		} else {
			var n values.Node
			err = decode(row, &n)
			t.Nodes = append(t.Nodes, n)
		}
		if err != nil {
			return t, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return t, nil
}

// readPlan reads the rows of a plan: to-dos and blocks.
func readPlan(rows [][]byte) (p plan.Plan, err error) {
	for i, row := range rows {
		if isOf(row, "blockType") {
			var b plan.Block
			err = decode(row, &b)
			p.Blocks = append(p.Blocks, b)
		} else {
			var t plan.Todo
			err = decode(row, &t)
			p.Todos = append(p.Todos, t)
		}
		if err != nil {
			return p, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return p, nil
}
