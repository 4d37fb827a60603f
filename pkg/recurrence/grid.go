package recurrence

import "math/bits"

// grid is a set of times of day, in order: every combination of its hours, minutes and seconds. It is never written
// out; times are reached by their index and counted by arithmetic.
type grid struct {
	hours            uint32
	minutes          uint64
	seconds          uint64
	hour             [24]uint8
	minute           [60]uint8
	second           [60]uint8
	inHour, inMinute int // how many times an hour, a minute of the set has
	size             int
}

func newGrid(hours uint32, minutes, seconds uint64) grid {
	g := grid{hours: hours, minutes: minutes, seconds: seconds}
	g.inMinute = list(g.second[:], seconds)
	g.inHour = g.inMinute * list(g.minute[:], minutes)
	g.size = g.inHour * list(g.hour[:], uint64(hours))
	return g
}

// list writes the numbers of the bits that are set, and returns how many they are.
func list(numbers []uint8, set uint64) int {
	n := 0
	for ; set != 0; set &= set - 1 {
		numbers[n] = uint8(bits.TrailingZeros64(set))
		n++
	}
	return n
}

// at returns the time of an index, in seconds of the day.
func (g *grid) at(i int) int64 {
	return int64(g.hour[i/g.inHour])*3600 + int64(g.minute[i%g.inHour/g.inMinute])*60 + int64(g.second[i%g.inMinute])
}

// below returns how many times lie before a second of the day: the index of the first that does not.
func (g *grid) below(second int64) int {
	if second >= daySeconds {
		return g.size
	}
	hour, minute, ofMinute := second/3600, second/60%60, second%60
	n := bits.OnesCount32(g.hours&(1<<hour-1)) * g.inHour
	if g.hours>>hour&1 == 0 {
		return n
	}
	n += bits.OnesCount64(g.minutes&(1<<minute-1)) * g.inMinute
	if g.minutes>>minute&1 == 0 {
		return n
	}
	return n + bits.OnesCount64(g.seconds&(1<<ofMinute-1))
}
