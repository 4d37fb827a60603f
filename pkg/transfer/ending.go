package transfer

import (
	"context"
	"fmt"
	"strings"

	"nexus/pkg/blob"
)

// EndFiles removes the objects of jobs whose files have ended, and of those that have no row any more. It returns their
// number. It is for a store of objects without rules that end them.
func (w *Worker) EndFiles(ctx context.Context) (removed int, err error) {
	ended := ""
	for after := ""; ; {
		names, err := w.Objects.List(ctx, ExportsPrefix, blob.MaxList, after)
		if err != nil {
			return removed, fmt.Errorf("list the files of exports: %w", err)
		}
		for _, name := range names {
			after = name
			user, rest, _ := strings.Cut(strings.TrimPrefix(name, ExportsPrefix), "/")
			id, _, ok := strings.Cut(rest, "/")
			if !ok || folder(user, id) == ended {
				continue
			}
			r, err := findJob(ctx, w.Store, user, id, w.Now())
			if err == nil && (r == nil || r.State == Done && !r.HasFile(w.Now())) {
				n := 0
				n, err = w.Objects.Purge(ctx, folder(user, id))
				removed += n
			}
			if err != nil {
				return removed, fmt.Errorf("end the file of export %s: %w", id, err)
			}
			ended = folder(user, id)
		}
		if len(names) < blob.MaxList {
			return removed, nil
		}
	}
}
