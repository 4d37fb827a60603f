package cost

import (
	"fmt"
	"io"
	"strings"
)

// Print writes the bill as a table, beside the source document's figures.
func (b Bill) Print(out io.Writer, m *Month) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%d users, %d days, %d of the users replayed; prices: %s, %s\n", m.Load.Users, m.Load.Days, m.Users,
		b.Prices.Source, b.Prices.AsOf)
	for _, p := range b.Parts() {
		fmt.Fprintf(&text, "\n%-40s %-8s %10s %-25s %9s %9s\n", p.Name, "", "", "", b.Prices.Currency, "paid")
		for _, l := range p.Lines {
			fmt.Fprintf(&text, "  %-38s %-8s %10s %-25s %9.2f %9.2f\n", l.What, l.Basis, quantity(l.Quantity), l.Unit,
				l.Whole, l.Cost)
		}
		cost, whole := p.Cost()
		b.printSum(&text, "together", whole, cost)
	}
	cost, whole := b.Cost()
	text.WriteByte('\n')
	b.printSum(&text, "all together", whole, cost)
	b.printDoors(&text)
	b.printGrowth(&text)
	b.printCompared(&text)
	b.printPlaces(&text)
	b.printFurther(&text)
	b.printActivities(&text)
	if _, err := io.WriteString(out, text.String()); err != nil {
		return fmt.Errorf("print the bill: %w", err)
	}
	return nil
}

func (Bill) printSum(out io.Writer, what string, whole, paid float64) {
	fmt.Fprintf(out, "%-40s %45s %9.2f %9.2f\n", what, "", whole, paid)
}

func (b Bill) printCompared(out io.Writer) {
	fmt.Fprintf(out, "\n%-40s %9s %9s %9s\n", "like for like with the source document", b.Prices.Currency, "it states",
		"its items")
	var ours, items float64
	for _, c := range b.Compared {
		fmt.Fprintf(out, "  %-38s %9.2f %9.2f %9.2f\n", c.Heading, c.Ours, c.Stated, c.Itemised)
		ours, items = ours+c.Ours, items+c.Itemised
	}
	fmt.Fprintf(out, "%-40s %9.2f %9.2f %9.2f\n", "together", ours, b.Table.Claimed, items)
}

// printDoors prints a column for each value of the setting door.
func (b Bill) printDoors(out io.Writer) {
	if len(b.Doors) == 0 {
		return
	}
	fmt.Fprintf(out, "\n%-40s", "by the setting door")
	for _, d := range b.Doors {
		fmt.Fprintf(out, " %9s", d.Door)
	}
	fmt.Fprintln(out)
	printColumns(out, b.Doors, []row[Door]{
		{"all together", func(d Door) float64 { return d.Whole }},
		{"paid", func(d Door) float64 { return d.Cost }},
		{"all together but change logs and hints", func(d Door) float64 { return d.Alone }},
	})
}

// row is a line of a table that has a column for each T.
type row[T any] struct {
	what  string
	value func(T) float64
}

func printColumns[T any](out io.Writer, columns []T, rows []row[T]) {
	for _, r := range rows {
		fmt.Fprintf(out, "  %-38s", r.what)
		for _, c := range columns {
			fmt.Fprintf(out, " %9.2f", r.value(c))
		}
		fmt.Fprintln(out)
	}
}

// printGrowth prints a column for each month.
func (b Bill) printGrowth(out io.Writer) {
	fmt.Fprintf(out, "\n%-40s", "as the table grows")
	for _, g := range b.Growth {
		fmt.Fprintf(out, " %9s", fmt.Sprintf("month %d", g.Month))
	}
	fmt.Fprintln(out)
	printColumns(out, b.Growth, []row[Growth]{
		{"GB of table and indexes", func(g Growth) float64 { return g.GB }},
		{"storage", func(g Growth) float64 { return g.Storage }},
		{"recovery to a point in time", func(g Growth) float64 { return g.Recovery }},
		{"  of both, rows of insights", func(g Growth) float64 { return g.Insights }},
		{"all together", func(g Growth) float64 { return g.Whole }},
		{"paid", func(g Growth) float64 { return g.Cost }},
		{"all together, tableClass infrequent", func(g Growth) float64 { return g.InfrequentWhole }},
		{"paid, tableClass infrequent", func(g Growth) float64 { return g.InfrequentCost }},
	})
}

// printPlaces prints where the like-for-like units go, at today's prices and at those of the source document.
func (b Bill) printPlaces(out io.Writer) {
	fmt.Fprintf(out, "\n%-46s %10s %10s %9s %9s %9s\n", "like for like, also at the document's prices", "written", "read",
		b.Prices.Currency, "document", "so far")
	says := map[string]string{"sum": "nothing exact yet", "exact": "the bound with exactness"}
	for _, p := range b.Places {
		fmt.Fprintf(out, "  %-44s %10s %10s %9.2f %9.2f %9.2f", p.What, quantity(p.WriteUnits), quantity(p.ReadUnits),
			p.Whole, p.Document, p.Sum)
		if p.Bound != "" {
			fmt.Fprintf(out, "  %s", says[p.Bound])
		}
		fmt.Fprintln(out)
	}
}

func (b Bill) printFurther(out io.Writer) {
	fmt.Fprintf(out, "\n%-40s %9s\n", "what further dollars would cost", "saves")
	for _, f := range b.Further {
		fmt.Fprintf(out, "  %-38s %9.2f  %s\n", f.What, f.Saves, f.Costs)
	}
}

func (b Bill) printActivities(out io.Writer) {
	fmt.Fprintf(out, "\n%-40s %10s %8s %8s %9s %9s %9s\n", "one of each", "times", "read", "write", "table", "all",
		"a million")
	for _, a := range b.ByActivity {
		fmt.Fprintf(out, "  %-38s %10s %8.2f %8.2f %9.2f %9.2f %9.2f\n", a.Name, quantity(a.Times), a.ReadUnits, a.WriteUnits,
			a.Table, a.Cost, a.Cost/a.Times*1e6)
	}
}

// quantity returns a number in readable form.
func quantity(n float64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.2f M", n/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.1f k", n/1e3)
	}
	return fmt.Sprintf("%.2f", n)
}
