package cost

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Print writes the bill as a table, beside the source document's figures.
func (b Bill) Print(out io.Writer, m *Month) error {
	fmt.Fprintf(out, "%d users, %d days, %d of the users replayed; prices: %s, %s\n", m.Load.Users, m.Load.Days, m.Users, b.Prices.Source, b.Prices.AsOf)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, p := range []Part{b.Table, b.LifeCycle, b.Rest} {
		fmt.Fprintf(w, "\n%s\t\t\t\t\t\n", p.Name)
		for _, l := range p.Lines {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.2f\t%s\t\n", l.What, l.Basis, quantity(l.Quantity), l.Unit, l.Whole, remission(l))
		}
		cost, whole := p.Cost()
		fmt.Fprintf(w, "together\t\t\t\t%.2f\t%s\t\n", whole, remission(Line{Cost: cost, Whole: whole}))
		if p.Claimed > 0 {
			fmt.Fprintf(w, "the source document\t\t\t\t%.2f\t\t\n", p.Claimed)
		}
	}
	cost, whole := b.Cost()
	fmt.Fprintf(w, "\nall together\t\t\t\t%.2f\t%s\t\n", whole, remission(Line{Cost: cost, Whole: whole}))
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print the bill: %w", err)
	}
	return b.printActivities(out)
}

func (b Bill) printActivities(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "\n\t\ttimes\tread units\twrite units\tof the table\twith everything else\ta million\t\n")
	for _, a := range b.ByActivity {
		fmt.Fprintf(w, "%s\t%s\t%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t\n", a.Group, a.Name, quantity(a.Times), a.ReadUnits, a.WriteUnits, a.Table, a.Cost, a.Cost/a.Times*1e6)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print the activities: %w", err)
	}
	return nil
}

// quantity is a number as people read it.
func quantity(n float64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.2f M", n/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.1f k", n/1e3)
	}
	return fmt.Sprintf("%.2f", n)
}

// remission is what is paid where a part is free every month; nothing where all is paid.
func remission(l Line) string {
	if l.Cost == l.Whole {
		return ""
	}
	return fmt.Sprintf("%.2f paid", l.Cost)
}
