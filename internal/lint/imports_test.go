package lint_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rule says what the packages of a folder may import of this module, besides their own folder and its parents' ports.
type rule struct {
	folder string
	may    []string
}

// rules is docs/architecture.md, "Who may import whom". The longest folder that fits decides.
var rules = []rule{
	{"cmd", []string{"pkg"}},
	{"functions", []string{"pkg"}},
	{"internal", nil},
	{"events", []string{"pkg/entity", "pkg/change"}},
	{"docs", []string{"pkg"}}, // worked examples

	{"pkg/wallclock", nil},
	{"pkg/text", nil},
	{"pkg/entity", []string{"pkg/recurrence", "pkg/wallclock"}},
	{"pkg/recurrence", []string{"pkg/wallclock"}},
	{"pkg/series", []string{"pkg/entity", "pkg/recurrence"}},
	{"pkg/series/seriestest", nil},
	{"pkg/change", []string{"pkg/entity"}},
	{"pkg/table", []string{"pkg/entity"}},
	{"pkg/table/memory", []string{"pkg/entity", "pkg/change"}},
	{"pkg/schedule", []string{"pkg/entity"}},
	{"pkg/bus", []string{"pkg/entity"}},
	{"pkg/blob", []string{"pkg/entity"}},

	{"pkg/command", []string{"pkg/entity", "pkg/recurrence", "pkg/series", "pkg/table"}},
	{"pkg/query", []string{"pkg/entity", "pkg/recurrence", "pkg/series", "pkg/table"}},
	{"pkg/revision", []string{"pkg/entity", "pkg/recurrence", "pkg/series", "pkg/table"}},
	{"pkg/ical", []string{"pkg/entity", "pkg/recurrence", "pkg/series", "pkg/wallclock", "pkg/table"}},
	{"pkg/calendar", []string{"pkg/command", "pkg/entity", "pkg/ical", "pkg/series", "pkg/table"}},
	{"pkg/api", []string{
		"pkg/calendar", "pkg/command", "pkg/query", "pkg/revision", "pkg/ical", "pkg/archive", "pkg/reminders", "pkg/series", "pkg/entity",
		"=pkg/table", "=pkg/blob", // the errors of the ports, which it answers with 503
	}},

	{"pkg/projection", []string{"pkg/change", "pkg/entity", "pkg/table"}},
	{"pkg/stats", []string{"pkg/projection", "pkg/change", "pkg/entity"}},
	{"pkg/links", []string{"pkg/projection", "pkg/change", "pkg/entity"}},
	{"pkg/reminders", []string{
		"pkg/change", "pkg/entity", "pkg/recurrence", "pkg/series", "pkg/table", "=pkg/schedule", "=pkg/blob", "=pkg/bus",
	}},
	{"pkg/archive", []string{
		"pkg/change", "pkg/entity", "pkg/recurrence", "pkg/table", "=pkg/schedule", "=pkg/blob", "=pkg/bus",
	}},
	{"pkg/consume", []string{"pkg/change", "pkg/entity", "=pkg/blob"}},
	{"pkg/eventsource", []string{"pkg/change", "pkg/entity"}},

	{"pkg/verify", []string{"pkg"}},
	{"pkg/cost", []string{"pkg", "functions/alarm", "functions/env", "functions/metric", "functions/size"}}, // what is paid for
	{"pkg/replay", []string{"pkg"}},
	{"pkg/simulate", []string{"pkg"}},
	{"pkg/local", []string{"pkg"}},
}

// closed are folders below pkg that a right to "pkg" as a whole does not include, and who has them nevertheless.
var closed = []struct {
	folder string
	to     []string
}{
	{"pkg/local", []string{"pkg/local", "cmd"}},
	{"pkg/simulate", []string{"pkg/simulate", "cmd"}},
	{"pkg/table/memory", []string{"pkg/table/memory", "pkg/local", "pkg/replay", "pkg/simulate", "pkg/cost", "cmd"}},
}

// sdkAdapters are the only folders in which types of the SDK may appear.
var sdkAdapters = []string{
	"pkg/table/dynamo", "pkg/schedule/eventbridge", "pkg/bus/eventbridge", "pkg/blob/s3", "pkg/eventsource/streams",
	"pkg/local", "functions", "cmd",
}

