package dir

import (
	"io/fs"
	"path"
	"slices"
)

// delete removes a file, if it is there, and the folders that are empty without it.
func (s *Store) delete(file string) error {
	s.folders.Lock()
	defer s.folders.Unlock()
	if err := s.remove(file); err != nil {
		return err
	}
	folder := path.Dir(file)
	for s.removeEmpty(folder) {
		folder = path.Dir(folder)
	}
	return s.sync(folder)
}

// removeEmpty removes a folder of objects, if it is empty, and reports whether it is gone. The caller holds folders
// alone.
func (s *Store) removeEmpty(folder string) bool {
	if folder == objects || s.remove(folder) != nil { // a folder with something in it is refused
		return false
	}
	s.mu.Lock()
	delete(s.synced, folder)
	s.mu.Unlock()
	return true
}

// tidy removes the empty folders that a crash or an earlier release left.
func (s *Store) tidy() error {
	var ours []string
	err := fs.WalkDir(s.root.FS(), objects, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if _, isOurs := decode(file, true); !isOurs {
			return fs.SkipDir
		}
		ours = append(ours, file)
		return nil
	})
	s.folders.Lock()
	defer s.folders.Unlock()
	for _, folder := range slices.Backward(ours) { // a folder comes before those in it
		s.removeEmpty(folder)
	}
	return err
}
