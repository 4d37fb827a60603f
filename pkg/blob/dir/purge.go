package dir

import (
	"context"
	"fmt"
	"strings"

	"nexus/pkg/blob"
)

// Purge implements the port: one Delete for each object, for a directory keeps no former version.
func (s *Store) Purge(ctx context.Context, name string) (removed int, err error) {
	if err := blob.CheckPurge(name); err != nil {
		return 0, fmt.Errorf("purge object %q: %w", name, err)
	}
	if !strings.HasSuffix(name, "/") {
		_, err := s.root.Lstat(encode(name))
		if err == nil {
			removed = 1
		}
		return removed, s.Delete(ctx, name)
	}
	for {
		names, err := s.List(ctx, name, blob.MaxList, "")
		if err != nil {
			return removed, fmt.Errorf("purge objects: %w", err)
		}
		for _, object := range names {
			if err := s.Delete(ctx, object); err != nil {
				return removed, fmt.Errorf("purge objects: %w", err)
			}
			removed++
		}
		if len(names) < blob.MaxList {
			return removed, nil
		}
	}
}
