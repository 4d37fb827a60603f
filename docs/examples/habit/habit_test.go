// Package habit_test is the worked example of an entity type of another product: a HABIT is one value and one command, and
// links, backlinks, statistics of its own, reminders and the HTTP surface work for it without a change in pkg.
package habit_test

import (
	"time"

	"nexus/pkg/command"
	"nexus/pkg/entity"
)

// States of a HABIT.
const (
	active = "ACTIVE"
	paused = "PAUSED"
)

// habit describes the type: what it is called, its fields with their bounds, its index keys, and when it is due.
func habit() *entity.Type {
	return &entity.Type{
		Name: "HABIT", IDAttr: "habitId", IDPrefix: "hab", Plural: "habits",
		Fields: entity.Common("habitId",
			entity.Field{Name: entity.AttrTitle, Kind: entity.Text, Required: true, Min: 1, Max: 100, Doc: "One line."},
			entity.Field{Name: entity.AttrStatus, Kind: entity.Enum, Required: true, Default: entity.String(active), Enum: []string{active, paused}, Doc: "A paused habit does not remind."},
			entity.Field{Name: "nextUtc", Kind: entity.Instant, Required: true, Zone: entity.AttrTzid, Doc: "When it is to be done next."},
			entity.Field{Name: entity.AttrTzid, Kind: entity.Zone, Doc: "Zone of nextUtc; absent means floating."},
			entity.Field{Name: "streak", Kind: entity.Integer, Required: true, Origin: entity.FromServer, Default: entity.Int(0), Doc: "How often in a row."},
			entity.Field{Name: entity.AttrLinks, Kind: entity.Links, Max: 49, Doc: "Other entities it refers to."},
			entity.Field{Name: entity.AttrReminderMinutes, Kind: entity.Minutes, Max: 10, MemberMax: 1440, Doc: "Minutes before nextUtc at which to remind."},
			entity.Field{Name: entity.AttrDueSetAt, Kind: entity.Instant, Origin: entity.Hidden, Doc: "When a command last changed a due instant."},
		),
		Index: func(user string, it entity.Item) entity.IndexKeys {
			next, _ := it.Time("nextUtc")
			return entity.IndexKeys{
				YearPK: entity.AgendaPK(user, next.Year()), YearSK: it.Str("nextUtc"),
				StatePK: entity.UserPK(user), StateSK: entity.StatePrefix("HABIT", it.Str(entity.AttrStatus)) + it.Str(entity.AttrCreatedAt),
			}
		},
		Dues: func(it entity.Item) []entity.Due {
			next, ok := it.Time("nextUtc")
			if !ok || it.Str(entity.AttrStatus) == paused {
				return nil
			}
			var dues []entity.Due
			for _, minutes := range it.Ints(entity.AttrReminderMinutes) {
				dues = append(dues, entity.Due{OffsetMinutes: minutes, Occurrence: next, At: next, Floating: !it.Has(entity.AttrTzid)})
			}
			return dues
		},
	}
}

// checkOff is a command of the product's own: the habit was done, and is due again a day later.
func checkOff(id string) command.Command {
	typ := habit()
	return command.Act{Name: "checkOffHabit", Type: typ, ID: id, Apply: func(before entity.Item, _ time.Time) (entity.Item, error) {
		if before.Str(entity.AttrStatus) == paused {
			return nil, &command.StateError{Ref: typ.Ref(before), Reason: "is paused"}
		}
		after := before.Clone()
		next, _ := before.Time("nextUtc")
		after.SetTime("nextUtc", next.AddDate(0, 0, 1))
		after["streak"] = entity.Int(before.Int("streak") + 1)
		return after, nil
	}}
}
