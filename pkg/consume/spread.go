package consume

import "sync"

// SideBySide runs the tasks in goroutines of which at most width are under way, and returns when all have ended. A task
// must not panic.
func SideBySide(width int, tasks []func()) {
	var running sync.WaitGroup
	places := make(chan struct{}, width)
	for _, task := range tasks {
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			task()
		})
	}
	running.Wait()
}

// InTurn runs the tasks one after another: for runs that must be repeatable to the step. A task that hangs then costs
// the later ones their time.
func InTurn(_ int, tasks []func()) {
	for _, task := range tasks {
		task()
	}
}
