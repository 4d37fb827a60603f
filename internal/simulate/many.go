package simulate

import (
	"context"
	"sync"
	"sync/atomic"
)

// Plan is a number of histories to play.
type Plan struct {
	From       uint64 // the first seed
	Histories  int
	Steps      int   // of each
	Skip, Calm []int // concurrent histories
	Workers    int   // histories played side by side
	// Stop ends the play after that many violations; 0 plays on.
	Stop int
	// Progress receives the number of histories played so far. It must be safe for concurrent use.
	Progress func(played int)
}

// Tally summarises many histories.
type Tally struct {
	Histories  int
	Operations int64
	Happened   map[string]int // see [Result]
	Failed     []Result       // in the order of their seeds
}

// Play plays the histories of a plan, until ctx ends.
func Play(ctx context.Context, p Plan) Tally {
	var next, played, failed atomic.Int64
	tally := Tally{Happened: map[string]int{}}
	var mu sync.Mutex
	var wait sync.WaitGroup
	for range max(p.Workers, 1) {
		wait.Go(func() {
			var pool coroutinePool
			defer pool.close()
			for ctx.Err() == nil && (p.Stop == 0 || int(failed.Load()) < p.Stop) {
				i := next.Add(1) - 1
				if i >= int64(p.Histories) {
					return
				}
				r := pool.play(Spec{Seed: p.From + uint64(i), Steps: p.Steps, Skip: p.Skip, Calm: p.Calm}, false)
				mu.Lock()
				tally.Histories++
				tally.Operations += r.Operations
				for what, n := range r.Happened {
					tally.Happened[what] += n
				}
				if r.Violation != nil {
					failed.Add(1)
					tally.Failed = append(tally.Failed, r)
				}
				mu.Unlock()
				if p.Progress != nil {
					p.Progress(int(played.Add(1)))
				}
			}
		})
	}
	wait.Wait()
	sortBySeed(tally.Failed)
	return tally
}
