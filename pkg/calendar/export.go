package calendar

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/ical"
	"nexus/pkg/idempotency"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

const (
	// maxWeight bounds one text by its size as a JSON string: an answer of a Lambda function has at most 6 MB in all, and
	// the time zones are added to it.
	maxWeight = 4 << 20
	// maxTogether is the size up to which a series and its exceptions are never separated.
	maxTogether = maxWeight / 4
	// recent is how far back a calendar reaches that is too large for one answer.
	recent = 365 * 24 * time.Hour
	// refresh is the interval at which a program may ask for the calendar.
	refresh = time.Hour
	name    = "Nexus"
)

var (
	// ErrTooLarge says that even the recent part does not fit into one answer; the caller must ask for its parts.
	ErrTooLarge = errors.New("the calendar is too large for one answer")
	// ErrNoPart says that the calendar has fewer parts.
	ErrNoPart = errors.New("the calendar has no such part")
)

// Export is a user's calendar as iCalendar text.
type Export struct {
	Text []byte
	// Tag is a digest of the text.
	Tag string
	// Modified is the time of the last change to the user's items, deletions included, or to how the address shows them.
	// It is zero if there is none, or if it is so recent that another may follow within the same second.
	Modified time.Time
	// Parts is the number of texts of the whole calendar.
	Parts int
	// Since is set if the text omits items that end before it.
	Since time.Time
}

// Export returns everything of a user that a calendar program can show: events, series with their exceptions,
// reminders, and tasks, in the order of types and ids.
//
// Part 0 is the calendar in one text. If that would be too large, it is the recent part: everything that ends less
// than a year ago, or is still open. The text then says so. If even this is too large the error is [ErrTooLarge].
// Parts 1 to Parts together are the whole calendar of any size; [ErrNoPart] is the error for any other.
func (s *Service) Export(ctx context.Context, user string, part int) (Export, error) {
	return s.export(ctx, user, part, Feed{PrivateAs: PrivateAsFull})
}

// export writes the calendar as the address shows it: whole, or with only the busy times of private items.
func (s *Service) export(ctx context.Context, user string, part int, as Feed) (Export, error) {
	if err := entity.CheckUserID(user); err != nil {
		return Export{}, fmt.Errorf("user: %w", err)
	}
	now := s.Now().UTC().Truncate(time.Second)
	e := &exporter{
		uids: map[string]named{}, calendar: ical.Calendar{Name: name, Refresh: refresh}, modified: as.changed,
	}
	for _, read := range []func(context.Context, string) iter.Seq2[group, error]{
		s.events, s.series, s.reminders, s.tasks,
	} {
		for g, err := range read(ctx, user) {
			if err != nil {
				return Export{}, err
			}
			if as.PrivateAs != PrivateAsFull {
				g.drafts = ical.Busy(g.drafts)
			}
			e.add(g)
		}
	}
	departed, err := s.departed(ctx, user, now)
	if err != nil {
		return Export{}, err
	}
	if departed.After(e.modified) {
		e.modified = departed
	}
	out, err := e.part(part, now)
	if err != nil {
		return Export{}, err
	}
	if e.modified.Before(now) {
		out.Modified = e.modified
	}
	out.Tag = idempotency.Digest(out.Text)[:32]
	return out, nil
}

// exporter collects the items as text: as items they take several times the memory.
type exporter struct {
	calendar ical.Calendar
	pieces   []piece
	modified time.Time
	uids     map[string]named // the owners of the UIDs that were written
}

// named holds the owner of a UID in the text: an item, or a series with its occurrences.
type named struct {
	kind, id     string
	created      time.Time
	first, after int // its pieces
}

type piece struct {
	ical.Piece
	until  time.Time
	weight int
}

func (e *exporter) add(g group) {
	if g.modified.After(e.modified) {
		e.modified = g.modified
	}
	if len(g.drafts) == 0 {
		return
	}
	it := named{kind: g.drafts[0].Kind, id: g.drafts[0].ID, created: g.created, first: len(e.pieces)}
	uid := e.name(it, g.drafts)
	e.write(g)
	it.after = len(e.pieces)
	e.uids[uid] = it
}

