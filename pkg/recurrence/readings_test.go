package recurrence_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// reading is why a case on which engines differ is answered otherwise than the corpus's engine does. docs/recurrence.md
// says the same at length, under "Readings".
type reading struct {
	why string
	// covers says whether a case belongs here.
	covers func(c corpusCase) bool
}

func has(parts ...string) func(corpusCase) bool {
	return func(c corpusCase) bool {
		for _, part := range parts {
			if !strings.Contains(c.Rule+";", part) {
				return false
			}
		}
		return true
	}
}

var readings = []reading{
	{"RFC 5545 §3.3.10: BYWEEKNO MUST NOT be used unless FREQ is YEARLY", func(c corpusCase) bool {
		return has("BYWEEKNO=")(c) && !has("FREQ=YEARLY")(c)
	}},
	{"RFC 5545 §3.3.10: BYYEARDAY MUST NOT be used when FREQ is DAILY, WEEKLY or MONTHLY", func(c corpusCase) bool {
		return has("BYYEARDAY=")(c) && (has("FREQ=DAILY")(c) || has("FREQ=WEEKLY")(c) || has("FREQ=MONTHLY")(c))
	}},
	{"RFC 5545 §3.3.10: BYDAY MUST NOT have a number together with BYWEEKNO", has("BYWEEKNO=10;BYDAY=1MO")},
	{"RFC 5545 §3.3.10: the number of a weekday is from 1 to 53", func(c corpusCase) bool {
		return has("BYDAY=0MO")(c) || has(",0MO")(c) || has(",0SA")(c)
	}},
	{"BYMONTHDAY and BYDAY without BYMONTH mean every month", has("FREQ=YEARLY", "BYMONTHDAY=", "BYDAY=")},
	{"BYMONTHDAY alone means the start's month", func(c corpusCase) bool {
		return has("FREQ=YEARLY", "BYMONTHDAY=")(c) && !has("BYMONTH=")(c) && !has("BYDAY=")(c)
	}},
	{"BYWEEKNO without BYDAY means the start's weekday", func(c corpusCase) bool {
		return has("FREQ=YEARLY", "BYWEEKNO=")(c) && !has("BYDAY=")(c)
	}},
	{"a week's days belong to the calendar year in which they lie, for INTERVAL and BYSETPOS", func(c corpusCase) bool {
		return has("FREQ=YEARLY", "BYWEEKNO=", "BYDAY=")(c) && (has("INTERVAL=")(c) || has("BYSETPOS=")(c))
	}},
	{"BYMONTHDAY in a WEEKLY rule means any weekday", has("FREQ=WEEKLY", "BYMONTHDAY=")},
	{"BYSETPOS counts from the beginning of the period, not from the start", has("BYSETPOS=")},
	{"a window holds what starts in it", has("FREQ=HOURLY;INTERVAL=18")},
	{"the case's list is of another window, zone or start than it says", func(c corpusCase) bool {
		return has("FREQ=SECONDLY;UNTIL=20250402T000000")(c) || has("UNTIL=19971224T090000Z")(c)
	}},
	{"UNTIL as a date includes that day", has("UNTIL=19971007")},
}

func TestSeries_choosesTheReadingWhereEnginesDiffer(t *testing.T) {
	t.Parallel()
	same, used := 0, map[string]int{}
	cases := corpus(t, "rules-engines-differ.jsonl")
next:
	for _, c := range cases {
		walls, _, err := answer(t, c)
		if err == nil && strings.Join(walls, " ") == strings.Join(c.Expect, " ") {
			same++
			continue
		}
		for _, r := range readings {
			if r.covers(c) {
				used[r.why]++
				continue next
			}
		}
		t.Errorf("no reading covers %s %s: answer %v, %v", c.Start, c.Rule, walls, err)
	}
	t.Logf("%d of %d as the case says", same, len(cases))
	for _, r := range readings {
		require.Positive(t, used[r.why], "no case is left for: %s", r.why)
		t.Logf("%2d: %s", used[r.why], r.why)
	}
}

func TestParse_refusesOrEndsWhatTheCorporaRefuse(t *testing.T) {
	t.Parallel()
	for _, c := range corpus(t, "rules-to-refuse.jsonl") {
		switch c.Rule {
		case "FREQ=YEARLY;COUNT=1":
			// RFC 5545 §3.3.4: a year has four digits, so 99991231 is a date, and rules.jsonl has this very rule with its one
			// occurrence. What is said to fail is the end of the event, the day after.
		case "FREQ=YEARLY":
			// Refused by those who ask without a window and a limit: nexus expand.
			series, err := (&plain{freq: "YEARLY", interval: 1, start: local(t, c.Start), week: 1}).compile()
			require.NoError(t, err)
			require.True(t, series.Endless())
		default:
			_, _, err := answer(t, c)
			require.Error(t, err, c.Rule)
		}
	}
}
