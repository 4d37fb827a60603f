package simulate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nexus/pkg/archive"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// author writes commands for one user: sensible ones mostly, of few items, so that they meet.
type author struct {
	*history
	*userState
}

const (
	newYork  = "America/New_York"
	london   = "Europe/London"
	lordHowe = "Australia/Lord_Howe"
	apia     = "Pacific/Apia"
)

// zoneNames are where users and their items are: clocks that change by an hour and by half an hour, and a place that
// once left out a day.
var zoneNames = []string{newYork, london, lordHowe, apia, "UTC"}

// most is how many items of a kind a user makes before changing those there are.
const most = 3

// wallLayout is a time that floats.
const wallLayout = "2006-01-02T15:04:05"

// document reads the JSON text of a request.
func document(text string) map[string]any {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	out := map[string]any{}
	if err := d.Decode(&out); err != nil {
		panic(fmt.Sprintf("simulate: %v in %s", err, text))
	}
	return out
}

// write returns a command with the version it needs and a name for it.
func (a author) write() (cmd command.Command, expected *int64, name string) {
	if id := a.wanted.ID; id != "" {
		return a.waver(a.registry.ByName(a.wanted.Type), id, a.items[id])
	}
	if a.luck.one(10) || a.isNew() && !a.luck.one(4) {
		return a.settings()
	}
	typeName := pick(a.luck, a.luck.kinds...)
	typ := a.registry.ByName(typeName)
	if id, left := a.left(); left && a.luck.one(3) {
		return a.restore(a.registry.ByID(id), id), nil, "restore " + id
	}
	id, it := a.choose(typeName)
	if n := a.living(typeName); id == "" || n < most && a.luck.one(2+3*n) {
		return a.create(typ)
	}
	return a.about(typ, id, it)
}

// waver returns a command that undoes the last change of an item.
func (a author) waver(typ *entity.Type, id string, it item.Item) (cmd command.Command, expected *int64, name string) {
	if _, left := a.expired[id]; left && it == nil {
		return a.restore(typ, id), nil, "restore " + id
	}
	switch a.luck.IntN(3) {
	case 0:
		return a.link(typ, id, it)
	case 1:
		if typ.Name == product.TypeReminder {
			return a.act(id)
		}
		if text := a.turned(typ.Name, it); text != "" {
			return command.Update{Type: typ, ID: id, Patch: document(text)}, a.version(it), "update " + id + " " + text
		}
	}
	return a.about(typ, id, it)
}

// turned returns a reversible change of status; empty for an item without one.
func (a author) turned(typeName string, it item.Item) string {
	switch status := it.Str(entity.AttrStatus); {
	case typeName == product.TypeTask && status == product.StatusCompleted,
		typeName == product.TypeTask && status == product.StatusArchived:
		return `{"status":"BACKLOG"}`
	case typeName == product.TypeTask:
		return pick(a.luck, `{"status":"COMPLETED"}`, `{"status":"COMPLETED"}`, `{"status":"ARCHIVED"}`)
	case typeName == product.TypeEvent && status == product.StatusCancelled:
		return `{"status":"CONFIRMED"}`
	case typeName == product.TypeEvent:
		return `{"status":"CANCELLED"}`
	}
	return ""
}

// about returns a user's next command on an item; nil is a missing item.
func (a author) about(typ *entity.Type, id string, it item.Item) (cmd command.Command, expected *int64, name string) {
	expected = a.version(it)
	switch n := a.luck.IntN(20); {
	case n == 0 && typ.Name == entity.TypeMaster:
		return command.DeleteSeries{ID: id}, expected, "delete " + id
	case n == 0:
		return command.Delete{Type: typ, ID: id}, expected, "delete " + id
	case n < 5:
		return a.link(typ, id, it)
	case n < 10 && it.Has(entity.AttrTTL):
		return a.restore(typ, id), nil, "restore " + id
	}
	switch typ.Name {
	case entity.TypeMaster:
		return a.series(id, it, expected)
	case product.TypeReminder:
		if a.luck.IntN(5) < 3 {
			return a.act(id)
		}
	}
	text := a.patch(typ.Name, it)
	return command.Update{Type: typ, ID: id, Patch: document(text)}, expected, "update " + id + " " + text
}

