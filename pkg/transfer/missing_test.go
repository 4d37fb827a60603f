package transfer_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/table"
	"nexus/pkg/transfer"
)

// logOf returns the ids of the revisions in a log of a file, and its newest line.
func logOf(t *testing.T, files map[string]string, dir string) (ids []string, newest map[string]string) {
	t.Helper()
	ids = []string{}
	for line := range strings.Lines(files[dir+"log.ndjson"]) {
		newest = nil
		require.NoError(t, json.Unmarshal([]byte(line), &newest))
		ids = append(ids, newest["revId"])
	}
	return ids, newest
}

// spoil deletes the rows of a revision, or takes the id out of its log entry or of the head.
func (f *fixture) spoil(at repository.Address, what, revID string) {
	f.Helper()
	var key item.Key
	attr := "revId"
	switch what {
	case "entry":
		key = at.LogKey(revID)
	case "rows":
		page, err := f.rows.Query(f.Context(), table.Query{Partition: at.SnapshotPK(revID)})
		require.NoError(f, err)
		require.NotEmpty(f, page.Items)
		require.NoError(f, f.rows.Delete(f.Context(), table.Delete{Key: page.Items[0].Key()}))
		return
	case "head":
		key, attr = at.HeadKey(), "headRevId"
	}
	_, err := f.rows.Update(f.Context(), table.Update{
		Key: key, Set: item.Item{attr: item.String("x")}, If: table.Exists(),
	})
	require.NoError(f, err)
}

// A history goes along without what is damaged in it, and can be put into another account.
func TestService_takesAHistoryAlongWithoutWhatIsDamaged(t *testing.T) {
	t.Parallel()
	tree, day := repository.Address{User: "ann"}, repository.Address{User: "ann", Date: "2026-03-02"}
	for name, c := range map[string]struct {
		at      repository.Address
		what    string
		of      []int  // of the revisions of the log
		oldest  int    // the revision from which on the history is unbroken; below 0 for all
		missing string // beside the revisions
	}{
		"the first tree":          {tree, "rows", []int{0}, 1, ""},
		"a tree between":          {tree, "rows", []int{1}, 2, ""},
		"two trees":               {tree, "rows", []int{0, 2}, 3, ""},
		"the newest tree":         {tree, "rows", []int{3}, -1, ""},
		"all trees":               {tree, "rows", []int{0, 1, 2, 3}, -1, ""},
		"an entry":                {tree, "entry", []int{1}, 2, ""},
		"the newest entry":        {tree, "entry", []int{3}, -1, ""},
		"the head":                {tree, "head", nil, -1, "values/head"},
		"the first plan":          {day, "rows", []int{0}, 1, ""},
		"the entry of a new plan": {day, "entry", []int{1}, -1, ""},
		"the head of a plan":      {day, "head", nil, -1, "plans/2026-03-02/head"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			here, there := newJobFixture(t), newFixture(t)
			here.live("ann")
			dir := "values/"
			if c.at.Date != "" {
				dir = "plans/" + c.at.Date + "/"
			}
			whole := unzip(t, here.fixture.export("ann"))
			ids, _ := logOf(t, whole, dir)
			want, left := map[string]bool{}, slices.Clone(ids)
			if c.missing != "" {
				here.spoil(c.at, c.what, "")
				want[c.missing] = true
			}
			for _, n := range c.of {
				here.spoil(c.at, c.what, ids[n])
				want[dir+ids[n]] = true
				left = slices.DeleteFunc(left, func(id string) bool { return id == ids[n] })
			}
			id := here.request("ann")
			require.NoError(t, here.newWorker().Run(t.Context()))
			require.Equal(t, transfer.Done, here.job("ann", id).State)
			file := here.file("ann", id)
			require.ElementsMatch(t, slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(missing(t, file))))
			files := unzip(t, file)
			got, newest := logOf(t, files, dir)
			require.Equal(t, left, got)
			if c.oldest >= 0 {
				require.Equal(t, ids[c.oldest], newest["oldestRevId"])
			} else {
				require.Empty(t, newest["oldestRevId"])
			}
			for _, id := range left {
				require.Equal(t, whole[dir+id+".ndjson"], files[dir+id+".ndjson"])
			}
			report, err := there.take("zoe", file)
			require.NoError(t, err)
			require.Equal(t, len(want), report.MissingTotal)
			require.Len(t, report.Missing, len(want))
			again, _ := logOf(t, unzip(t, there.export("zoe")), dir)
			require.Equal(t, left, again)
		})
	}
}

func TestService_tellsReadersTheTitlesOfActions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.live("ann")
	files := unzip(t, f.export("ann"))
	text := files["readable/plans/2026-03-03.md"]
	require.Contains(t, text, "] Run (")
	require.NotContains(t, text, "act_")
	tree := repository.Address{User: "ann"}
	ids, _ := logOf(t, files, "values/")
	for _, id := range ids {
		f.spoil(tree, "rows", id)
	}
	require.Contains(t, unzip(t, f.export("ann"))["readable/plans/2026-03-03.md"], "] an action without a title (")
}

// Files for readers and counts are checked, too, although nothing of them is written.
func TestImport_checksTheWholeManifest(t *testing.T) {
	t.Parallel()
	here := newFixture(t)
	here.live("ann")
	file := here.export("ann")
	genuine := unzip(t, file)
	entries := func(but string, text string) (out [][2]string) {
		for name, content := range genuine {
			if name == but {
				content = text
			}
			out = append(out, [2]string{name, content})
		}
		return out
	}
	const readable = "readable/values.md"
	isRefused(t, zipOf(t, entries(readable, genuine[readable]+"x")...), readable+": is not the file")
	isRefused(t, zipOf(t, append(entries("", ""), [2]string{"readable/more.md", "x"})...), "is not in the manifest")
	for _, forged := range []string{`"TASK": 9`, `"NOTE": 0`} {
		name, _, _ := strings.Cut(forged, ":")
		manifest := genuine["manifest.json"]
		at := strings.Index(manifest, name)
		end := at + strings.IndexAny(manifest[at:], ",\n")
		isRefused(t, zipOf(t, entries("manifest.json", manifest[:at]+forged+manifest[end:])...), "counts")
	}
}
