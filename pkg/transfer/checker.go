package transfer

import (
	"context"

	"nexus/pkg/command"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// checker is the visitor that checks a file before anything of it is written: what holds between its lines.
type checker struct {
	ids map[string]bool
	// series are those of the file, and how many exceptions each has.
	series map[string]*exceptions
	report *Report
}

type exceptions struct{ rows, inForce int }

func newChecker(report *Report) *checker {
	return &checker{ids: map[string]bool{}, series: map[string]*exceptions{}, report: report}
}

func (c *checker) once(l numberedLine, id string) error {
	if c.ids[id] {
		return errTwice(l, id)
	}
	c.ids[id] = true
	return nil
}

func (c *checker) settings(context.Context, item.Item) error { return nil }

func (c *checker) item(_ context.Context, l numberedLine, of parsed) error {
	c.report.Items++
	switch {
	case of.isSeries():
		c.series[of.id] = &exceptions{}
	case of.isException():
		s := c.series[of.item.Str(product.AttrMasterID)]
		if s == nil {
			return l.refuse("its series is not in the file before it")
		}
		if s.rows++; of.item.Has(product.AttrModifiedFields) {
			s.inForce++
		}
		if s.rows > command.MaxInstances || s.inForce > command.MaxExceptions {
			return l.refuse("its series has more than %d exceptions, or changes on more than %d dates",
				command.MaxExceptions, command.MaxInstances)
		}
	}
	return c.once(l, of.id)
}

func (c *checker) copied(_ context.Context, l numberedLine, of parsed) error {
	c.report.Archived++
	return c.once(l, of.id)
}

func (c *checker) gone(_ context.Context, l numberedLine, id string, _ item.Item) error {
	c.report.Gone++
	return c.once(l, id)
}

func (c *checker) revision(context.Context, adoptable) error {
	c.report.Revisions++
	return nil
}

func (c *checker) head(context.Context, newHead) error { return nil }
