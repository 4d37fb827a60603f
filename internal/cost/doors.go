package cost

import (
	"strings"

	"nexus/pkg/changes"
)

// Door is the whole bill by one value of the setting door.
type Door struct {
	Door string `json:"door"`
	// Whole and Cost are before and after deducting what is free of charge. Alone is Whole without the lines of what
	// keeps devices in step: change logs and live hints.
	Whole float64 `json:"whole"`
	Cost  float64 `json:"cost"`
	Alone float64 `json:"alone"`
}

// doors returns the bills of a stage that the HTTP API serves, and of one whose apps reach the functions directly; none
// for a stage with an edge, which has one door.
func (b biller) doors() []Door {
	if b.when.Edge {
		return nil
	}
	out := []Door{{Door: "gateway"}, {Door: "direct"}}
	for i := range out {
		b.direct = out[i].Door == "direct"
		bill := b.bill()
		out[i].Cost, out[i].Whole = bill.Cost()
		out[i].Alone = out[i].Whole
		for _, part := range bill.Parts() {
			for _, l := range part.Lines {
				if strings.HasPrefix(l.What, changes.Name+" ") || strings.HasPrefix(l.What, "live hints") {
					out[i].Alone -= l.Whole
				}
			}
		}
	}
	return out
}
