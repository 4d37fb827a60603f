// Package memory is an object store in memory for the simulation and for tests of the code above the port. It promises
// what the port does, except that nothing outlives the process, and allows faults to be injected around every call.
package memory

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"nexus/pkg/blob"
)

// Fault is called before (after is false) and after each call. Its error ends the call, or replaces its success. The
// operations are "put", "get", "delete", "list", "purge", "write" and "open", the name the object's, the folder's or
// the prefix.
type Fault func(op, name string, after bool) error

// Store is the adapter.
type Store struct {
	fault Fault

	mu      sync.Mutex
	objects map[string][]byte
}

var _ blob.Streamer = (*Store)(nil)

// New returns an empty store. A nil fault injects nothing.
func New(fault Fault) *Store {
	if fault == nil {
		fault = func(string, string, bool) error { return nil }
	}
	return &Store{fault: fault, objects: map[string][]byte{}}
}

// Put implements the port.
func (s *Store) Put(ctx context.Context, name string, body []byte) error {
	if err := blob.CheckBody(body); err != nil {
		return fmt.Errorf("put object %q: %w", name, err)
	}
	return s.do(ctx, "put", name, blob.CheckName(name), func() error {
		s.objects[name] = bytes.Clone(body)
		return nil
	})
}

// Get implements the port.
func (s *Store) Get(ctx context.Context, name string) (body []byte, err error) {
	err = s.do(ctx, "get", name, blob.CheckName(name), func() error {
		found, exists := s.objects[name]
		if !exists {
			return blob.ErrNotFound
		}
		body = bytes.Clone(found)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return body, nil
}

// Delete implements the port.
func (s *Store) Delete(ctx context.Context, name string) error {
	return s.do(ctx, "delete", name, blob.CheckName(name), func() error {
		delete(s.objects, name)
		return nil
	})
}

// List implements the port.
func (s *Store) List(ctx context.Context, prefix string, limit int, after string) (names []string, err error) {
	err = s.do(ctx, "list", prefix, blob.CheckList(prefix, limit, after), func() error {
		for name := range s.objects {
			if strings.HasPrefix(name, prefix) && name > after {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		names = names[:min(limit, len(names))]
		return nil
	})
	if err != nil {
		return nil, err
	}
	return names, nil
}

// Purge implements the port. A store in memory has no former versions.
func (s *Store) Purge(ctx context.Context, name string) (removed int, err error) {
	err = s.do(ctx, "purge", name, blob.CheckPurge(name), func() error {
		before := len(s.objects)
		maps.DeleteFunc(s.objects, func(object string, _ []byte) bool { return blob.InPurge(name, object) })
		removed = before - len(s.objects)
		return nil
	})
	return removed, err
}

// Write implements the port.
func (s *Store) Write(ctx context.Context, name string, fill func(io.Writer) error) error {
	var body bytes.Buffer
	if err := blob.CheckName(name); err != nil {
		return fmt.Errorf("write object %q: %w", name, err)
	}
	if err := fill(&body); err != nil {
		return err
	}
	return s.do(ctx, "write", name, nil, func() error {
		s.objects[name] = body.Bytes()
		return nil
	})
}

// Open implements the port.
func (s *Store) Open(ctx context.Context, name string) (in io.ReadCloser, err error) {
	err = s.do(ctx, "open", name, blob.CheckName(name), func() error {
		found, exists := s.objects[name]
		if !exists {
			return blob.ErrNotFound
		}
		in = io.NopCloser(bytes.NewReader(found)) // bodies are replaced, never changed
		return nil
	})
	if err != nil {
		return nil, err
	}
	return in, nil
}

// do runs one call under the lock, between two calls of the fault hook.
func (s *Store) do(ctx context.Context, op, name string, invalid error, call func() error) error {
	if invalid != nil {
		return fmt.Errorf("%s object %q: %w", op, name, invalid)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s object %q: %w: %w", op, name, blob.ErrUnavailable, err)
	}
	if err := s.fault(op, name, false); err != nil {
		return fmt.Errorf("%s object %q: %w", op, name, err)
	}
	s.mu.Lock()
	err := call()
	s.mu.Unlock()
	if err == nil {
		err = s.fault(op, name, true)
	}
	if err != nil {
		return fmt.Errorf("%s object %q: %w", op, name, err)
	}
	return nil
}
