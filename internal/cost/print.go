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
	b.printCompared(&text)
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
