package recurrence

import "math/bits"

// BYSETPOS picks members of one period's set by their position in it, from 1, or from the end. A set is days times
// times of day, in order; with T times a day, the member at index i lies on the day of rank i/T.

// hits reports whether the member at the index, from 0, of a set of that size is picked.
func (r *Rule) hits(index, size int) bool {
	return r.positions.has(index+1) || r.positionsBack.has(size-index)
}

// pickDays reduces the days of a period, which may be in several masks, to those of which at least one time is picked.
func (r *Rule) pickDays(masks []uint32, times int) {
	days := 0
	for _, mask := range masks {
		days += bits.OnesCount32(mask)
	}
	size := days * times
	var kept ordinals // ranks of days, from 1
	for n := range r.positions.upTo(size) {
		kept.add((n-1)/times + 1)
	}
	for n := range r.positionsBack.upTo(size) {
		kept.add((size-n)/times + 1)
	}
	rank := 1
	for i, mask := range masks {
		for rest := mask; rest != 0; rest &= rest - 1 {
			if !kept.has(rank) {
				mask &^= rest & -rest
			}
			rank++
		}
		masks[i] = mask
	}
}

// upTo yields the members that are at most limit.
func (o *ordinals) upTo(limit int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i, word := range o {
			for ; word != 0; word &= word - 1 {
				if n := i*64 + bits.TrailingZeros64(word) + 1; n > limit || !yield(n) {
					return
				}
			}
		}
	}
}

// picked yields the picked indexes of a set of that size, in order, from one index up to another. Only a bounded
// number from either end can be picked: no position is beyond 366.
func (r *Rule) picked(from, end, size int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := from; i < end; i++ {
			if back := size - 366; i >= 366 && i < back {
				i = back
				if i >= end {
					return
				}
			}
			if r.hits(i, size) && !yield(i) {
				return
			}
		}
	}
}

// pickedBack does it from the end.
func (r *Rule) pickedBack(from, end, size int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := end - 1; i >= from; i-- {
			if back := size - 366; i >= 366 && i < back {
				if i = 365; i < from {
					return
				}
			}
			if r.hits(i, size) && !yield(i) {
				return
			}
		}
	}
}