// choose returns a present or former item, more often a present one.
func (a author) choose(typeName string) (string, item.Item) {
	ids := a.ids[typeName]
	if len(ids) == 0 {
		return "", nil
	}
	for range 3 {
		id := ids[a.luck.IntN(len(ids))]
		if it := a.items[id]; it != nil {
			return id, it
		}
	}
	id := ids[a.luck.IntN(len(ids))]
	return id, a.items[id]
}

// left returns an item that TTL has removed, or is about to remove.
func (a author) left() (string, bool) {
	ids := slices.Sorted(maps.Keys(a.expired))
	if len(ids) == 0 {
		return "", false
	}
	return ids[a.luck.IntN(len(ids))], true
}

func (a author) living(typeName string) int {
	n := 0
	for _, id := range a.ids[typeName] {
		if a.items[id] != nil {
			n++
		}
	}
	return n
}

// version returns the version that the user saw: mostly the present one.
func (a author) version(it item.Item) *int64 {
	v := it.Int(entity.AttrVersion)
	if a.luck.one(12) {
		v--
	}
	return &v
}

func (a author) settings() (command.Command, *int64, string) {
	zone := a.luck.zone
	if a.meta.Str(product.AttrDefaultTzid) == zone || a.luck.one(3) {
		zone = pick(a.luck, zoneNames...)
	}
	text := fmt.Sprintf(`{"defaultTzid":%q}`, zone)
	if a.isNew() {
		return command.UpdateMe{Patch: document(text)}, a.version(a.meta), "settings " + text
	}
	switch a.luck.IntN(4) {
	case 0:
		text = fmt.Sprintf(`{"preferences":{"autoArchiveDelayHours":%d}}`, pick(a.luck, 1, 2, 24, 100))
	case 1:
		text = fmt.Sprintf(`{"preferences":{"autoArchiveCompletedTasks":%t,"enableSoundNotifications":%t}}`, !a.luck.one(4),
			a.luck.one(2))
	}
	return command.UpdateMe{Patch: document(text)}, a.version(a.meta), "settings " + text
}

// isNew reports whether the user has no item yet.
func (a author) isNew() bool { return len(a.items) == 0 }

func (a author) restore(typ *entity.Type, id string) command.Command {
	return command.DelegatedCommand{Name: "restore", Type: typ, ID: id,
		Write: func(ctx context.Context, more ...func(item.Item) table.Action) (item.Item, error) {
			return a.system.Archive.Restore(ctx, typ, a.userState.user, id, more...)
		}}
}

func isArchiveRefusal(err error) bool {
	return errors.Is(err, archive.ErrNoCopy) || errors.Is(err, archive.ErrAlive) || errors.Is(err, archive.ErrGone)
}

// link adds or removes a link.
func (a author) link(typ *entity.Type, id string, it item.Item) (command.Command, *int64, string) {
	if links := entity.LinksOf(it); len(links) > 0 && a.luck.one(2) {
		target := links[a.luck.IntN(len(links))].Target
		return command.RemoveLink{Type: typ, ID: id, Target: target}, nil, "unlink " + id + " " + target.ID
	}
	targetType := pick(a.luck, product.TypeEvent, product.TypeTask, product.TypeNote, product.TypeReminder,
		entity.TypeMaster)
	targetID, _ := a.choose(targetType)
	if targetID == "" {
		targetType, targetID = typ.Name, id
	}
	target := entity.Ref{Type: targetType, ID: targetID}
	return command.AddLink{Type: typ, ID: id, Target: target}, nil, "link " + id + " " + target.ID
}

