package change_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

var rewrite = flag.Bool("rewrite", false, "write the golden outcomes again")

func TestInterpret_givesEachFixtureRecordItsKnownOutcome(t *testing.T) {
	t.Parallel()
	const folder = "../../testdata/streams"
	files, err := filepath.Glob(filepath.Join(folder, "*.ndjson"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var got strings.Builder
	for _, file := range files {
		body, err := os.ReadFile(file)
		require.NoError(t, err)
		lines := bytes.Split(bytes.TrimSuffix(body, []byte("\n")), []byte("\n"))
		payload := append([]byte(`{"Records":[`), bytes.Join(lines, []byte(","))...)
		decoded, err := change.Decode(append(payload, `]}`...), product.Registry())
		require.NoError(t, err, file)
		require.Len(t, decoded, len(lines), file)
		for i, d := range decoded {
			require.Equal(t, string(lines[i]), string(d.Raw))
			fmt.Fprintf(&got, "%s:%d %s\n", filepath.Base(file), i+1, outcome(d))
		}
	}
	golden := filepath.Join(folder, "outcomes.golden")
	if *rewrite {
		require.NoError(t, os.WriteFile(golden, []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), got.String())
}

func TestAppendEvent_writesFixturesAsTheyWereCaptured(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"kinds", "series"} {
		body, err := os.ReadFile("../../testdata/streams/" + name + ".ndjson")
		require.NoError(t, err)
		for line := range bytes.Lines(body) {
			line = bytes.TrimSpace(line)
			rec, err := change.Parse(line)
			require.NoError(t, err)
			require.Equal(t, string(line), string(change.AppendRecord(nil, rec)))
		}
	}
}

func outcome(d change.Decoded) string {
	if d.Err != nil {
		return d.Err.Error()
	}
	c := d.Change
	if c.Type == nil {
		return fmt.Sprintf("%s %s at %s", c.Kind, c.Key.SK, item.FormatInstant(c.Created))
	}
	return fmt.Sprintf("%s %s version %d at %s, %d and %d attributes",
		c.Kind, c.Ref, c.Version, item.FormatInstant(c.Created), len(c.Old), len(c.New))
}
