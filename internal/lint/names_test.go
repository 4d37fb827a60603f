package lint_test

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// testName is a test's name: its subject and, if it goes on, a statement about it that begins in lower case.
var testName = regexp.MustCompile(`^Test([A-Z][A-Za-z0-9]*)(?:_[a-z0-9]\w*)?$`)

// listed are the subjects of tests that test no code of their own folder: programs, and the measures of this folder.
var listed = map[string][]string{
	"cmd/nexus/e2e": {
		"Nexus", "Dev", "Demo", "Simulate", "Cost", "Smoke", "Verify", "Record", "Replay", "Expand", "Import", "Export",
		"Completion",
	},
	"functions":     {"Functions", "Command", "Query", "Projections", "Effects", "Notify", "Deliver", "Account"},
	"functions/e2e": {"Functions", "Command", "Query", "Projections", "Effects", "Notify", "Deliver", "Account", "Canary"},
	lintFolder: {
		"ExportedNames", "FanIn", "Programs", "Directions", "Walk", "Prose", "Names", "Vocabulary", "FirstWords",
	},
}

const lintFolder = "internal/lint"

// TestNames holds the number of tests whose names do not begin with their subject, as in
// TestNotifier_publishesOncePerDelivery. The name is "Test", the subject, and either nothing or "_" and a statement
// that begins in lower case. The subject begins in upper case and is one of
//
//   - a type, function, method, variable or constant that the folder of the test declares outside tests: Notifier or
//     notifier;
//   - the folder itself, for a test of the package as a whole: TestProjection_…;
//   - a document of the tree: TestReadme_…, TestLifeOfAWrite_…;
//   - a name that is listed above for the folder;
//   - in this folder, which tests the tree, any word that a statement follows.
func TestNames(t *testing.T) {
	t.Parallel()
	subjects := subjectsByFolder(loaded(t))
	var others []hit
	tests := 0
	for _, f := range loaded(t).source {
		for _, d := range f.declared() {
			if !f.isTest() || !isTest(d) {
				continue
			}
			tests++
			name := testName.FindStringSubmatch(d.name)
			ofTree := f.folder() == lintFolder && strings.Contains(d.name, "_")
			if name == nil || !ofTree && !subjects[f.folder()][name[1]] && !subjects["documents"][name[1]] {
				others = append(others, hit{f.path, loaded(t).set.Position(d.node.Pos()).Line, d.name})
			}
		}
	}
	t.Logf("%d of %d tests begin with their subject", tests-len(others), tests)
	holdCount(t, "test-names", others)
}

// subjectsByFolder returns the subjects that the tests of each folder may have. Those of "documents" are for all tests.
func subjectsByFolder(all *tree) map[string]map[string]bool {
	out := map[string]map[string]bool{"documents": {}}
	for _, f := range all.documents {
		out["documents"][subjectOf(strings.ToLower(strings.TrimSuffix(path.Base(f.path), ".md")))] = true
	}
	for _, f := range all.source {
		own := out[f.folder()]
		if own == nil {
			own = map[string]bool{subjectOf(path.Base(f.folder())): true}
			for _, name := range listed[f.folder()] {
				own[name] = true
			}
			out[f.folder()] = own
		}
		for _, d := range f.declared() {
			if _, field := d.node.(*ast.Field); !field && !f.isTest() {
				own[subjectOf(d.name)] = true
			}
		}
	}
	return out
}

func isTest(d declaration) bool {
	_, function := d.node.(*ast.FuncDecl)
	return function && d.receiver == "" && strings.HasPrefix(d.name, "Test") && d.name != "TestMain"
}

// subjectOf is a name as that of a test begins with it: each of its words begins in upper case.
func subjectOf(name string) string {
	var out strings.Builder
	isBetween := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for _, word := range strings.FieldsFunc(name, isBetween) {
		out.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return out.String()
}

func TestNames_haveASubjectAndAStatement(t *testing.T) {
	t.Parallel()
	for name, subject := range map[string]string{
		"TestNotifier_publishesOncePerDelivery": "Notifier", "TestClip": "Clip", "TestItem2_isSmall": "Item2",
		"TestNotifier_PublishesOnce": "", "Testnotifier_publishes": "", "Test_publishes": "", "TestNotifier_": "",
	} {
		found := ""
		if name := testName.FindStringSubmatch(name); name != nil {
			found = name[1]
		}
		require.Equal(t, subject, found, name)
	}
	require.Equal(t, "LifeOfAWrite", subjectOf("life-of-a-write"))
	require.Equal(t, "Decide", subjectOf("decide"))
}
