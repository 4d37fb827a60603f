package cost

import (
	"container/heap"
	"context"
	"time"
)

// agenda holds the remaining steps of the replay, by instant; at one instant in the order in which they were planned.
type agenda struct {
	items planned
	made  int
}

type step struct {
	at    time.Time
	order int
	do    func(context.Context, *world) error
}

func (a *agenda) put(at time.Time, do func(context.Context, *world) error) {
	heap.Push(&a.items, step{at, a.made, do})
	a.made++
}

// next takes the first step that is due by the instant.
func (a *agenda) next(by time.Time) (step, bool) {
	if len(a.items) == 0 || a.items[0].at.After(by) {
		return step{}, false
	}
	return heap.Pop(&a.items).(step), true
}

type planned []step

func (p planned) Len() int      { return len(p) }
func (p planned) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p planned) Less(i, j int) bool {
	if !p[i].at.Equal(p[j].at) {
		return p[i].at.Before(p[j].at)
	}
	return p[i].order < p[j].order
}
func (p *planned) Push(x any) { *p = append(*p, x.(step)) }
func (p *planned) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}
