package recent

// ring holds the latest values, bounded in number and bytes: the oldest leaves first. The zero position is before the
// first value.
type ring[T any] struct {
	most, mostBytes int
	leaves          func(T) // is told of each value that leaves

	values []T
	first  uint64 // position of the first value
	sizes  []int
	bytes  int
}

func newRing[T any](most, mostBytes int, leaves func(T)) ring[T] {
	return ring[T]{most: most, mostBytes: mostBytes, leaves: leaves, first: 1}
}

// add appends a value and returns its position.
func (r *ring[T]) add(v T, size int) uint64 {
	r.values, r.sizes = append(r.values, v), append(r.sizes, size)
	r.bytes += size
	for len(r.values) > r.most || r.bytes > r.mostBytes && len(r.values) > 1 {
		r.drop()
	}
	return r.first + uint64(len(r.values)) - 1
}

func (r *ring[T]) drop() {
	var none T
	oldest := r.values[0]
	r.bytes -= r.sizes[0]
	r.values[0] = none
	r.values, r.sizes, r.first = r.values[1:], r.sizes[1:], r.first+1
	r.leaves(oldest)
}

// grow counts more bytes of the value at the position.
func (r *ring[T]) grow(position uint64, by int) {
	if position >= r.first {
		r.sizes[position-r.first] += by
		r.bytes += by
	}
}

// hasLost reports whether a value has left.
func (r *ring[T]) hasLost() bool { return r.first > 1 }
