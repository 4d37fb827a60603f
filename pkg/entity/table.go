package entity

import (
	"nexus/pkg/item"
)

// Index names a secondary index of the table; the empty one is the table itself.
type Index string

const (
	Base       Index = ""
	YearView   Index = "GSI1-YearView"
	Recurrence Index = "GSI2-RecurrenceLookup"
	StateView  Index = "GSI3-TaskStatus"
	CrossLinks Index = "GSI4-CrossLinks"
)

// IndexSchema describes one index. KeysOnly indexes carry the key attributes alone, the others whole items.
type IndexSchema struct {
	Name     Index
	PK, SK   string
	KeysOnly bool
}

// TableSchema describes the table: what the local platform creates, what the infrastructure deploys, and what the
// memory adapter follows.
type TableSchema struct {
	Name       string
	PK, SK     string
	TTL        string
	StreamView string
	Indexes    []IndexSchema
}

// Schema is the one table of the product. Every key attribute is a string.
func Schema() TableSchema {
	return TableSchema{
		Name: "ProductivityData", PK: item.AttrPK, SK: item.AttrSK, TTL: AttrTTL, StreamView: "NEW_AND_OLD_IMAGES",
		Indexes: []IndexSchema{
			{Name: YearView, PK: item.AttrGSI1PK, SK: item.AttrGSI1SK},
			{Name: Recurrence, PK: item.AttrGSI2PK, SK: item.AttrGSI2SK},
			{Name: StateView, PK: item.AttrGSI3PK, SK: item.AttrGSI3SK},
			{Name: CrossLinks, PK: item.AttrGSI4PK, SK: item.AttrGSI4SK, KeysOnly: true},
		},
	}
}

// Index returns the description of an index; for [Base] the table's own keys.
func (s TableSchema) Index(name Index) (IndexSchema, bool) {
	if name == Base {
		return IndexSchema{PK: s.PK, SK: s.SK}, true
	}
	for _, index := range s.Indexes {
		if index.Name == name {
			return index, true
		}
	}
	return IndexSchema{}, false
}
