package product

import (
	"nexus/pkg/entity"
	"nexus/pkg/item"
)

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
	titleField = entity.Field{
		Name: entity.AttrTitle, Kind: entity.Text, Required: true, Min: 1, Max: maxTitle, Doc: "One line.",
	}
	descriptionField = entity.Field{
		Name: "description", Kind: entity.Markdown, Max: maxDescription, Doc: "Markdown, at most 10 KB.",
	}
	tagsField = entity.Field{
		Name: entity.AttrTags, Kind: entity.Tags, Max: maxTags, MemberMin: 1, MemberMax: maxTag,
		Doc: "Labels of the user's own.",
	}
	colorField = entity.Field{
		Name: "color", Kind: entity.Color, Doc: "A palette name or #rrggbb; stored as #rrggbb in lower case.",
	}
	linksField = entity.Field{
		Name: entity.AttrLinks, Kind: entity.Links, Max: maxLinks,
		Doc: "Other entities of the user that this one refers to, one link for each target.",
	}
	minutesField = entity.Field{
		Name: AttrReminderMinutes, Kind: entity.Minutes, Max: maxOffsets, MemberMax: maxOffset,
		Doc: "Minutes before the time at which to remind.",
	}
	dueSetAtField = entity.Field{
		Name: AttrDueSetAt, Kind: entity.Instant, Origin: entity.Hidden,
		Doc: "When a command last changed a due instant or revived the entity.",
	}
	keptField = entity.Field{
		Name: AttrKept, Kind: entity.Text, Origin: entity.Hidden, Doc: "Digest of what lies beside the item in its KEPT row.",
	}
	stampField = entity.Field{
		Name: AttrStamp, Kind: entity.Instant, Origin: entity.Hidden,
		Doc: "When another calendar wrote what it says, if no client changed it since.",
	}
	restoredAtField = entity.Field{
		Name: entity.AttrRestoredAt, Kind: entity.Instant, Origin: entity.FromServer,
		Doc: "When the entity came back from its cold copy; until its status changes it is not archived again.",
	}
)

func enumField(name, fallback string, values ...string) entity.Field {
	return entity.Field{
		Name: name, Kind: entity.Enum, Required: true, Default: item.String(fallback), Enum: values,
		Doc: "The entity's state.",
	}
}
