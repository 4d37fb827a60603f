// Package dir is the object store of the local platform: one file for each object, below one directory.
//
// It promises what the port does: a body is on disk when Put returns, survives a SIGKILL, and replaces the former one
// in a single step. Nothing outside the directory can be reached, neither by a name nor through a symbolic link.
// A folder goes with the last object in it, because its name says as much as theirs: with the deletion or, if the
// process died in between, with the next start. One directory belongs to one store at a time.
package dir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"nexus/pkg/blob"
)

const (
	objects = "objects" // the objects, under their encoded names
	staging = "staging" // bodies being written
)

// Store is the adapter.
type Store struct {
	root   *os.Root
	staged atomic.Uint64 // numbers the files in staging

	// folders is held while a folder that is needed may be missing: shared by those who put something in one, alone by
	// those who remove empty ones.
	folders sync.RWMutex

	mu     sync.Mutex
	synced map[string]bool // folders whose own name is durable
}

var _ blob.Purger = (*Store)(nil)

// New opens or creates the directory. It removes bodies that a crash left half-written: no caller received a success
// for them. It also removes empty folders.
func New(directory string) (*Store, error) {
	s := &Store{synced: map[string]bool{}}
	if err := s.open(directory); err != nil {
		return nil, fmt.Errorf("open object directory %s: %w", directory, err)
	}
	return s, nil
}

func (s *Store) open(directory string) error {
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return err
	}
	if err := syncParent(directory); err != nil {
		return err
	}
	root, err := os.OpenRoot(directory)
	if err != nil {
		return err
	}
	s.root = root
	err = errors.Join(root.RemoveAll(staging), s.folder(staging), s.folder(objects), s.tidy())
	if err != nil {
		return errors.Join(err, root.Close())
	}
	return nil
}

// Close releases the directory.
func (s *Store) Close() error { return s.root.Close() }

// Put implements the port.
func (s *Store) Put(ctx context.Context, name string, body []byte) error {
	if err := errors.Join(blob.CheckName(name), blob.CheckBody(body)); err != nil {
		return fmt.Errorf("put object %q: %w", name, err)
	}
	err := ctx.Err()
	if err == nil {
		err = s.put(encode(name), body)
	}
	if err != nil {
		return fmt.Errorf("put object %q: %w: %w", name, blob.ErrUnavailable, err)
	}
	return nil
}

func (s *Store) put(file string, body []byte) error {
	temporary := path.Join(staging, strconv.FormatUint(s.staged.Add(1), 10))
	err := s.stage(temporary, func(out *os.File) error {
		_, err := out.Write(body)
		return err
	})
	if err != nil {
		return errors.Join(err, s.remove(temporary))
	}
	return s.place(temporary, file)
}

// place moves a staged body to its file, durably.
func (s *Store) place(temporary, file string) error {
	s.folders.RLock()
	defer s.folders.RUnlock()
	if err := s.folder(path.Dir(file)); err != nil {
		return errors.Join(err, s.remove(temporary))
	}
	if err := s.root.Rename(temporary, file); err != nil {
		return errors.Join(err, s.remove(temporary))
	}
	return s.sync(path.Dir(file))
}

// Get implements the port.
func (s *Store) Get(ctx context.Context, name string) ([]byte, error) {
	if err := blob.CheckName(name); err != nil {
		return nil, fmt.Errorf("get object %q: %w", name, err)
	}
	err := ctx.Err()
	var body []byte
	if err == nil {
		body, err = s.root.ReadFile(encode(name))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("get object %q: %w", name, blob.ErrNotFound)
	case err != nil:
		return nil, fmt.Errorf("get object %q: %w: %w", name, blob.ErrUnavailable, err)
	}
	return body, nil
}

// Delete implements the port.
func (s *Store) Delete(ctx context.Context, name string) error {
	if err := blob.CheckName(name); err != nil {
		return fmt.Errorf("delete object %q: %w", name, err)
	}
	err := ctx.Err()
	if err == nil {
		err = s.delete(encode(name))
	}
	if err != nil {
		return fmt.Errorf("delete object %q: %w: %w", name, blob.ErrUnavailable, err)
	}
	return nil
}

// List implements the port. It reads the folders that can hold an answer and sorts: their order is not that of the
// names.
func (s *Store) List(ctx context.Context, prefix string, limit int, after string) ([]string, error) {
	if err := blob.CheckList(prefix, limit, after); err != nil {
		return nil, fmt.Errorf("list objects %q: %w", prefix, err)
	}
	var names []string
	err := fs.WalkDir(s.root.FS(), objects, func(file string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && file != objects {
			err = nil // a folder that has become empty since
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		name, ours := decode(file, entry.IsDir())
		switch {
		case entry.IsDir() && !(ours && mayHold(name, prefix, after)):
			return fs.SkipDir
		case ours && entry.Type().IsRegular() && strings.HasPrefix(name, prefix) && name > after:
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list objects %q: %w: %w", prefix, blob.ErrUnavailable, err)
	}
	slices.Sort(names)
	return names[:min(limit, len(names))], nil
}

// mayHold reports whether a folder can contain names that begin with the prefix and are greater than after. The
// folder's decoded name ends with a slash, or is empty for the topmost.
func mayHold(folder, prefix, after string) bool {
	if !strings.HasPrefix(folder, prefix) && !strings.HasPrefix(prefix, folder) {
		return false
	}
	return folder > after || strings.HasPrefix(after, folder)
}

// stage writes a body into a new file, durably.
func (s *Store) stage(file string, fill func(*os.File) error) error {
	out, err := s.root.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err = fill(out); err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

func (s *Store) remove(file string) error {
	if err := s.root.Remove(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// folder makes a folder and those above it, each durable before it is used.
func (s *Store) folder(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	made := "."
	for segment := range strings.SplitSeq(name, "/") {
		above := made
		made = path.Join(made, segment)
		if s.synced[made] {
			continue
		}
		if err := s.root.Mkdir(made, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := s.sync(above); err != nil {
			return err
		}
		s.synced[made] = true
	}
	return nil
}

// sync makes the names in a folder durable. Windows cannot open a folder for that; NTFS journals its names, so it is
// needed less.
func (s *Store) sync(folder string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	file, err := s.root.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// syncParent does so for the parent of the store's folder.
func syncParent(directory string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	file, err := os.Open(filepath.Dir(directory))
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
