package entity

import "time"

// The first and the last year that an item may name.
const (
	MinYear = 1900
	MaxYear = 2199
)

// LastInstant returns the last whole second that an item may name.
func LastInstant() time.Time { return time.Date(MaxYear, time.December, 31, 23, 59, 59, 0, time.UTC) }

// Common puts a type's own fields between those that every entity has.
func Common(idAttr string, own ...Field) []Field {
	const others = 8 // a field is large, and a list that need not grow is made once
	fields := append(make([]Field, 0, len(own)+others),
		Field{Name: AttrType, Kind: Text, Origin: FromServer, Required: true, Doc: "The entity's type."},
		Field{
			Name: idAttr, Kind: Text, Origin: FromServer, Required: true,
			Doc: "The entity's id; a client may choose it on create, with a UUID behind the prefix.",
		},
	)
	fields = append(fields, own...)
	return append(fields,
		Field{
			Name: AttrVersion, Kind: Integer, Origin: FromServer, Required: true,
			Doc: "Grows by one with every change; the ETag.",
		},
		Field{
			Name: AttrEditVersion, Kind: Integer, Origin: Hidden, Min: 1,
			Doc: "The version that the last write of a user made, where the system has written since.",
		},
		Field{
			Name: AttrSystemVersion, Kind: Integer, Origin: Hidden, Min: 2,
			Doc: "The version that the last write of the system made; editVersion counts there alone.",
		},
		Field{Name: AttrCreatedAt, Kind: Instant, Origin: FromServer, Required: true, Doc: "When the entity was created."},
		Field{
			Name: AttrUpdatedAt, Kind: Instant, Origin: FromServer, Required: true, Doc: "When the entity was last changed.",
		},
		Field{
			Name: AttrTTL, Kind: Integer, Origin: FromServer,
			Doc: "Seconds since the epoch at which the entity leaves; its cold copy stays readable.",
		},
	)
}
