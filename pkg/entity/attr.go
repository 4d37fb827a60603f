package entity

// Names of the attributes that every entity has, or that generic code speaks of.
const (
	AttrType    = "entityType"
	AttrVersion = "version"
	// AttrEditVersion is the version that the last write of a user made; absent where it is version: see [EditVersion].
	AttrEditVersion = "editVersion"
	// AttrSystemVersion is the version that the system's last write made: AttrEditVersion counts at that version alone.
	AttrSystemVersion = "systemVersion"
	AttrCreatedAt     = "createdAt"
	AttrUpdatedAt     = "updatedAt"
	// AttrTTL holds seconds since the epoch; past it an item is gone for every reader, swept or not.
	AttrTTL        = "ttl"
	AttrStatus     = "status"
	AttrTitle      = "title"
	AttrTags       = "tags"
	AttrLinks      = "links"
	AttrRestoredAt = "restoredAt"
)

// Names of the entity types that have keys of their own.
const (
	TypeMaster   = "MASTER"
	TypeInstance = "INSTANCE"
	TypeUserMeta = "USER_META"
)
