package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"nexus/pkg/recurrence"
	"nexus/pkg/wallclock"
)

// Bounds of one answer, and of one line of a batch.
const (
	maxOccurrences = 50_000
	maxQuestion    = 1 << 20
)

// expandCommand is nexus expand.
type expandCommand struct {
	Dtstart        string   `placeholder:"TIME" help:"Start of the series: 20250306T023000, or 20250306 for whole days."`
	Tzid           string   `placeholder:"ZONE" help:"${expand_tzid}"`
	Rrule          string   `placeholder:"RULE" help:"The recurrence rule: FREQ=WEEKLY;BYDAY=MO,WE (RFC 5545)."`
	Rdate          []string `placeholder:"TIME" help:"Times or dates to add."`
	Exdate         []string `placeholder:"TIME" help:"Times or dates to take away."`
	From           string   `placeholder:"TIME" help:"First local time wanted."`
	To             string   `placeholder:"TIME" help:"Local time before which to stop."`
	Limit          *int     `placeholder:"N" help:"How many occurrences at most."`
	IncludeDtstart bool     `help:"Count the start as the first occurrence also where it does not fit the rule."`
	JSON           bool     `name:"json" help:"Answer in JSON, as --batch does."`
	Batch          bool     `help:"Read questions as lines of JSON from standard input and answer each with a line."`
}

// question is a line of a batch. Unknown members are ignored, so that a line may carry a name.
type question struct {
	Start        string    `json:"dtstart"`
	Zone         *string   `json:"tzid"`
	Rule         string    `json:"rrule"`
	RDates       []string  `json:"rdate"`
	EXDates      []string  `json:"exdate"`
	Window       []*string `json:"window"`
	EndInclusive bool      `json:"end_inclusive"`
	Limit        *int      `json:"limit"`
}

// expansion is the answer to a question: wall-clock readings, and the instants if the zone is known.
type expansion struct {
	Occurrences []string `json:"occurrences"`
	Instants    []string `json:"utc,omitempty"`
}

// refusedQuestion is the answer to a question that was refused.
type refusedQuestion struct {
	Error string `json:"error"`
}

// Run answers the question of the flags, or all questions on standard input.
func (c *expandCommand) Run(ctx context.Context, out outputs) error {
	if c.Batch {
		return expandLines(ctx, os.Stdin, out.results, c.IncludeDtstart)
	}
	q := question{Start: c.Dtstart, Rule: c.Rrule, RDates: c.Rdate, EXDates: c.Exdate, Limit: c.Limit}
	if c.Tzid != "" {
		q.Zone = &c.Tzid
	}
	if c.From != "" || c.To != "" {
		q.Window = []*string{edge(c.From), edge(c.To)}
	}
	answer, err := expand(q, c.IncludeDtstart)
	if err != nil {
		return err
	}
	lines := bufio.NewWriter(out.results)
	if c.JSON {
		if err := json.MarshalWrite(lines, answer); err != nil {
			return fmt.Errorf("write the answer: %w", err)
		}
		fmt.Fprintln(lines)
		return lines.Flush()
	}
	for i, wall := range answer.Occurrences {
		if i < len(answer.Instants) {
			fmt.Fprintf(lines, "%s  %s\n", wall, answer.Instants[i])
		} else {
			fmt.Fprintln(lines, wall)
		}
	}
	return lines.Flush()
}

