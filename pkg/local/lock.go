package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// ErrInUse says that another live process has the data directory.
var ErrInUse = errors.New("data directory in use")

// directoryLock is the right to write the data directory; the system releases it when its holder dies.
type directoryLock struct{ file *os.File }

func lockDirectory(dir string) (*directoryLock, error) {
	file, err := os.OpenFile(filepath.Join(dir, "platform.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("%w: %s belongs to another process", ErrInUse, dir)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &directoryLock{file}, nil
}

// release unlocks by name: a child that is just being started still holds copies of every open file.
func (l *directoryLock) release() error {
	return errors.Join(syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN), l.file.Close())
}
