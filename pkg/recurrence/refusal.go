package recurrence

import (
	"errors"
	"fmt"
)

// ErrTooRare says that a rule of less than a day gives the requested occurrence so rarely that the search was given
// up.
var ErrTooRare = errors.New("the rule's occurrences lie too far apart to be listed")

// Refusal says why a rule or a series is refused. Its text names the part and may be shown to the sender.
type Refusal struct {
	// Part is the rule part (BYMONTH), or DTSTART, EXDATE, RDATE; RRULE for the rule as a whole.
	Part   string
	Reason string
	// inCalendar is the reason at level [Calendar], if that differs.
	inCalendar string
}

// at returns the refusal with the reason for the level.
func (r *Refusal) at(l Level) *Refusal {
	if l == Calendar && r.inCalendar != "" {
		return &Refusal{Part: r.Part, Reason: r.inCalendar}
	}
	return r
}

func (r *Refusal) Error() string { return r.Part + ": " + r.Reason }

func refuse(part, format string, args ...any) *Refusal {
	return &Refusal{Part: part, Reason: fmt.Sprintf(format, args...)}
}
