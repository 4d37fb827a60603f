package ical

import (
	"bytes"
	"fmt"
	"strings"
)

// Decode reads a text. It skips a line that is no content line, closes a component without its END, and reports each
// as a [Fault]; it preserves the rest unchanged. It returns [ErrNotCalendar] for a text without any VCALENDAR, and a
// [*LimitError] for one beyond the limits.
func Decode(text []byte, limits Limits) (*Document, error) {
	if len(text) > limits.Bytes {
		return nil, &LimitError{"bytes", limits.Bytes}
	}
	if bytes.HasPrefix(text, []byte("\xfe\xff")) || bytes.HasPrefix(text, []byte("\xff\xfe")) {
		return nil, fmt.Errorf("%w: it is UTF-16, and iCalendar is UTF-8", ErrNotCalendar)
	}
	d := &decoder{limits: limits, document: &Document{}}
	in := newLines(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	for {
		line, number, ok, err := in.next()
		if !ok {
			break
		}
		if d.lines++; d.lines > limits.Lines {
			return nil, &LimitError{"lines", limits.Lines}
		}
		text, replaced := sanitize(line)
		if err := d.take(text, replaced, number, err); err != nil {
			return nil, err
		}
	}
	if err := d.close(0, in.line); err != nil {
		return nil, err
	}
	if len(d.document.Calendars) == 0 {
		return nil, fmt.Errorf("%w: no BEGIN:VCALENDAR in it", ErrNotCalendar)
	}
	return d.document, nil
}

type decoder struct {
	limits   Limits
	document *Document
	// open are the components without an END so far, outermost first. Content outside a VCALENDAR is dropped.
	open                          []*Component
	lines, counted, nested, fault int
}

// take adds one content line to the tree. Its error ends the decoding.
func (d *decoder) take(line, replaced string, number int, tooLong error) error {
	p, err := parseLine(line, number)
	switch {
	case tooLong != nil:
		return d.report(Fault{number, p.Name, tooLong.Error()})
	case err != nil:
		return d.report(Fault{number, p.Name, err.Error()})
	case p.Name == "BEGIN":
		return d.begin(upper(strings.TrimSpace(p.Value)), number)
	case p.Name == "END":
		return d.end(upper(strings.TrimSpace(p.Value)), number)
	case len(d.open) == 0:
		return d.report(Fault{number, p.Name, "stands outside every component"})
	}
	top := d.open[len(d.open)-1]
	top.Properties = append(top.Properties, p)
	if replaced != "" && len(top.Replaced) < maxReplaced {
		top.Replaced = append(top.Replaced, Fault{number, p.Name, replaced})
	}
	return nil
}

func (d *decoder) begin(name string, number int) error {
	c := &Component{Name: name, Line: number}
	if d.nested++; d.nested > d.limits.Components*maxNested {
		return &LimitError{"components of any kind", d.limits.Components * maxNested}
	}
	switch len(d.open) {
	case 0:
		if name != "VCALENDAR" {
			return fmt.Errorf("%w: line %d begins %q outside a VCALENDAR", ErrNotCalendar, number, clip(name))
		}
		d.document.Calendars = append(d.document.Calendars, c)
	case maxDepth:
		return &LimitError{"levels of components", maxDepth}
	default:
		if len(d.open) == 1 && name != "VTIMEZONE" {
			if d.counted++; d.counted > d.limits.Components {
				return &LimitError{"components", d.limits.Components}
			}
		}
		top := d.open[len(d.open)-1]
		top.Children = append(top.Children, c)
	}
	d.open = append(d.open, c)
	return nil
}

// end closes the innermost open component of that name and, with a fault, those within it that have no END.
func (d *decoder) end(name string, number int) error {
	for i := len(d.open) - 1; i >= 0; i-- {
		if d.open[i].Name == name {
			err := d.close(i+1, number)
			d.open = d.open[:i]
			return err
		}
	}
	return d.report(Fault{number, "END", fmt.Sprintf("ends %q, which is not open", clip(name))})
}

// close closes all open components from the depth on, each with a fault.
func (d *decoder) close(depth, number int) error {
	for len(d.open) > depth {
		if err := d.report(Fault{number, "END", "the component has no END"}); err != nil {
			return err
		}
		d.open = d.open[:len(d.open)-1]
	}
	return nil
}

func (d *decoder) report(f Fault) error {
	if d.fault++; d.fault > maxFaults {
		return fmt.Errorf("%w: %w", ErrNotCalendar, &LimitError{"lines that are no content lines", maxFaults})
	}
	if len(d.open) == 0 {
		d.document.Faults = append(d.document.Faults, f)
		return nil
	}
	top := d.open[len(d.open)-1]
	top.Faults = append(top.Faults, f)
	return nil
}
