package entity

import "nexus/pkg/item"

// The bounds of docs/data-model.md that several types share.
const (
	maxTitle       = 500
	maxDescription = 10 << 10
	maxLocation    = 500
	maxNoteBody    = 32 << 10
	maxTags        = 50
	maxTag         = 64
	maxOffsets     = 10
	maxOffset      = 40320 // four weeks in minutes
	maxLinks       = 49
)

var (
	titleField       = Field{Name: AttrTitle, Kind: Text, Required: true, Min: 1, Max: maxTitle, Doc: "One line."}
	descriptionField = Field{Name: "description", Kind: Markdown, Max: maxDescription, Doc: "Markdown, at most 10 KB."}
	tagsField        = Field{Name: AttrTags, Kind: Tags, Max: maxTags, MemberMin: 1, MemberMax: maxTag, Doc: "Labels of the user's own."}
	colorField       = Field{Name: "color", Kind: Color, Doc: "A palette name or #rrggbb; stored as #rrggbb in lower case."}
	linksField       = Field{Name: AttrLinks, Kind: Links, Max: maxLinks, Doc: "Other entities of the user that this one refers to, one link for each target."}
	minutesField     = Field{Name: AttrReminderMinutes, Kind: Minutes, Max: maxOffsets, MemberMax: maxOffset, Doc: "Minutes before the time at which to remind."}
	dueSetAtField    = Field{Name: AttrDueSetAt, Kind: Instant, Origin: Hidden, Doc: "When a command last changed a due instant or revived the entity."}
	keptField        = Field{Name: AttrKept, Kind: Text, Origin: Hidden, Doc: "Digest of what lies beside the item in its KEPT row."}
	stampField       = Field{Name: AttrStamp, Kind: Instant, Origin: Hidden, Doc: "When another calendar wrote what it says, if no client changed it since."}
	restoredAtField  = Field{Name: AttrRestoredAt, Kind: Instant, Origin: FromServer, Doc: "When the entity came back from its cold copy; until its status changes it is not archived again."}
)

func enumField(name, fallback string, values ...string) Field {
	return Field{Name: name, Kind: Enum, Required: true, Default: item.String(fallback), Enum: values, Doc: "The entity's state."}
}