func edge(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// Validate is called by the parser of the command line.
func (c *expandCommand) Validate() error {
	switch {
	case c.Batch && (c.Dtstart != "" || c.Rrule != ""):
		return errors.New("--batch reads its questions from standard input, not from flags")
	case !c.Batch && (c.Dtstart == "" || c.Rrule == ""):
		return errors.New("--dtstart and --rrule say what to expand, or --batch")
	}
	return nil
}

// expandLines answers each line with one, in order. It writes the lines out whenever no further question is waiting.
func expandLines(ctx context.Context, in io.Reader, out io.Writer, withStart bool) error {
	questions, answers := bufio.NewReaderSize(in, 64<<10), bufio.NewWriter(out)
	for ctx.Err() == nil {
		line, more, err := readLine(questions)
		if err != nil {
			return fmt.Errorf("read questions: %w", err)
		}
		if len(line) > 0 {
			if err := json.MarshalWrite(answers, answerLine(line, withStart)); err != nil {
				return fmt.Errorf("write an answer: %w", err)
			}
			if err := answers.WriteByte('\n'); err != nil {
				return fmt.Errorf("write an answer: %w", err)
			}
		}
		if !more {
			break
		}
		if questions.Buffered() == 0 {
			if err := answers.Flush(); err != nil {
				return fmt.Errorf("write answers: %w", err)
			}
		}
	}
	return answers.Flush()
}

// readLine reads a line without its end. For an overlong line it returns enough to show that.
func readLine(r *bufio.Reader) (line []byte, more bool, err error) {
	for {
		piece, err := r.ReadSlice('\n')
		if len(line) <= maxQuestion {
			line = append(line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			return trimLine(line), false, nil
		case err != nil:
			return nil, false, err
		}
		return trimLine(line), true, nil
	}
}

func trimLine(line []byte) []byte {
	return []byte(strings.TrimSpace(string(line)))
}

func answerLine(line []byte, withStart bool) any {
	if len(line) > maxQuestion {
		return refusedQuestion{fmt.Sprintf("the line is longer than %d bytes", maxQuestion)}
	}
	var q question
	if err := json.Unmarshal(line, &q); err != nil {
		return refusedQuestion{"the line is no question: " + err.Error()}
	}
	answer, err := expand(q, withStart)
	if err != nil {
		return refusedQuestion{err.Error()}
	}
	return answer
}

// expand answers one question.
func expand(q question, withStart bool) (expansion, error) {
	spec, err := q.spec()
	if err != nil {
		return expansion{}, err
	}
	spec.WithStart = withStart
	series, err := recurrence.Compile(spec)
	if err != nil {
		return expansion{}, err
	}
	from, to, err := q.window(spec)
	switch {
	case err != nil:
		return expansion{}, err
	case q.Limit != nil && *q.Limit < 0:
		return expansion{}, errors.New("limit: must not be negative")
	case series.Endless() && to.IsZero() && q.Limit == nil:
		return expansion{}, errors.New("rrule: has no end, so a window or a limit is needed")
	}
	limit := maxOccurrences + 1
	if q.Limit != nil {
		limit = min(limit, *q.Limit)
	}
	all, err := series.List(from, to, limit)
	if err != nil {
		return expansion{}, fmt.Errorf("rrule: %w", err)
	}
	if len(all) > maxOccurrences {
		return expansion{},
			fmt.Errorf("the answer has more than %d occurrences: a narrower window or a limit is needed", maxOccurrences)
	}
	answer := expansion{Occurrences: make([]string, 0, len(all))}
	for _, o := range all {
		answer.add(spec, o)
	}
	return answer, nil
}

func (e *expansion) add(spec recurrence.Spec, o recurrence.Occurrence) {
	switch {
	case spec.AllDay:
		e.Occurrences = append(e.Occurrences, o.Wall.Format(layoutDate))
	case spec.Zone == nil:
		e.Occurrences = append(e.Occurrences, o.Wall.Format(layoutLocal))
	default: // the rule may give a time that a gap skips; the clock shows another
		e.Occurrences = append(e.Occurrences, wallclock.Wall(o.Start, spec.Zone).Format(layoutLocal))
		e.Instants = append(e.Instants, o.Start.Format(layoutUTC))
	}
}

// The forms of RFC 5545 §3.3.4 and §3.3.5.
const (
	layoutDate  = "20060102"
	layoutLocal = "20060102T150405"
	layoutUTC   = "20060102T150405Z"
)

func (q question) spec() (recurrence.Spec, error) {
	spec := recurrence.Spec{Rule: q.Rule, RDates: q.RDates, EXDates: q.EXDates, Level: recurrence.General}
	layout := layoutLocal
	switch {
	case len(q.Start) == len(layoutDate):
		layout, spec.AllDay = layoutDate, true
	case len(q.Start) == len(layoutUTC):
		layout = layoutUTC
	}
	start, err := time.Parse(layout, q.Start)
	if err != nil {
		return spec, fmt.Errorf("dtstart: %.40q is not a local time such as %s, nor a date such as %s", q.Start,
			"20250306T023000", "20250306")
	}
	spec.Start = start
	if layout == layoutUTC {
		spec.Zone = time.UTC
	}
	if q.Zone == nil {
		return spec, nil
	}
	if spec.AllDay {
		return spec, errors.New("tzid: a series of whole days is in no zone")
	}
	location, err := wallclock.LoadLocation(*q.Zone)
	switch {
	case err != nil:
		return spec, fmt.Errorf("tzid: %w", err)
	case layout == layoutUTC && location != time.UTC:
		return spec, errors.New("tzid: a start in UTC has no other zone")
	}
	spec.Zone = location
	return spec, nil
}

// window returns the instants between which occurrences are requested; zero for no limit.
func (q question) window(spec recurrence.Spec) (from, to time.Time, err error) {
	if len(q.Window) == 0 {
		return from, to, nil
	}
	if len(q.Window) != 2 {
		return from, to, errors.New("window: must be two local times, [start, end)")
	}
	if from, err = readEdge(q.Window[0], spec.Zone); err != nil {
		return from, to, err
	}
	if to, err = readEdge(q.Window[1], spec.Zone); err == nil && q.EndInclusive && !to.IsZero() {
		to = to.Add(time.Second)
	}
	return from, to, err
}

func readEdge(text *string, location *time.Location) (time.Time, error) {
	if text == nil {
		return time.Time{}, nil
	}
	for _, layout := range []string{layoutLocal, layoutDate} {
		if at, err := time.Parse(layout, *text); err == nil {
			if location != nil {
				at = wallclock.Resolve(at, location)
			}
			return at, nil
		}
	}
	at, err := time.Parse(layoutUTC, *text)
	if err != nil {
		return at, fmt.Errorf("window: %.40q is not a local time such as 20250306T023000, nor a date", *text)
	}
	return at, nil
}
