package consume

import (
	"context"
	"fmt"
	"runtime"

	"nexus/pkg/change"
)

// maxStackBytes bounds the part of a panic's stack in a parked object's reason and in the log.
const maxStackBytes = 2000

// panicError is a consumer's panic as an error.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.value, e.stack) }

// apply calls the consumer with the records. The error concerns the call as a whole: a panic, or outcomes that cannot
// be matched with the records.
func (d *batchRun) apply(ctx context.Context, wave []int) (outcomes []change.Outcome, err error) {
	changes := make([]change.Change, len(wave))
	for k, i := range wave {
		changes[k] = d.batch[i].Change
	}
	defer d.measure(wave)()
	defer func() {
		if value := recover(); value != nil {
			stack := make([]byte, maxStackBytes)
			outcomes, err = nil, &panicError{value, stack[:runtime.Stack(stack, false)]}
		}
	}()
	outcomes = d.consumer.Apply(ctx, changes)
	if len(outcomes) != len(changes) {
		return nil, fmt.Errorf("consumer %s: %d outcomes for %d changes", d.consumer.Name(), len(outcomes), len(changes))
	}
	return outcomes, nil
}
