package table

import "nexus/pkg/entity"

// Usage is what one call to the store consumed. One call is one round trip, retries inside the SDK included.
type Usage struct {
	Op         string // the port's operation: Get, BatchGet, Query, Count, Put, Update, Delete, Transact, Load, Walk
	Rows       int    // rows read, or actions written
	ReadUnits  float64
	WriteUnits float64
	// IndexWriteUnits is the part of WriteUnits that went to each secondary index.
	IndexWriteUnits map[entity.Index]float64
}

// Observer is told of every call an adapter made. It must be safe for concurrent use and return at once.
type Observer func(Usage)
