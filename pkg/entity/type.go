package entity

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"nexus/pkg/item"
)

// Type describes one kind of entity, as data. A product's own types are values like these; adding one touches no code
// of this package.
type Type struct {
	Name     string // the entityType value and the prefix of the sort key, UPPERCASE
	IDAttr   string // the attribute that holds the id, such as taskId
	IDPrefix string // the id's prefix without the underscore, such as task
	Plural   string // the path segment, such as tasks
	Fields   []Field

	// Settle normalises fields that a patch has changed, where their form depends on other fields. It is nil for a type
	// without such fields. It leaves invalid values to Check.
	Settle func(before, patch, after item.Item)
	// Check returns what is wrong across fields; the fields themselves are checked before.
	Check func(it item.Item) []FieldError
	// Derive sets the attributes that follow from a write.
	Derive func(w Write)
	// CheckWrite returns what is wrong with a user's write after Derive, where that depends on its time, on the item
	// before or on the settings. It is nil for a type without such rules.
	CheckWrite func(w Write) []FieldError
	// Index returns the index keys the item has now.
	Index func(user string, it item.Item) IndexKeys
	// Dues returns the instants of the requested reminders, including past ones; none for an item that is done, cancelled
	// or archived. For a series they are those of its first occurrence, for a recurring reminder that of its next
	// trigger. They show which offsets there are and whether a change moves anything. Nil for a type without reminders.
	Dues func(it item.Item) []Due
	// Spans returns when the item is shown in an agenda, for an item that is indexed there. Nil for a type that is shown
	// at its index key, without length.
	Spans func(it item.Item) []Span
	// View returns the item as readers see it at the instant, if time alone has changed it; nil for a type on which time
	// has no effect.
	View func(it item.Item, now time.Time) item.Item
	// DueFields are attributes that decide on due instants in addition to those that Dues returns, as a recurrence rule
	// does.
	DueFields []string
	// OwnCommands says that separate commands create, change and delete entities of the type, because other rows depend
	// on them.
	OwnCommands bool
	// NeedsPreferences says whether the rules of a write read the user's settings for this patch; nil for never.
	NeedsPreferences func(patch item.Item) bool
	// Retention gives for each final status how long after its last update an item stays; after that only its cold copy
	// remains.
	Retention map[string]time.Duration
	// Outlives are the attributes that the row of a cold copy repeats: by them an item that has left still counts.
	Outlives []string
}

// HasCollection says that a user has any number of these entities, each with its own id. A user has exactly one
// USER_META.
func (t *Type) HasCollection() bool { return t.IDPrefix != "" }

// DuesDiffer reports whether a change moves, adds or removes the instant of a reminder.
func (t *Type) DuesDiffer(before, after item.Item) bool {
	if t.Dues == nil {
		return false
	}
	return !slices.Equal(t.Dues(before), t.Dues(after)) ||
		slices.ContainsFunc(t.DueFields, func(name string) bool { return !item.Equal(before[name], after[name]) })
}

// Write is one change of an entity on its way to the table.
type Write struct {
	Type        *Type
	By          Writer
	Before      item.Item // nil when the entity is created
	After       item.Item // what will be stored; Derive changes it
	Now         time.Time
	Preferences item.Item // the user's settings, where the type's rules need them; see [Type.NeedsPreferences]
}

// IndexKeys are the keys an item has in the secondary indexes; an empty pair keeps it out of that index.
type IndexKeys struct {
	YearPK, YearSK             string // GSI1
	RecurrencePK, RecurrenceSK string // GSI2
	StatePK, StateSK           string // GSI3
}

// Due is one instant at which a reminder is due: Offset before the occurrence.
type Due struct {
	OffsetMinutes int64
	// Occurrence is the instant that the reminder announces; the offset counts from At. They differ for a snoozed
	// reminder only: it is due at the snooze's end and still announces its occurrence. Both are readings labelled UTC if
	// floating.
	Occurrence, At time.Time
	// Floating readings are to be resolved in the user's zone.
	Floating bool
	// Snooze says that At is the end of a snooze, which is an absolute instant.
	Snooze bool
}

// Registry holds a program's entity types. It is built once and passed to constructors.
type Registry struct {
	types    []*Type
	byName   map[string]*Type
	byPrefix map[string]*Type
	byPlural map[string]*Type
}

// NewRegistry returns a registry of the types. Its error names the type that breaks the conventions or repeats
// another's name, id prefix or path.
func NewRegistry(types ...*Type) (*Registry, error) {
	r := &Registry{byName: map[string]*Type{}, byPrefix: map[string]*Type{}, byPlural: map[string]*Type{}}
	for _, t := range types {
		if err := checkType(t); err != nil {
			return nil, fmt.Errorf("entity type %s: %w", t.Name, err)
		}
		if r.byName[t.Name] != nil || r.byPrefix[t.IDPrefix] != nil || r.byPlural[t.Plural] != nil {
			return nil, fmt.Errorf("entity type %s: name, id prefix %q or path %q is taken", t.Name, t.IDPrefix, t.Plural)
		}
		r.types = append(r.types, t)
		r.byName[t.Name] = t
		if t.HasCollection() {
			r.byPrefix[t.IDPrefix], r.byPlural[t.Plural] = t, t
		}
	}
	return r, nil
}

// Types returns all types in the order given.
func (r *Registry) Types() []*Type { return r.types }

// Collections returns the names of the types of which a user has many, in the order given.
func (r *Registry) Collections() []string {
	var names []string
	for _, t := range r.types {
		if t.HasCollection() {
			names = append(names, t.Name)
		}
	}
	return names
}

// ByID returns the type whose prefix the id has, or nil.
func (r *Registry) ByID(id string) *Type {
	prefix, _, _ := strings.Cut(id, "_")
	return r.byPrefix[prefix]
}

// ByName returns the type of an entityType value, or nil.
func (r *Registry) ByName(name string) *Type { return r.byName[name] }

// ByPath returns the type whose path segment it is, or nil.
func (r *Registry) ByPath(plural string) *Type { return r.byPlural[plural] }
