package lint_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/ast"
	"go/doc"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// atRoot reads a file by its path from the root of the repository.
func atRoot(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	require.NoError(t, err)
	return string(content)
}

// apacheLicense is the SHA-256 of the text that the Apache Software Foundation publishes, with its appendix.
const apacheLicense = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"

func TestLicense_isTheUnmodifiedApacheLicense(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256([]byte(atRoot(t, "LICENSE")))
	require.Equal(t, apacheLicense, hex.EncodeToString(sum[:]))
}

// manifests returns the folders of the files with that name, as dependabot spells them: "/" is the root.
func manifests(t *testing.T, name string) []string {
	t.Helper()
	var folders []string
	for _, file := range loaded(t).paths {
		if path.Base(file) == name {
			folders = append(folders, path.Join("/", path.Dir(file)))
		}
	}
	return folders
}

var update = regexp.MustCompile(`(?m)^  - package-ecosystem: ([a-z-]+)\n    directory: (\S+)$`)

func TestDependabot_watchesEveryManifest(t *testing.T) {
	t.Parallel()
	watched := map[string][]string{}
	for _, entry := range update.FindAllStringSubmatch(atRoot(t, ".github/dependabot.yml"), -1) {
		watched[entry[1]] = append(watched[entry[1]], entry[2])
	}
	require.ElementsMatch(t, manifests(t, "go.mod"), watched["gomod"])
	require.ElementsMatch(t, manifests(t, "package.json"), watched["npm"])
	require.Equal(t, []string{"/"}, watched["github-actions"])
	require.Len(t, watched, 3)
}

// heldBack finds the modules of go.mod that have a reason beside their version.
var heldBack = regexp.MustCompile(`(?m)^\t(\S+) v\S+ // (.+)$`)

func TestDependabot_leavesOutWhatIsHeldBack(t *testing.T) {
	t.Parallel()
	found := 0
	for _, module := range heldBack.FindAllStringSubmatch(atRoot(t, "go.mod"), -1) {
		if module[2] != "indirect" {
			found++
			require.Contains(t, atRoot(t, ".github/dependabot.yml"), "- dependency-name: "+module[1]+"\n", module[2])
		}
	}
	require.Positive(t, found)
}

// section returns what README.md has below a heading.
func section(t *testing.T, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(atRoot(t, "README.md"), "\n## "+heading+"\n")
	require.True(t, found, "README.md has no section %q", heading)
	text, _, _ := strings.Cut(rest, "\n## ")
	return text
}

// picture returns the picture of the flow, which begins with the client.
func picture(t *testing.T, document string) string {
	t.Helper()
	_, rest, found := strings.Cut(document, "\n```\nclient ")
	require.True(t, found)
	text, _, found := strings.Cut(rest, "\n```\n")
	require.True(t, found)
	return text
}

func TestReadme_hasThePictureOfTheArchitecture(t *testing.T) {
	t.Parallel()
	require.Equal(t, picture(t, atRoot(t, "docs/architecture.md")), picture(t, section(t, "How it flows")))
}

func TestReadme_showsTheExampleAsItIs(t *testing.T) {
	t.Parallel()
	_, code, found := strings.Cut(section(t, "A projection"), "\n```go\n")
	require.True(t, found)
	code, _, found = strings.Cut(code, "```\n")
	require.True(t, found)
	require.LessOrEqual(t, strings.Count(code, "\n"), 14, "a dozen lines")
	_, source, found := strings.Cut(atRoot(t, "docs/examples/tagcounts/tagcounts.go"), "\n)\n")
	require.True(t, found)
	require.True(t, strings.HasSuffix(source, "\n"+code), "the end of docs/examples/tagcounts/tagcounts.go:\n%s", source)
}

// figures are the numbers that README.md repeats, each with the expression that finds it in its document.
var figures = []struct {
	shown, document string
	source          *regexp.Regexp
}{
	{`\*\*(\S+) USD\*\*`, "docs/cost.md", regexp.MustCompile(`(?m)^all together +(\S+) `)},
	{`\*\*(\S+) to \S+ ms\*\*`, "docs/performance.md", regexp.MustCompile(`(?m)^\| deliver \| (\S+) ms \|`)},
	{`\*\*\S+ to (\S+) ms\*\*`, "docs/performance.md", regexp.MustCompile(`(?m)^\| query \| (\S+) ms \|`)},
	{`function takes (\S+) ms`, "docs/performance.md", regexp.MustCompile(`(?m)^\| empty \| (\S+) ms \|`)},
}

