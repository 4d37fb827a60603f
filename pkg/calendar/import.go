package calendar

import (
	"context"
	"errors"
	"fmt"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/ical"
	"nexus/pkg/idempotency"
)

// Importer imports calendars from files. It is safe for concurrent use.
type Importer struct {
	commands *command.Service
	registry *entity.Registry
	// Admit, if set, is asked about the number of a text's components before the first write. It is not asked about a
	// repetition. Its error ends the import.
	Admit func(ctx context.Context, components int) error
}

// NewImporter returns an importer that makes its writes through the commands.
func NewImporter(commands *command.Service, registry *entity.Registry) *Importer {
	if commands == nil || registry == nil {
		panic("calendar: a part of the Importer is missing")
	}
	return &Importer{commands: commands, registry: registry}
}

// Import imports a text of at most 1,000 components and 5 MB ([ical.RequestLimits]). An event, task or reminder gets
// an id derived from its UID. Importing a text again therefore finds the results of the first time, and writes only
// differences. Items that were exported here are recognised by their UID.
//
// If a later revision of an item exists here (its SEQUENCE, RFC 5546 §2.1.5), an older one is refused: a user has
// changed it since. An occurrence whose series is neither in the text nor here becomes a separate event.
//
// With an idempotency key, a repetition is answered with the first report and has no effect. The errors are those of
// [ical.Decode] and of [command.Service.Import], and about the key those of [command.Service.Do].
func (i *Importer) Import(
	ctx context.Context, user string, text []byte, key string,
) (report []byte, replayed bool, err error) {
	steps, err := i.commands.BeginSteps(ctx, user, key, "import", idempotency.Digest(text))
	if err != nil {
		return nil, false, err
	}
	if steps.Answer != nil {
		return steps.Answer, true, nil
	}
	report, err = i.run(ctx, user, steps, text)
	if err != nil {
		_ = steps.Abandon(context.WithoutCancel(ctx)) // a key that is not released is free when its lease ends
		return nil, false, err
	}
	return report, false, steps.End(ctx, report)
}

func (i *Importer) run(ctx context.Context, user string, steps *command.Steps, text []byte) ([]byte, error) {
	document, err := ical.Decode(text, ical.RequestLimits())
	if err != nil {
		return nil, err
	}
	mapped := ical.Map(i.registry, document)
	report := newReport(mapped)
	if i.Admit != nil {
		if err := i.Admit(ctx, len(mapped.Drafts)); err != nil {
			return nil, err
		}
	}
	things, orphans := bundlesOf(mapped.Drafts)
	if _, err := i.take(ctx, user, steps, things, report); err != nil {
		return nil, err
	}
	// The series that exist here are known only now.
	alone, err := i.take(ctx, user, steps, orphans, report)
	if err != nil {
		return nil, err
	}
	if _, err := i.take(ctx, user, steps, alone, report); err != nil {
		return nil, err
	}
	return report.JSON()
}

// bundle is drafts that become one thing: a series with its exceptions, exceptions of a series that is not in the
// text, or any single item.
type bundle struct {
	drafts []ical.Draft
}

func (b bundle) isOrphans() bool { return b.drafts[0].Orphan }

// exceptions returns the drafts of occurrences.
func (b bundle) exceptions() []ical.Draft {
	if b.isOrphans() {
		return b.drafts
	}
	return b.drafts[1:]
}

// bundlesOf groups the drafts: series with their exceptions, and exceptions of one series that is not in the text.
func bundlesOf(drafts []ical.Draft) (things, orphans []bundle) {
	at := map[string]int{}
	for _, d := range drafts {
		i, known := at[d.UID]
		switch {
		case d.Orphan && known:
			orphans[i].drafts = append(orphans[i].drafts, d)
		case d.Orphan:
			at[d.UID] = len(orphans)
			orphans = append(orphans, bundle{[]ical.Draft{d}})
		case d.Kind == entity.TypeInstance: // its series is before it
			last := &things[len(things)-1]
			last.drafts = append(last.drafts, d)
		default:
			things = append(things, bundle{[]ical.Draft{d}})
		}
	}
	return things, orphans
}

// take imports bundles and adds their outcomes to the report. It returns occurrences whose series does not exist, each
// as a separate event.
func (i *Importer) take(
	ctx context.Context, user string, steps *command.Steps, bundles []bundle, report *Report,
) (alone []bundle, err error) {
	if len(bundles) == 0 {
		return nil, nil
	}
	bundles = report.once(bundles)
	things := make([]command.Imported, len(bundles))
	for n, b := range bundles {
		things[n] = i.imported(user, b)
	}
	results, err := steps.Import(ctx, things)
	if err != nil {
		return nil, err
	}
	for n, b := range bundles {
		if errors.Is(results[n].Err, command.ErrNoSeries) {
			for _, d := range b.drafts {
				alone = append(alone, bundle{[]ical.Draft{d.Alone()}})
			}
			continue
		}
		report.count(b, results[n])
	}
	return alone, nil
}

// once refuses repetitions among the bundles: one occurrence of a series that does not exist, named in two ways.
func (r *Report) once(bundles []bundle) []bundle {
	type identity struct{ component, uid string }
	seen := map[identity]bool{}
	var kept []bundle
	for _, b := range bundles {
		d := b.drafts[0]
		if id := (identity{d.Component, d.UID}); !seen[id] {
			seen[id] = true
			kept = append(kept, b)
			continue
		}
		r.refuse(d, command.ErrTwice)
	}
	return kept
}

// count adds a bundle's outcome, component by component. Exceptions that follow from an RDATE are part of the component
// of their series.
func (r *Report) count(b bundle, result command.ImportResult) {
	if result.Outcome == command.Refused {
		for n, d := range b.drafts {
			switch {
			case n == 0:
				r.refuse(d, result.Err)
			case d.Line != b.drafts[0].Line:
				r.refuse(d, fmt.Errorf("its series was refused: %w", result.Err))
			}
		}
		return
	}
	outcome := result.Outcome
	for n, d := range b.exceptions() {
		part := result.Exceptions[n]
		isComponent := b.isOrphans() || d.Line != b.drafts[0].Line
		switch {
		case part.Outcome == command.Refused && isComponent:
			r.refuse(d, part.Err)
		case part.Outcome == command.Refused:
			r.leaveOut(d, part.Err)
		case isComponent:
			r.add(part.Outcome)
		case part.Outcome != command.Unchanged && outcome == command.Unchanged:
			outcome = command.Updated
		}
	}
	if !b.isOrphans() {
		r.add(outcome)
	}
}

func (r *Report) leaveOut(d ical.Draft, err error) {
	if r.LeftOutTotal++; len(r.LeftOut) < maxLeftOut {
		r.LeftOut = append(r.LeftOut, Remark{d.Component, clip(d.UID), d.Line, "the RDATE on " + d.Date + ": " + err.Error()})
	}
}

func (r *Report) add(o command.Outcome) {
	switch o {
	case command.Created:
		r.Created++
	case command.Updated:
		r.Updated++
	case command.Unchanged:
		r.Unchanged++
	case command.Refused: // listed separately
	}
}
