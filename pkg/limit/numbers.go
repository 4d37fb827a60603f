package limit

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The limits' names: in the overrides of a stage, in refusals, and of rates in the fields of answers.
const (
	Content            = "content"
	Notes              = "notes"
	Exceptions         = "exceptions"
	Gone               = "gone"
	Series             = "series"
	Plans              = "plans"
	TreeRevisions      = "tree-revisions"
	LargeTreeRevisions = "large-tree-revisions"
	PlanRevisions      = "plan-revisions"
	Schedules          = "schedules"
	Webhooks           = "webhooks"
	Devices            = "devices"
	Passwords          = "app-passwords"
	OpenExports        = "open-exports"
	DailyExports       = "daily-exports"

	User = "user"
	Zone = "zone"
	Feed = "feed"
)

// LargeTree is the number of nodes above which a tree may have fewer revisions.
const LargeTree = 500

// Line is one limit: how many of what, and why so many.
type Line struct {
	Name   string
	Number int
	// Window is the time in which an empty bucket of a rate fills; 0 for a quota.
	Window time.Duration
	What   string
	Why    string
}

// Lines returns all limits, as they are where no stage says otherwise.
func Lines() []Line {
	return []Line{
		{Content, 100_000, 0, "events, series, tasks and reminders together", "The modelled user makes 7,300 a year. A " +
			"verification reads one user in seconds up to here."},
		{Notes, 10_000, 0, "notes", "Notes of 32 KB are 330 MB, and three indexes may hold each once more."},
		{Exceptions, 100_000, 0, "exceptions of all series; one series has at most 500",
			"Each export and each verification reads all of them."},
		{Gone, 1_000_000, 0, "ids that were deleted or archived", "Each stays as a row, so that the id is never used again."},
		{Series, 2_000, 0, "series", "An agenda reads all of them: 200 take 20 ms."},
		{Plans, 4_000, 0, "days with a plan", "They are eleven years."},
		{TreeRevisions, 1_000, 0, "revisions of the values tree", "Each is a whole copy of the tree."},
		{LargeTreeRevisions, 200, 0, "revisions of a tree of more than 500 nodes", "A tree of 2,000 nodes is 4,000 rows a " +
			"revision, and up to 1 MB of text."},
		{PlanRevisions, 200, 0, "revisions of one day's plan", "Each is a whole copy of the plan."},
		{Schedules, 20_000, 0, "open schedules of reminders",
			"10 million are the account's. Ten reminders a day, planned a year ahead, are 3,650."},
		{Webhooks, 10, 0, "webhooks", "Each is a call for every change, which others pay for."},
		{Devices, 20, 0, "devices", "Each is a call for every reminder, which others pay for."},
		{Passwords, 20, 0, "passwords of apps", "Each sign-in tries all of them."},
		{OpenExports, 1, 0, "open jobs of export", "A job reads everything that the user has."},
		{DailyExports, 3, 0, "jobs of export a day", "A job reads everything that the user has."},
		{User, 600, time.Minute, "points, see below", "The 161 commands of a client that was offline pass at once. 50 such " +
			"users fill a stage of 500 requests a second."},
		{Zone, 1, time.Minute, "change of defaultTzid", "Each walks all items with floating times."},
		{Feed, 60, time.Hour, "reads of the calendar's secret address", "Five programs that ask every 15 minutes are 20."},
	}
}

// Numbers are the limits in force, by name.
type Numbers map[string]int

// Default returns the numbers of [Lines].
func Default() Numbers {
	n := Numbers{}
	for _, line := range Lines() {
		n[line.Name] = line.Number
	}
	return n
}

// maxNumber bounds what a stage may set.
const maxNumber = 1_000_000_000

// With returns the numbers with those of a stage in place of their own. The error names the limit that there is not, or
// whose number is out of 1 to 1,000,000,000.
func (n Numbers) With(stage map[string]int) (Numbers, error) {
	out := maps.Clone(n)
	for _, name := range slices.Sorted(maps.Keys(stage)) {
		if _, known := n[name]; !known {
			return nil, fmt.Errorf("limit %q: there is none; there are %s", name,
				strings.Join(slices.Sorted(maps.Keys(n)), ", "))
		}
		if number := stage[name]; number < 1 || number > maxNumber {
			return nil, fmt.Errorf("limit %q: %d is not between 1 and %d", name, number, maxNumber)
		}
		out[name] = stage[name]
	}
	return out, nil
}

// Parse reads the numbers of a stage as a function's environment has them: name=number, with commas between. It
// returns [Default] with them.
func Parse(text string) (Numbers, error) {
	stage := map[string]int{}
	for part := range strings.SplitSeq(text, ",") {
		if text == "" {
			break
		}
		name, digits, _ := strings.Cut(part, "=")
		number, err := strconv.Atoi(digits)
		if err != nil {
			return nil, fmt.Errorf("limits: %q is no name=number", part)
		}
		stage[name] = number
	}
	return Default().With(stage)
}

// Format writes the numbers of a stage for [Parse], by name.
func Format(stage map[string]int) string {
	parts := make([]string, 0, len(stage))
	for _, name := range slices.Sorted(maps.Keys(stage)) {
		parts = append(parts, name+"="+strconv.Itoa(stage[name]))
	}
	return strings.Join(parts, ",")
}

// rate returns the bucket of a policy.
func (n Numbers) rate(policy string) rate {
	for _, line := range Lines() {
		if line.Name == policy && line.Window > 0 {
			return rate{Policy{policy, n[policy], line.Window}}
		}
	}
	panic("limit: no rate " + policy)
}
