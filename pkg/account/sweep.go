package account

import (
	"context"
	"fmt"
)

// again makes passes over an account that is ERASED until one has found nothing. The row does not move.
func (w *worker) again(ctx context.Context) error {
	for w.found = 1; w.found > 0; {
		w.found, w.pass = 0, w.pass+1
		for step := 1; step <= lastStep; step++ {
			found, err := w.do(ctx, step)
			w.count(found)
			if err != nil {
				return fmt.Errorf("step %d of the erasure: %w", step, err)
			}
		}
	}
	if w.removed > 0 {
		w.outcome().log(ctx, w.Log)
	}
	return nil
}

// Sweep erases what there is of a user whose account is ERASED, and nothing of any other.
func (e *Eraser) Sweep(ctx context.Context, user string) error {
	_, err := e.sweep(ctx, user, nil)
	return err
}

func (e *Eraser) sweep(ctx context.Context, user string, strays []string) (Erasure, error) {
	name := e.Pepper.Erasure(user)
	is, err := findRow(ctx, e.Store, name, e.Now())
	if err != nil || is.state != Erased {
		return Erasure{}, err
	}
	w := &worker{
		Eraser: e, row: row{name: name, user: user, state: Erased}, id: e.NewID(), isAgain: true, strays: strays,
	}
	err = w.again(ctx)
	return w.outcome(), err
}
