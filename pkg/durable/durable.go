// Package durable writes files and names of files so that they survive a crash of the machine.
//
// It promises that a function's writes are durable once it has returned without an error.
package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// WriteFile replaces a file in one step: after a crash it has the old content or the new.
func WriteFile(path string, content []byte) (err error) {
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
	return SyncDir(dir)
}

// SyncDir makes the names in a directory durable. Windows cannot open a directory for that; NTFS journals its names,
// so it is needed less.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// ReadOrWrite returns the content of a file. Without one it writes what is made, for the file's owner alone. It never
// replaces a file that cannot be read.
func ReadOrWrite(path string, make func() ([]byte, error)) ([]byte, error) {
	content, err := os.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return content, err
	}
	if content, err = make(); err != nil {
		return nil, err
	}
	return content, WriteFile(path, content)
}
