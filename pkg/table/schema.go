package table

import (
	"nexus/pkg/entity"
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

// Schema describes a table: what the local platform creates, what the infrastructure deploys, and what the memory
// adapter follows. TTL and Tags name the attributes of the expiry and of the filter by tags.
type Schema struct {
	Name       string
	PK, SK     string
	TTL, Tags  string
	StreamView string
	Indexes    []IndexSchema
}

// ProductSchema describes the one table of the product. Every key attribute is a string.
func ProductSchema() Schema {
	return Schema{
		Name: "ProductivityData", PK: item.AttrPK, SK: item.AttrSK, TTL: entity.AttrTTL, Tags: entity.AttrTags,
		StreamView: "NEW_AND_OLD_IMAGES",
		Indexes: []IndexSchema{
			{Name: YearView, PK: item.AttrGSI1PK, SK: item.AttrGSI1SK},
			{Name: Recurrence, PK: item.AttrGSI2PK, SK: item.AttrGSI2SK},
			{Name: StateView, PK: item.AttrGSI3PK, SK: item.AttrGSI3SK},
			{Name: CrossLinks, PK: item.AttrGSI4PK, SK: item.AttrGSI4SK, KeysOnly: true},
		},
	}
}

// Index returns the description of an index; for [Base] the table's own keys.
func (s Schema) Index(name Index) (IndexSchema, bool) {
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
