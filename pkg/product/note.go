package product

import (
	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// StatusActive is the state of a NOTE that is not ARCHIVED.
const StatusActive = "ACTIVE"

// Note is the type of a note.
func Note() *entity.Type {
	return &entity.Type{
		Name: TypeNote, IDAttr: "noteId", IDPrefix: "note", Plural: "notes",
		Fields: entity.Common("noteId",
			titleField,
			entity.Field{Name: AttrBody, Kind: entity.Markdown, Max: maxNoteBody, Doc: "Markdown, at most 32 KB."},
			entity.Field{
				Name: AttrIsPinned, Kind: entity.Flag, Required: true, Default: item.Bool(false), Doc: "Pinned notes come first.",
			},
			enumField(entity.AttrStatus, StatusActive, StatusActive, StatusArchived),
			tagsField, colorField, linksField,
		),
		Index: indexNote,
	}
}

func indexNote(user string, it item.Item) entity.IndexKeys {
	keys := entity.IndexKeys{StatePK: entity.UserPK(user), StateSK: NoteGrid(noteState(it)) + it.Str(entity.AttrUpdatedAt)}
	if it.Str(entity.AttrStatus) != StatusArchived {
		created, _ := it.Time(entity.AttrCreatedAt)
		year := yearKeys(user, created)
		keys.YearPK, keys.YearSK = year.YearPK, year.YearSK
	}
	return keys
}

// NoteState is the part of the notes grid to which a note belongs.
type NoteState string

const (
	NotePinned   NoteState = "1"
	NoteRecent   NoteState = "0"
	NoteArchived NoteState = StatusArchived
)

func noteState(it item.Item) NoteState {
	switch {
	case it.Str(entity.AttrStatus) == StatusArchived:
		return NoteArchived
	case it.Bool(AttrIsPinned):
		return NotePinned
	}
	return NoteRecent
}

// NoteGrid begins the state-view sort keys of a user's notes in one part of the grid; updatedAt follows it.
func NoteGrid(state NoteState) string { return entity.StatePrefix(TypeNote, string(state)) }
