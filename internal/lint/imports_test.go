package lint_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// importTables is the document whose tables say who may import whom.
const importTables = "docs/architecture.md"

// rule is one row: what the packages of a folder may import of this module, or to whom a closed folder is open.
type rule struct {
	folder string
	of     []string // a "=" before a folder means that very package: a port without its adapters
}

var (
	importRow  = regexp.MustCompile("^\\| `([^`]+)` \\| ([^|]+) \\|")
	importCell = regexp.MustCompile("`([^`]+)`( alone)?")
)

// importRules reads the two tables of the document: what each folder may import, and which folders are closed.
func importRules(t *testing.T) (may, closed []rule) {
	t.Helper()
	_, section, found := strings.Cut(atRoot(t, importTables), "\n## Who may import whom\n")
	require.True(t, found, importTables)
	section, _, _ = strings.Cut(section, "\n## ")
	open, shut, found := strings.Cut(section, "| closed folder |")
	require.True(t, found, importTables)
	may, closed = rows(open), rows(shut)
	require.NotEmpty(t, may)
	require.NotEmpty(t, closed)
	return may, closed
}

func rows(table string) []rule {
	var out []rule
	for text := range strings.Lines(table) {
		row := importRow.FindStringSubmatch(text)
		if row == nil {
			continue
		}
		r := rule{folder: row[1]}
		for _, cell := range importCell.FindAllStringSubmatch(row[2], -1) {
			if cell[2] != "" {
				cell[1] = "=" + cell[1]
			}
			r.of = append(r.of, cell[1])
		}
		out = append(out, r)
	}
	return out
}

// sdkAdapters are the only folders in which types of the SDK may appear.
var sdkAdapters = []string{
	"pkg/table/dynamo", "pkg/port/aws", "pkg/schedule/eventbridge", "pkg/bus/eventbridge", "pkg/blob/s3", "pkg/queue/sqs",
	"pkg/push/appsync", "pkg/eventsource/streams", "pkg/local", "functions", "cmd", "internal/bench",
}

func ruleFor(rules []rule, path string) (rule, bool) {
	best := rule{}
	for _, r := range rules {
		if under(path, r.folder) && len(r.folder) > len(best.folder) {
			best = r
		}
	}
	return best, best.folder != ""
}

// allows reports whether a package of the rule's folder may import the target.
func (r rule) allows(importer, target string) bool {
	if under(target, r.folder) || strings.HasPrefix(importer, target+"/") {
		return true // its own folder, and the port above an adapter
	}
	return slices.ContainsFunc(r.of, func(allowed string) bool {
		exact, isExact := strings.CutPrefix(allowed, "=")
		return isExact && target == exact || !isExact && under(target, allowed)
	})
}

// isOpen reports whether every closed folder that contains the target is open to the importer.
func isOpen(closed []rule, importer, target string) bool {
	return !slices.ContainsFunc(closed, func(c rule) bool {
		return under(target, c.folder) && !under(importer, c.folder) && !underAny(importer, c.of...)
	})
}

func TestImports_areWhatTheDocumentAllows(t *testing.T) {
	t.Parallel()
	rules, closed := importRules(t)
	for _, p := range modulePackages(t) {
		if len(p.files) == 0 {
			continue
		}
		r, ok := ruleFor(rules, p.path)
		if !ok {
			t.Errorf("%s is in no row: add it to the table of %s", p.path, importTables)
			continue
		}
		for _, imported := range p.imports() {
			target, ours := strings.CutPrefix(imported, module+"/")
			if ours && !(r.allows(p.path, target) && isOpen(closed, p.path, target)) {
				t.Errorf("%s must not import %s", p.path, target)
			}
		}
	}
}

func TestImports_namesFoldersThatExist(t *testing.T) {
	t.Parallel()
	rules, closed := importRules(t)
	for _, r := range slices.Concat(rules, closed) {
		for _, folder := range append(r.of, r.folder) {
			require.DirExists(t, filepath.Join(root, strings.TrimPrefix(folder, "=")), "row of %s in %s", r.folder, importTables)
		}
	}
}

func TestImports_keepTypesOfTheSDKInsideAdapters(t *testing.T) {
	t.Parallel()
	for _, p := range modulePackages(t) {
		for _, imported := range p.imports() {
			switch {
			case underAny(imported, "github.com/aws/aws-sdk-go-v2", "github.com/aws/smithy-go"):
				require.True(t, underAny(p.path, sdkAdapters...), "%s imports %s", p.path, imported)
			case under(imported, "github.com/aws/aws-lambda-go"):
				// Programs that measure compare with the stock event type and with an empty function.
				require.True(t, underAny(p.path, "functions", "internal/bench"),
					"%s imports %s: handlers do not know Lambda", p.path, imported)
			}
		}
	}
}

func TestImports_ofEntityAreTheStandardLibraryAlone(t *testing.T) {
	t.Parallel()
	for _, p := range modulePackages(t) {
		if !underAny(p.path, "pkg/entity", "pkg/recurrence", "pkg/wallclock") {
			continue
		}
		for _, imported := range p.imports() {
			first, _, _ := strings.Cut(imported, "/")
			require.NotContains(t, first, ".", "%s imports %s", p.path, imported)
		}
	}
}

// dialers are the only folders of pkg and functions whose code connects to an address by itself: each has its address
// from the deployment or from the machine, but for pkg/outbound, whose addresses come from users.
var dialers = []string{
	"pkg/outbound", "pkg/local", "pkg/deploy/issuer",
	"functions/canary", "functions/internal/bearer", "functions/internal/boot",
}

var dials = regexp.MustCompile(`\b(?:net\.Dial|tls\.Dial|http\.(?:Client\{|Transport\{|Default|Get\(|Head\(|Post))`)

func TestImports_leaveAddressesOfUsersToOnePackage(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, p := range modulePackages(t) {
		for _, f := range p.files {
			if !underAny(p.path, "pkg", "functions") || !dials.Match(f.text) {
				continue
			}
			found[p.path] = true
			require.True(t, underAny(p.path, dialers...),
				"%s connects by itself: addresses of users are for pkg/outbound", f.path)
		}
		if slices.Contains(p.imports(), "code.dny.dev/ssrf") {
			require.Equal(t, "pkg/outbound", p.path)
		}
	}
	require.True(t, found["pkg/outbound"])
}