func (e *exporter) write(g group) {
	if written, err := e.calendar.Piece(g.drafts...); err == nil {
		if weight := weigh(written.Text()); weight <= maxTogether || len(g.drafts) == 1 {
			e.pieces = append(e.pieces, piece{written, g.until, weight})
			return
		}
	}
	// Programs match exceptions without their series to it by their UID. What is damaged is left out: the rest of the
	// calendar does not depend on it.
	for _, d := range g.drafts {
		if written, err := e.calendar.Piece(d); err == nil {
			e.pieces = append(e.pieces, piece{written, g.until, weigh(written.Text())})
		}
	}
}

// name gives the drafts a UID that nothing else has, and returns it. To other programs two components of one UID are
// one thing, unless they are a series and its occurrences. Of two items of a type the one that was created first has
// the UID: an import finds that one by it, if the archive has brought it back. The other is named after its id.
func (e *exporter) name(it named, drafts []ical.Draft) string {
	uid := drafts[0].UID
	held, isTaken := e.uids[uid]
	switch {
	case isTaken && held.kind == it.kind && it.created.Before(held.created):
		other := e.free(held, uid)
		e.uids[other] = held
		for i := held.first; i < held.after; i++ {
			p := &e.pieces[i]
			p.Piece = p.Renamed(uid, other)
			p.weight = weigh(p.Text())
		}
	case isTaken:
		uid = e.free(it, uid)
		for i := range drafts {
			drafts[i].UID = uid
		}
	}
	return uid
}

// free returns a UID for the item whose own is taken.
func (e *exporter) free(it named, uid string) string {
	for {
		if _, isTaken := e.uids[uid]; !isTaken {
			return uid
		}
		own := product.ICalUID(it.id)
		if _, isTaken := e.uids[own]; isTaken {
			own = uid + "-" + it.id
		}
		uid = own
	}
}

// weigh returns the length of a text as a JSON string.
func weigh(text []byte) int {
	n := len(text)
	for _, c := range text {
		switch c {
		case '"', '\\', '\r', '\n':
			n++
		case '<', '>', '&':
			n += 5
		}
	}
	// The line and paragraph separators of Unicode, three bytes each, are escaped, too.
	return n + 3*(bytes.Count(text, []byte("\u2028"))+bytes.Count(text, []byte("\u2029")))
}

func (e *exporter) part(number int, now time.Time) (Export, error) {
	parts := cut(e.pieces)
	out := Export{Parts: len(parts)}
	var chosen []piece
	switch {
	case number < 0 || number > len(parts):
		return out, ErrNoPart
	case number > 0:
		chosen = parts[number-1]
	case len(parts) == 1:
		chosen = parts[0]
	default:
		// Whole days, so that the text does not change with every second.
		out.Since = now.Add(-recent).Truncate(24 * time.Hour)
		for _, p := range e.pieces {
			if !p.until.Before(out.Since) {
				chosen = append(chosen, p)
			}
		}
		if len(cut(chosen)) > 1 {
			return out, ErrTooLarge
		}
		e.calendar.Description = "What ended before " + item.FormatDate(out.Since) +
			" is left out, because the whole calendar is too large to be sent at once."
	}
	pieces := make([]ical.Piece, len(chosen))
	for i, p := range chosen {
		pieces[i] = p.Piece
	}
	var err error
	out.Text, err = e.calendar.Join(pieces)
	return out, err
}

// cut distributes pieces, in their order, over texts that are not too large. There is always one, if only an empty one.
func cut(pieces []piece) [][]piece {
	parts := [][]piece{nil}
	room := maxWeight
	for _, p := range pieces {
		last := len(parts) - 1
		if p.weight > room && len(parts[last]) > 0 {
			parts, last, room = append(parts, nil), last+1, maxWeight
		}
		parts[last] = append(parts[last], p)
		room -= p.weight
	}
	return parts
}
