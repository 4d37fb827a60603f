package cost

// Comparison is one heading of the source document's estimate beside this bill's figure.
type Comparison struct {
	Heading string  `json:"heading"`
	Ours    float64 `json:"ours"` // before anything that is free of charge
	// Stated is the figure of the heading, Itemised the sum of the items below it: the document's headings add up to more
	// than its total of $39.42, and its items to less.
	Stated   float64 `json:"stated"`
	Itemised float64 `json:"itemised"`
}

// compare adds up the like-for-like lines under the headings of the source document, section 6. Reading a stream with
// functions is not billed.
func compare(table Part) []Comparison {
	out := []Comparison{
		{"reads", 0, 26.50, 0.50},
		{"writes", 0, 26.50, 3.75},
		{"streams", 0, 8.60, 0.30},
		{"storage", 0, 4.32, 3.50},
	}
	for _, l := range table.Lines {
		switch l.Price {
		case tableReads:
			out[0].Ours += l.Whole
		case tableWrites:
			out[1].Ours += l.Whole
		case tableStorage:
			out[3].Ours += l.Whole
		}
	}
	return out
}
