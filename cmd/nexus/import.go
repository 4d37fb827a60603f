package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"nexus/pkg/calendar"
	"nexus/pkg/ical"
)

// importCommand is nexus import.
type importCommand struct {
	URL   string   `name:"url" placeholder:"URL" help:"Where Nexus is, for a calendar: http://127.0.0.1:8080."`
	User  string   `placeholder:"USER" help:"Whose it is. For a calendar that is not local, NEXUS_TOKEN says that."`
	JSON  bool     `name:"json" help:"Report in JSON."`
	All   bool     `help:"${import_all}"`
	Files []string `arg:"" name:"file" help:"${import_files}"`
	accountPlace
}

// importReport is the outcome of all files.
type importReport struct {
	Created      int            `json:"created"`
	Updated      int            `json:"updated"`
	Unchanged    int            `json:"unchanged"`
	Refused      []importRemark `json:"refused"`
	LeftOut      []importRemark `json:"leftOut"`
	LeftOutTotal int            `json:"leftOutTotal"`
}

// importRemark is a part that was not imported, with its file; the line is that of the file.
type importRemark struct {
	File string `json:"file"`
	calendar.Remark
}

// Run sends the files, one after the other, and reports the outcome of every component. It continues after an
// unreadable file, and fails at the end.
func (c *importCommand) Run(ctx context.Context, out outputs) error {
	if c.All {
		return c.importAll(ctx, out)
	}
	if c.URL == "" {
		return wrongUsage("--url is needed, or --all with --dev or --endpoint")
	}
	token, err := out.bearer(c.URL, c.User)
	if err != nil {
		return err
	}
	s := newCalendarServer(c.URL, token)
	defer s.close()
	report := &importReport{Refused: []importRemark{}, LeftOut: []importRemark{}}
	var failures []error
	for _, name := range c.Files {
		if err := s.importFile(ctx, name, report, newProgress(out.messages, filepath.Base(name))); err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", name, err))
		}
	}
	if err := report.write(out, c.JSON); err != nil {
		return err
	}
	return errors.Join(failures...)
}

// write reports: counts as results, everything refused as messages.
func (r *importReport) write(out outputs, asJSON bool) error {
	if asJSON {
		text, err := json.Marshal(r)
		if err == nil {
			_, err = fmt.Fprintf(out.results, "%s\n", text)
		}
		if err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
		return nil
	}
	for _, remark := range r.Refused {
		fmt.Fprintf(out.messages, "%s:%d: %s refused: %s\n", remark.File, remark.Line, remark.Component, remark.Reason)
	}
	for _, remark := range r.LeftOut {
		fmt.Fprintf(out.messages, "%s:%d: %s: not taken as it stands: %s\n", remark.File, remark.Line, remark.Component,
			remark.Reason)
	}
	if more := r.LeftOutTotal - len(r.LeftOut); more > 0 {
		fmt.Fprintf(out.messages, "%d more parts were not taken as they stand\n", more)
	}
	_, err := fmt.Fprintf(out.results, "%d created, %d updated, %d unchanged, %d refused\n", r.Created, r.Updated,
		r.Unchanged, len(r.Refused))
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func (r *importReport) add(file string, part calendar.Report, lineOf func(int) int) {
	r.Created, r.Updated, r.Unchanged = r.Created+part.Created, r.Updated+part.Updated, r.Unchanged+part.Unchanged
	r.LeftOutTotal += part.LeftOutTotal
	for _, remark := range part.Refused {
		remark.Line = lineOf(remark.Line)
		r.Refused = append(r.Refused, importRemark{file, remark})
	}
	for _, remark := range part.LeftOut {
		remark.Line = lineOf(remark.Line)
		r.LeftOut = append(r.LeftOut, importRemark{file, remark})
	}
}

// importFile sends a file whole, or cut into requests if it is too large for one.
func (s *calendarServer) importFile(ctx context.Context, name string, report *importReport, bar *progress) error {
	content, err := readCalendar(name)
	if err != nil {
		return err
	}
	if _, err := ical.Decode(content, ical.RequestLimits()); err == nil {
		part, err := s.send(ctx, content)
		if err == nil {
			report.add(name, part, func(line int) int { return line })
		}
		return err
	}
	document, err := ical.Decode(content, ical.FileLimits())
	if err != nil {
		return err
	}
	refused, leftOut := ical.Sift(document)
	report.add(name, calendar.Report{Refused: remarks(refused), LeftOut: remarks(leftOut), LeftOutTotal: len(leftOut)},
		func(line int) int { return line })
	parts, err := requests(document)
	if err != nil {
		return err
	}
	defer bar.end()
	for i, part := range parts {
		bar.show(i, len(parts))
		text := ical.Encode(part)
		answer, err := s.send(ctx, text)
		if err != nil {
			return fmt.Errorf("request %d of %d: %w", i+1, len(parts), err)
		}
		report.add(name, answer, linesOf(part, text))
	}
	return nil
}

func remarks(list []ical.Remark) []calendar.Remark {
	out := make([]calendar.Remark, len(list))
	for i, r := range list {
		out[i] = calendar.Remark(r)
	}
	return out
}

// requests cuts a document into calendars that fit into one request each.
func requests(document *ical.Document) ([]*ical.Component, error) {
	limits := ical.RequestLimits()
	var out []*ical.Component
	waiting := ical.Split(document, limits.Components)
	for size := limits.Components; len(waiting) > 0; size = max(1, size/2) {
		var large []*ical.Component
		for _, part := range waiting {
			text := ical.Encode(part)
			_, err := ical.Decode(text, limits)
			var limit *ical.LimitError
			switch {
			case err == nil:
				out = append(out, part)
			case errors.As(err, &limit) && size > 1:
				large = append(large, part)
			default:
				return nil,
					fmt.Errorf("the series in line %d is too large for a request: %w", part.Children[len(part.Children)-1].Line, err)
			}
		}
		waiting = nil
		if len(large) > 0 {
			waiting = ical.Split(&ical.Document{Calendars: large}, size/2)
		}
	}
	return out, nil
}

// linesOf maps a line of a request back to the line of the file.
func linesOf(part *ical.Component, text []byte) func(int) int {
	lines := map[int]int{}
	if sent, err := ical.Decode(text, ical.FileLimits()); err == nil && len(sent.Calendars) == 1 {
		for i, c := range sent.Calendars[0].Children {
			if i < len(part.Children) {
				lines[c.Line] = part.Children[i].Line
			}
		}
	}
	return func(line int) int { return lines[line] }
}

func readCalendar(name string) ([]byte, error) {
	in := os.Stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }() // it was only read
		in = file
	}
	limit := int64(ical.FileLimits().Bytes)
	content, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	return content, err
}
