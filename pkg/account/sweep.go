package account

import (
	"context"
	"fmt"
)

// again makes passes over an account that is ERASED until one has found nothing. The row does not move.
func (w *worker) again(ctx context.Context) error {
	for found := 1; found > 0; {
		found = 0
		for step := 1; step <= lastStep; step++ {
			n, err := w.do(ctx, step)
			if found += n; err != nil {
				return fmt.Errorf("step %d of the erasure: %w", step, err)
			}
		}
	}
	return nil
}

// Sweep erases what there is of a user whose account is ERASED, and nothing of any other.
func (e *Eraser) Sweep(ctx context.Context, user string) error {
	name := e.Pepper.Erasure(user)
	is, err := findRow(ctx, e.Store, name, e.Now())
	if err != nil || is.state != Erased {
		return err
	}
	w := &worker{Eraser: e, row: row{name: name, user: user, state: Erased}, id: e.NewID(), isAgain: true}
	return w.again(ctx)
}
