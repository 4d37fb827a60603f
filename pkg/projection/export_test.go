package projection

// SetBatch has a repair stage rows as soon as there are so many.
func (h *Hold) SetBatch(rows int) { h.batch = rows }
