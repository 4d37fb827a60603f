package e2e_test

import (
	"bytes"
	"context"
	"database/sql"
	bigendian "encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // the driver
)

// pageSize is that of the engine's file, and pointerSize that of the number of a page in it.
const (
	pageSize    = 4096
	pointerSize = 4
)

// withoutSplit returns the content of a file of SQLite without the names that begin with the prefix and of which the
// rest is on another page (SQLite, "Database File Format", 1.6: a cell ends with the number of its first overflow page,
// and an overflow page begins with that of the next). The content itself stays.
func withoutSplit(content []byte, name, prefix string) []byte {
	content = bytes.Clone(content)
	for kept := len(prefix); kept < len(name); kept++ {
		begin, rest := []byte(name[:kept]), []byte(name[kept:])
		for at := 0; ; {
			next := bytes.Index(content[at:], begin)
			if next < 0 {
				break
			}
			at += next
			end := at + kept
			if page := pageBehind(content, end); page != nil && bytes.HasPrefix(page, rest) {
				clear(content[at:end])
			}
			at = end
		}
	}
	return content
}

// pageBehind returns what stands on the page on which a value goes on that is split at the place; nil for none.
func pageBehind(content []byte, end int) []byte {
	pointer := end
	if end%pageSize == 0 { // the end of an overflow page
		pointer = end - pageSize
	}
	if pointer+pointerSize > len(content) {
		return nil
	}
	from := (int(bigendian.BigEndian.Uint32(content[pointer:]))-1)*pageSize + pointerSize
	if from < pointerSize || from > len(content) {
		return nil
	}
	return content[from:min(from+pageSize-pointerSize, len(content))]
}

func TestDev_searchesNamesThatItsEngineHasSplit(t *testing.T) {
	t.Parallel()
	const name, prefix = "kcefb8f46a1bf-2", "kcefb8f46a1bf"
	file := filepath.Join(t.TempDir(), "x.sqlite")
	db, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	run := func(statement string, args ...any) {
		t.Helper()
		_, err := db.ExecContext(context.Background(), statement, args...)
		require.NoError(t, err)
	}
	db.SetMaxOpenConns(1)
	run("CREATE TABLE t (v TEXT)")
	run("BEGIN")
	for length := range 2 * pageSize { // each place of the name in a row of three pages
		run("INSERT INTO t VALUES (?)", strings.Repeat("x", length)+name+strings.Repeat("y", 2*pageSize-length))
	}
	run("COMMIT")
	require.NoError(t, db.Close())
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	left := func(content []byte, what string) int {
		return bytes.Count(bytes.ReplaceAll(content, []byte(name), nil), []byte(what))
	}
	require.Positive(t, left(content, prefix), "some are split")
	require.Zero(t, left(withoutSplit(content, name, prefix), prefix))
	for _, own := range []string{prefix, prefix + "-", prefix + "x", prefix + "2"} {
		require.Equal(t, 1, left(withoutSplit(append(bytes.Clone(content), own...), name, prefix), own), own)
	}
}
