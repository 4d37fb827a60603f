package entity

// Names of the attributes that every entity has or that generic code uses.
const (
	AttrType    = "entityType"
	AttrVersion = "version"
	// AttrEditVersion is the version that a user's last write made. It is absent if that is the present version: see
	// [EditVersion].
	AttrEditVersion = "editVersion"
	// AttrSystemVersion is the version that the system's last write made. AttrEditVersion is valid at that version only.
	AttrSystemVersion = "systemVersion"
	AttrCreatedAt     = "createdAt"
	AttrUpdatedAt     = "updatedAt"
	// AttrTTL holds seconds since the epoch. After that time no reader sees the item, swept or not.
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
