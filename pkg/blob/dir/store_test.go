package dir_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/blob"
	"nexus/pkg/blob/blobtest"
	"nexus/pkg/blob/dir"
)

func setup(t *testing.T, directory string) *dir.Store {
	t.Helper()
	s, err := dir.New(directory)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestStore_conforms(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(t *testing.T) blob.Store { return setup(t, filepath.Join(t.TempDir(), "blobs")) })
}

func TestStore_keepsObjectsOverARestart(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	s := setup(t, directory)
	require.NoError(t, s.Put(t.Context(), "archive/User/1.json", []byte("kept")))
	require.NoError(t, s.Put(t.Context(), "archive/User/2.json", []byte("gone")))
	require.NoError(t, s.Delete(t.Context(), "archive/User/2.json"))
	require.NoError(t, s.Close())

	again := setup(t, directory)
	names, err := again.List(t.Context(), "", 10, "")
	require.NoError(t, err)
	require.Equal(t, []string{"archive/User/1.json"}, names)
	body, err := again.Get(t.Context(), "archive/User/1.json")
	require.NoError(t, err)
	require.Equal(t, "kept", string(body))
}

func TestNew_removesHalfWrittenBodies(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	s := setup(t, directory)
	require.NoError(t, s.Close())
	half := filepath.Join(directory, "staging", "1")
	require.NoError(t, os.WriteFile(half, []byte("ha"), 0o600))
	again := setup(t, directory)
	require.NoFileExists(t, half)
	require.NoError(t, again.Put(t.Context(), "a", []byte("whole")))
	left, err := os.ReadDir(filepath.Join(directory, "staging"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestList_skipsFilesOfOthers(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	s := setup(t, directory)
	require.NoError(t, s.Put(t.Context(), "a/b", nil))
	for _, file := range []string{"a+/B", "a+/x y", "a+/,", "c+", "a+/+", "a+/,9"} {
		require.NoError(t, os.WriteFile(filepath.Join(directory, "objects", file), nil, 0o600))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(directory, "objects", "plain", "x"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(directory, "objects", "plain", "y"), nil, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(directory, "objects", "a+", "folder"), 0o700))
	names, err := s.List(t.Context(), "", 10, "")
	require.NoError(t, err)
	require.Equal(t, []string{"a/b"}, names)
}

func TestStore_followsNoLinkOutside(t *testing.T) {
	t.Parallel()
	outside, directory := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600))
	s := setup(t, directory)
	require.NoError(t, os.Symlink(outside, filepath.Join(directory, "objects", "out+")))
	_, err := s.Get(t.Context(), "out/secret")
	require.ErrorIs(t, err, blob.ErrUnavailable)
	require.ErrorIs(t, s.Put(t.Context(), "out/new", nil), blob.ErrUnavailable)
	require.ErrorIs(t, s.Delete(t.Context(), "out/secret"), blob.ErrUnavailable)
	require.FileExists(t, filepath.Join(outside, "secret"))
	require.NoFileExists(t, filepath.Join(outside, "new"))
}

// folders returns the folders below that of the objects.
func folders(t *testing.T, directory string) (names []string) {
	t.Helper()
	root := filepath.Join(directory, "objects")
	require.NoError(t, filepath.WalkDir(root, func(file string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() && file != root {
			names = append(names, strings.TrimPrefix(file, root+string(filepath.Separator)))
		}
		return err
	}))
	return names
}

func TestDelete_removesTheFoldersThatItEmpties(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	s := setup(t, directory)
	for _, name := range []string{"archive/u/task_1/1.json", "archive/u/task_1/2.json", "archive/v/task_2/1.json", "a"} {
		require.NoError(t, s.Put(t.Context(), name, nil))
	}
	require.NoError(t, s.Delete(t.Context(), "archive/u/task_1/1.json"))
	require.Contains(t, folders(t, directory), filepath.Join("archive+", "u+", "task_1+"))
	require.NoError(t, s.Delete(t.Context(), "archive/u/task_1/2.json"))
	require.Equal(t, []string{"archive+", filepath.Join("archive+", "v+"), filepath.Join("archive+", "v+", "task_2+")},
		folders(t, directory))
	require.NoError(t, s.Delete(t.Context(), "archive/u/task_1/2.json"), "a missing one counts as removed")
	_, err := s.Purge(t.Context(), "archive/")
	require.NoError(t, err)
	require.NoError(t, s.Delete(t.Context(), "a"))
	require.Empty(t, folders(t, directory))
	require.NoError(t, s.Put(t.Context(), "archive/u/task_1/2.json", []byte("again")))
	body, err := s.Get(t.Context(), "archive/u/task_1/2.json")
	require.NoError(t, err)
	require.Equal(t, "again", string(body))
}

func TestNew_removesEmptyFolders(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	s := setup(t, directory)
	require.NoError(t, s.Put(t.Context(), "U/1/x", nil))
	require.NoError(t, s.Close())
	require.NoError(t, os.MkdirAll(filepath.Join(directory, "objects", "archive+", "u+", "task_1+"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(directory, "objects", ",u+", "2+"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(directory, "objects", "other"), 0o700))
	setup(t, directory)
	require.Equal(t, []string{",u+", filepath.Join(",u+", "1+"), "other"}, folders(t, directory))
}

// A deletion beside a Put removes no folder that the Put needs.
func TestDelete_leavesAFolderToAPutBesideIt(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	s := setup(t, directory)
	var workers sync.WaitGroup
	for w := range 4 {
		workers.Go(func() {
			for i := range 60 {
				name := fmt.Sprintf("archive/u/task_%d/%d.json", i%2, w)
				if err := s.Put(t.Context(), name, []byte("x")); err != nil {
					t.Errorf("put %s: %v", name, err)
				}
				if _, err := s.Get(t.Context(), name); err != nil {
					t.Errorf("get %s: %v", name, err)
				}
				if names, err := s.List(t.Context(), "archive/", 10, ""); err != nil || !slices.Contains(names, name) {
					t.Errorf("list %v without %s: %v", names, name, err)
				}
				if err := s.Delete(t.Context(), name); err != nil {
					t.Errorf("delete %s: %v", name, err)
				}
			}
		})
	}
	workers.Wait()
	require.Empty(t, folders(t, directory))
}

// childDir asks a copy of the test binary to put objects there until it is killed.
const childDir = "NEXUS_BLOB_TEST_DIR"

func TestMain(m *testing.M) {
	if directory := os.Getenv(childDir); directory != "" {
		putUntilKilled(directory)
	}
	os.Exit(m.Run())
}

// body returns the content of object i in its round: long enough to be seen torn.
func body(i, round int) []byte { return bytes.Repeat([]byte{byte('a' + (i+round)%26)}, 5000) }

// putUntilKilled prints each name when Put has returned. The bound ends a child that is never killed.
func putUntilKilled(directory string) {
	s, err := dir.New(directory)
	for round := 0; err == nil && round < 100_000; round++ {
		for i := 0; err == nil && i < 10; i++ {
			name := fmt.Sprintf("U/%d/x", i)
			if err = s.Put(context.Background(), name, body(i, round)); err == nil {
				fmt.Println(name)
			}
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func TestPut_survivesAKill(t *testing.T) {
	t.Parallel()
	const enough = 33
	directory := t.TempDir()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+directory)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	rounds, acknowledged := map[string]int{}, 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		rounds[strings.TrimSpace(lines.Text())]++
		if acknowledged++; acknowledged == enough {
			require.NoError(t, child.Process.Kill())
		}
	}
	_ = child.Wait() // killed
	require.GreaterOrEqual(t, acknowledged, enough)

	s := setup(t, directory)
	for i := range 10 {
		name := fmt.Sprintf("U/%d/x", i)
		got, err := s.Get(t.Context(), name)
		require.NoError(t, err)
		last := rounds[name] - 1
		require.True(t, bytes.Equal(got, body(i, last)) || bytes.Equal(got, body(i, last+1)), "%s is torn or old", name)
	}
}