// create makes something new, its title unlike any other.
func (a author) create(typ *entity.Type) (command.Command, *int64, string) {
	title := fmt.Sprintf(`"title":"c%d"`, a.step)
	var text string
	switch typ.Name {
	case product.TypeEvent:
		text = title + "," + a.span("") + a.minutes()
	case product.TypeTask:
		text = title + a.due() + a.minutes() + pick(a.luck, "", "", `,"status":"IN_PROGRESS"`, `,"status":"COMPLETED"`)
	case product.TypeReminder:
		text = title + "," + a.trigger() + pick(a.luck, "", `,"rrule":`+a.rule(), `,"rrule":`+a.rule())
	case product.TypeNote:
		text = title + `,"body":"b"`
	case entity.TypeMaster:
		text = title + "," + a.span("") + a.minutes() + `,"rrule":` + a.rule()
	}
	text = "{" + text + "}"
	if typ.Name == entity.TypeMaster {
		return command.CreateSeries{Fields: document(text)}, nil, "create series " + text
	}
	cmd := command.Create{Type: typ, Fields: document(text)}
	if a.luck.one(4) {
		cmd.ID = typ.IDPrefix + "_" + a.luck.uuid()
		if ids := a.ids[typ.Name]; len(ids) > 0 && a.luck.one(3) {
			cmd.ID = ids[a.luck.IntN(len(ids))] // an id that is used, or gone for good
		}
	}
	return cmd, nil, "create " + typ.Plural + " " + cmd.ID + " " + text
}

// soon is a time of the next days or the last hours, in whole minutes.
func (a author) soon() time.Time {
	if at, ok := a.nearAChange(); ok && a.luck.one(3) {
		return at
	}
	spread := pick(a.luck, 2*time.Hour, 30*time.Hour, 30*time.Hour, 4*24*time.Hour)
	back := pick(a.luck, 0, 0, 3*time.Hour, 30*time.Hour)
	return a.now.Add(time.Duration(a.luck.Int64N(int64(spread))) - back).Truncate(time.Minute)
}

// timeIn returns a time with its zone, or a floating one.
func (a author) timeIn(name, zoneName string) string {
	at := a.soon()
	if a.luck.one(3) {
		return fmt.Sprintf(`%q:%q`, name, at.Format(wallLayout))
	}
	return fmt.Sprintf(`%q:%q,%q:%q`, name, at.Format(time.RFC3339), zoneName, pick(a.luck, zoneNames...))
}

func (a author) trigger() string { return a.timeIn(product.AttrTriggerUtc, product.AttrTzid) }

// span returns the times of an event.
func (a author) span(none string) string {
	if a.luck.one(5) {
		return fmt.Sprintf(`"isAllDay":true,"startDate":%q`, a.soon().Format(time.DateOnly)) + none
	}
	return a.timeIn(product.AttrStartUtc, product.AttrStartTzid)
}

func (a author) due() string {
	switch a.luck.IntN(4) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(`,"isAllDay":true,"dueDate":%q`, a.soon().Format(time.DateOnly))
	}
	return "," + a.timeIn(product.AttrDueUtc, product.AttrDueTzid)
}

func (a author) minutes() string {
	return pick(a.luck, "", `,"reminderMinutes":[0]`, `,"reminderMinutes":[0,30]`, `,"reminderMinutes":[10,60]`,
		`,"reminderMinutes":[5,1440]`)
}

func (a author) rule() string {
	return `"` + pick(a.luck, "FREQ=DAILY", "FREQ=DAILY", "FREQ=DAILY;COUNT=3", "FREQ=DAILY;INTERVAL=2", "FREQ=WEEKLY",
		"FREQ=WEEKLY;BYDAY=MO,WE,SA", "FREQ=MONTHLY", "FREQ=DAILY;COUNT=10") + `"`
}