func ruleFor(path string) (rule, bool) {
	best := rule{}
	for _, r := range rules {
		if under(path, r.folder) && len(r.folder) > len(best.folder) {
			best = r
		}
	}
	return best, best.folder != ""
}

// allows reports whether a package of the rule's folder may import the target. A "=" permits the very package only: a
// port without its adapters.
func (r rule) allows(importer, target string) bool {
	if under(target, r.folder) || strings.HasPrefix(importer, target+"/") {
		return true // its own folder, and the port above an adapter
	}
	return slices.ContainsFunc(r.may, func(allowed string) bool {
		exact, isExact := strings.CutPrefix(allowed, "=")
		return isExact && target == exact || !isExact && under(target, allowed)
	})
}

func TestEveryPackageImportsOnlyWhatItMay(t *testing.T) {
	t.Parallel()
	var found []string
	for _, p := range modulePackages(t) {
		if len(p.files) == 0 {
			continue
		}
		r, ok := ruleFor(p.path)
		if !ok {
			found = append(found, p.path+" stands in no rule: add it to the table here and to docs/architecture.md")
			continue
		}
		for _, imported := range p.imports() {
			target, ours := strings.CutPrefix(imported, module+"/")
			if ours && !(r.allows(p.path, target) && isOpen(p.path, target)) {
				found = append(found, p.path+" must not import "+target)
			}
		}
	}
	require.Empty(t, found)
}

// sharedWiring is what all functions have in common; functions do not import each other.
var sharedWiring = []string{"functions/internal", "functions/env", "functions/metric"}

// written are what of the functions is data: which there are, how large, what they count, and what somebody is woken for. A
// bill needs it.
var written = []string{"functions/alarm", "functions/env", "functions/metric", "functions/size"}

// isOpen reports whether the target is open to whoever has a right to its folder, or the importer is among those to whom
// it is open. Wiring is nobody's but its own.
func isOpen(importer, target string) bool {
	ownWiring := under(importer, topFolder(target)) || under(importer, "functions") && underAny(target, sharedWiring...) ||
		under(importer, "pkg/cost") && underAny(target, written...)
	if underAny(target, "cmd", "functions") && !ownWiring {
		return false
	}
	for _, c := range closed {
		if under(target, c.folder) && !underAny(importer, c.to...) {
			return false
		}
	}
	return true
}

func topFolder(path string) string {
	parts := strings.SplitN(path, "/", 3)
	return strings.Join(parts[:min(2, len(parts))], "/")
}

func TestTypesOfTheSDKStayInsideAdapters(t *testing.T) {
	t.Parallel()
	for _, p := range modulePackages(t) {
		for _, imported := range p.imports() {
			switch {
			case underAny(imported, "github.com/aws/aws-sdk-go-v2", "github.com/aws/smithy-go"):
				require.True(t, underAny(p.path, sdkAdapters...), "%s imports %s", p.path, imported)
			case under(imported, "github.com/aws/aws-lambda-go"):
				// The program that prints how fast records are read compares it with the stock event type.
				compared := p.path == "pkg/local/load" && imported == "github.com/aws/aws-lambda-go/events"
				require.True(t, compared || underAny(p.path, "functions"), "%s imports %s: handlers do not know Lambda", p.path, imported)
			}
		}
	}
}

func TestEntityRecurrenceAndWallclockNeedTheStandardLibraryAlone(t *testing.T) {
	t.Parallel()
	for _, p := range modulePackages(t) {
		if !underAny(p.path, "pkg/entity", "pkg/recurrence", "pkg/wallclock") {
			continue
		}
		for _, imported := range p.imports() {
			first, _, _ := strings.Cut(imported, "/")
			external := strings.Contains(first, ".")
			// The program that prints how fast the compiled form is compares it with the library.
			compared := p.path == "pkg/recurrence/speed" && under(imported, "github.com/teambition/rrule-go")
			require.True(t, !external || compared, "%s imports %s", p.path, imported)
		}
	}
}
