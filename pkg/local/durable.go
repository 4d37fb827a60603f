package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// writeDurably replaces the file in one step: after a crash it has the old content or the new, and once this has returned
// the new one.
func writeDurably(path string, content []byte) (err error) {
	dir, base := filepath.Split(path)
	file, err := os.CreateTemp(dir, base+".new-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(file.Name()))
		}
	}()
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	return syncDirectory(dir)
}

// syncDirectory makes a rename in the directory durable. The file is in its place then, so a temporary one is not left.
func syncDirectory(dir string) error {
	opened, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(opened.Sync(), opened.Close())
}
