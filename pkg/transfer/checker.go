package transfer

import (
	"context"
	"maps"
	"slices"

	"nexus/pkg/command"
	"nexus/pkg/item"
	"nexus/pkg/limit"
	"nexus/pkg/product"
)

// checker is the visitor that checks a file before anything of it is written: what holds between its lines.
type checker struct {
	ids map[string]bool
	// series are those of the file, and how many exceptions each has.
	series map[string]*exceptions
	report *Report
	limits limit.Numbers
	used   map[string]int // by the quota
	counts map[string]int // by the name in the manifest
	day    string         // of the plan whose revisions are counted
}

type exceptions struct{ rows, inForce int }

func newChecker(report *Report, limits limit.Numbers) *checker {
	return &checker{
		ids: map[string]bool{}, series: map[string]*exceptions{}, report: report, limits: limits, used: map[string]int{},
		counts: map[string]int{},
	}
}

// compare compares what was visited with the counts of the manifest.
func (c *checker) compare(counts map[string]int) error {
	for _, list := range []map[string]int{counts, c.counts} {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			if counts[name] != c.counts[name] {
				return refuse(manifestFile, 0, "counts %d of %.40q, and the file has %d", counts[name], name, c.counts[name])
			}
		}
	}
	return nil
}

// use counts a thing, and refuses it if a user may have no more of them.
func (c *checker) use(file string, line int, quotas ...string) error {
	for _, quota := range quotas {
		if c.used[quota]++; c.used[quota] > c.limits[quota] {
			return refuse(file, line, "the account would have more than %d of the quota %s", c.limits[quota], quota)
		}
	}
	return nil
}

// quotasOf returns the quotas in which an entity counts.
func quotasOf(of parsed) []string {
	switch {
	case of.isException():
		return []string{limit.Exceptions}
	case of.isSeries():
		return []string{limit.Content, limit.Series}
	case of.typ.Name == product.TypeNote:
		return []string{limit.Notes}
	}
	return []string{limit.Content}
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
	c.counts[of.typ.Name]++
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
	if err := c.use(l.file, l.n, quotasOf(of)...); err != nil {
		return err
	}
	return c.once(l, of.id)
}

func (c *checker) copied(_ context.Context, l numberedLine, of parsed) error {
	c.report.Archived++
	c.counts[countArchived]++
	if err := c.use(l.file, l.n, limit.Gone); err != nil {
		return err
	}
	return c.once(l, of.id)
}

func (c *checker) gone(_ context.Context, l numberedLine, id string, _ item.Item) error {
	c.report.Gone++
	c.counts[countGone]++
	if err := c.use(l.file, l.n, limit.Gone); err != nil {
		return err
	}
	return c.once(l, id)
}

func (c *checker) revision(_ context.Context, a adoptable) error {
	c.report.Revisions++
	if a.at.Date == "" {
		c.counts[countValues]++
		return c.use(valuesDir+logFile, 0, limit.TreeRevisions)
	}
	c.counts[countRevisions]++
	file := plansDir + a.at.Date + "/" + logFile
	if c.day != a.at.Date {
		c.day, c.used[limit.PlanRevisions] = a.at.Date, 0
		c.counts[countPlans]++
		if err := c.use(file, 0, limit.Plans); err != nil {
			return err
		}
	}
	return c.use(file, 0, limit.PlanRevisions)
}

func (c *checker) head(context.Context, newHead) error { return nil }
