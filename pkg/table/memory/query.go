package memory

import (
	"context"
	"slices"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// maxPageBytes ends a page of a query or a walk, before the filter.
const maxPageBytes = 1 << 20

// Query implements [table.Reader]. As in the service, a page that ends at its limit has a Next even if nothing follows.
func (s *Store) Query(ctx context.Context, q table.Query) (table.Page, error) {
	const op = "Query"
	plan, err := s.planQuery(q)
	if err != nil {
		return table.Page{}, wrap(op, describe(q), err)
	}
	var page page
	call := func() Call { return Call{Op: op, Query: &q} }
	err = s.do(ctx, call, func() (table.Consumption, error) {
		page = s.readPage(plan)
		return plan.usage(op, page), nil
	})
	if err != nil {
		return table.Page{}, wrap(op, describe(q), err)
	}
	answer := table.Page{Items: make([]item.Item, 0, len(page.rows))}
	for _, r := range page.rows {
		if plan.keeps(r) {
			answer.Items = append(answer.Items, plan.project(r))
		}
	}
	if page.more {
		answer.Next = table.Position(plan.positionOf(page.last))
	}
	return answer, nil
}

// Count implements [table.Reader], with one round trip for each page.
func (s *Store) Count(ctx context.Context, q table.Query) (int, error) {
	const op = "Count"
	q.Limit, q.Start = 0, nil
	plan, err := s.planQuery(q)
	if err != nil {
		return 0, wrap(op, describe(q), err)
	}
	count := 0
	for more := true; more; {
		var page page
		call := func() Call { return Call{Op: op, Query: &q} }
		err := s.do(ctx, call, func() (table.Consumption, error) {
			page = s.readPage(plan)
			return plan.usage(op, page), nil
		})
		if err != nil {
			return 0, wrap(op, describe(q), err)
		}
		for _, r := range page.rows {
			if plan.keeps(r) {
				count++
			}
		}
		more, plan.start, plan.started = page.more, page.last, true
	}
	return count, nil
}

func describe(q table.Query) string { return string(q.Index) + " " + clip(q.Partition) }

// page is the result of one round trip: rows before the filter and projection.
type page struct {
	rows  []*row
	bytes int
	last  place // of the last row read
	more  bool
}

// readPage reads from the plan's start to its limit, its range's end, or 1 MB.
func (s *Store) readPage(p queryPlan) page {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out page
	rows := s.partitionsOf(p.which)[p.partition]
	if rows == nil {
		return out
	}
	step := rows.next
	if p.descending {
		step = rows.previous
	}
	for c := p.first(rows); ; c = step(c) {
		e, ok := rows.entry(c)
		if !ok || p.beyond(e) {
			return out
		}
		bytes := p.sizeOf(e.row)
		if len(out.rows) > 0 && out.bytes+bytes > maxPageBytes {
			out.more = true
			return out
		}
		out.rows = append(out.rows, e.row)
		out.bytes += bytes
		out.last = e.place()
		if len(out.rows) == p.limit {
			out.more = true
			return out
		}
	}
}

// partitionsOf returns the partitions of the index at this position in the schema, or of the table for -1.
func (s *Store) partitionsOf(which int) partitions {
	if which < 0 {
		return s.base
	}
	return s.indexes[which]
}

func (p queryPlan) usage(op string, page page) table.Consumption {
	return table.Consumption{Op: op, Rows: len(page.rows), ReadUnits: readUnits(page.bytes, p.consistent)}
}

// keeps applies the tag filter.
func (p queryPlan) keeps(r *row) bool {
	if len(p.anyTag) == 0 {
		return true
	}
	if p.index.KeysOnly && p.which >= 0 {
		return false
	}
	if p.anyTagOr != "" && r.item.Has(p.anyTagOr) {
		return true
	}
	tags, _ := r.item[p.tags].(item.StringSet)
	return slices.ContainsFunc(p.anyTag, func(tag string) bool { return slices.Contains(tags, tag) })
}

// project returns the row as the index stores it.
func (p queryPlan) project(r *row) item.Item {
	if p.which < 0 || !p.index.KeysOnly {
		return r.image()
	}
	return p.keysOf(r)
}

func (p queryPlan) sizeOf(r *row) int {
	if p.which < 0 {
		return r.size
	}
	return projectedSize(p.index, r)
}

func (p queryPlan) keysOf(r *row) item.Item {
	out := item.Item{}
	for _, name := range keyAttributes(p.index) {
		out[name] = r.item[name]
	}
	return out
}
