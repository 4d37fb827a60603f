package revision

import "slices"

// LongestRising marks the places, all different, that belong to a longest rising run. Given children in their present
// order with their former places, it marks those that have kept their order.
func LongestRising(places []int) []bool {
	var tails, tailAt []int // of the runs found so far, by their length
	before := make([]int, len(places))
	for i, place := range places {
		at, _ := slices.BinarySearch(tails, place)
		before[i] = -1
		if at > 0 {
			before[i] = tailAt[at-1]
		}
		if at == len(tails) {
			tails, tailAt = append(tails, place), append(tailAt, i)
		} else {
			tails[at], tailAt[at] = place, i
		}
	}
	kept := make([]bool, len(places))
	if len(tailAt) > 0 {
		for i := tailAt[len(tailAt)-1]; i >= 0; i = before[i] {
			kept[i] = true
		}
	}
	return kept
}