func TestReadme_repeatsTheFiguresOfTheDocuments(t *testing.T) {
	t.Parallel()
	shown := section(t, "Three figures")
	for _, figure := range figures {
		want := figure.source.FindStringSubmatch(atRoot(t, figure.document))
		require.NotNil(t, want, "%s in %s", figure.source, figure.document)
		got := regexp.MustCompile(figure.shown).FindStringSubmatch(shown)
		require.NotNil(t, got, figure.shown)
		require.Equal(t, want[1], got[1], "%s says otherwise", figure.document)
	}
	rows := planted.FindAllStringSubmatch(atRoot(t, "docs/planted.md"), -1)
	caught := 0
	for _, row := range rows {
		if catcher.MatchString(row[1]) {
			caught++
		}
	}
	require.Contains(t, shown, fmt.Sprintf("**%d of %d**", caught, len(rows)), "docs/planted.md says otherwise")
}

var (
	// planted finds what caught the mistake of each row: an invariant of the simulation, or a test.
	planted = regexp.MustCompile(`(?m)^\| [a-z]+-.*\| (.*) \| .* \| .* \| .* \|$`)
	catcher = regexp.MustCompile(`^(?:[DEISW]\d+|[a-z]+|Test\w+)$`)
)

func TestReadme_listsEachPackage(t *testing.T) {
	t.Parallel()
	tree := strings.Fields(section(t, "The tree"))
	folders, err := os.ReadDir(filepath.Join("..", "..", "pkg"))
	require.NoError(t, err)
	for _, folder := range folders {
		require.True(t, slices.Contains(tree, folder.Name()), "the tree of README.md lacks pkg/%s", folder.Name())
	}
}

var link = regexp.MustCompile(`\]\(([^):#]+)(?:#[^)]*)?\)`)

func TestReadme_linksToFilesThatAreThere(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"} {
		for _, found := range link.FindAllStringSubmatch(atRoot(t, name), -1) {
			_, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(found[1])))
			require.NoError(t, err, name)
		}
	}
}

// minExamples is the least number of doors into packages that have an example.
const minExamples = 12

func TestExamples_areRunAndThereAreEnough(t *testing.T) {
	t.Parallel()
	found := 0
	for _, p := range modulePackages(t) {
		for _, f := range p.tests {
			for _, example := range doc.Examples(f.tree) {
				found++
				require.NotEmpty(t, example.Output, "%s: Example%s has no output, so go test does not run it", f.path, example.Name)
			}
		}
	}
	require.GreaterOrEqual(t, found, minExamples)
}

var release = regexp.MustCompile(`^\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}$`)

func TestChangelog_datesEachRelease(t *testing.T) {
	t.Parallel()
	var headings []string
	for line := range strings.Lines(atRoot(t, "CHANGELOG.md")) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			headings = append(headings, strings.TrimSpace(heading))
		}
	}
	require.Greater(t, len(headings), 1)
	require.Equal(t, "[Unreleased]", headings[0])
	for _, heading := range headings[1:] {
		require.Regexp(t, release, heading)
	}
}

func TestDecisions_sayWhenToLookAtThemAgain(t *testing.T) {
	t.Parallel()
	entries := strings.Split(atRoot(t, "docs/decisions.md"), "\n- ")[1:]
	require.NotEmpty(t, entries)
	for _, entry := range entries {
		entry, _, _ = strings.Cut(entry, "\n\n")
		words := strings.Join(strings.Fields(entry), " ")
		require.Contains(t, words, "Revisit when: ", "a decision without the fact that would change it")
	}
}

// runs finds what a command line in a document gives go test to choose tests by.
var runs = regexp.MustCompile(`go test [^\n]*?-run +'?([\w|()]+)`)

func TestDocuments_chooseTestsThatExist(t *testing.T) {
	t.Parallel()
	var names []string
	for _, p := range loaded(t).packages {
		for _, f := range p.tests {
			for _, declaration := range f.tree.Decls {
				if f, ok := declaration.(*ast.FuncDecl); ok {
					names = append(names, f.Name.Name)
				}
			}
		}
	}
	for _, d := range loaded(t).documents {
		for _, found := range runs.FindAllSubmatch(d.text, -1) {
			pattern := regexp.MustCompile(string(found[1]))
			require.True(t, slices.ContainsFunc(names, pattern.MatchString), "%s: no test for -run %s", d.path, pattern)
		}
	}
}
