package dir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"

	"nexus/pkg/blob"
)

var _ blob.Streamer = (*Store)(nil)

// Write implements the port. What it has not finished is in the staging folder, which a start empties.
func (s *Store) Write(ctx context.Context, name string, fill func(io.Writer) error) error {
	if err := blob.CheckName(name); err != nil {
		return fmt.Errorf("write object %q: %w", name, err)
	}
	temporary := path.Join(staging, strconv.FormatUint(s.staged.Add(1), 10))
	var filled error
	err := s.stage(temporary, func(out *os.File) error {
		filled = fill(writer{ctx, out})
		return filled
	})
	if err == nil {
		if err = ctx.Err(); err == nil {
			return s.adopt(name, temporary)
		}
	}
	if filled != nil && ctx.Err() == nil {
		return errors.Join(filled, s.remove(temporary))
	}
	return errors.Join(fmt.Errorf("write object %q: %w: %w", name, blob.ErrUnavailable, err), s.remove(temporary))
}

// adopt gives a staged body its name.
func (s *Store) adopt(name, temporary string) error {
	if err := s.place(temporary, encode(name)); err != nil {
		return fmt.Errorf("write object %q: %w: %w", name, blob.ErrUnavailable, err)
	}
	return nil
}

// Open implements the port.
func (s *Store) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	if err := blob.CheckName(name); err != nil {
		return nil, fmt.Errorf("open object %q: %w", name, err)
	}
	err := ctx.Err()
	var file *os.File
	if err == nil {
		file, err = s.root.Open(encode(name))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("open object %q: %w", name, blob.ErrNotFound)
	case err != nil:
		return nil, fmt.Errorf("open object %q: %w: %w", name, blob.ErrUnavailable, err)
	}
	return file, nil
}

// writer ends with its context.
type writer struct {
	ctx context.Context
	to  io.Writer
}

func (w writer) Write(text []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.to.Write(text)
}
