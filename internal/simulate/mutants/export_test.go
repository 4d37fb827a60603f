package mutants

import "time"

// SetPatience bounds each run of a program that was built.
func (t *Together) SetPatience(patience time.Duration) { t.hunter.Patience = patience }
