package simulate

import (
	"fmt"
	"time"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// patch is a change of an item's fields.
func (a author) patch(typeName string, it item.Item) string {
	title := fmt.Sprintf(`{"title":"u%d"}`, a.step)
	switch typeName {
	case product.TypeTask:
		return pick(a.luck, title, a.complete(), a.complete(), a.complete(),
			`{"status":"IN_PROGRESS"}`, `{"status":"BACKLOG"}`,
			`{"status":"ARCHIVED"}`, `{"status":"ARCHIVED"}`, `{"priority":1}`, a.moveDue(it), a.moveDue(it), a.remind())
	case product.TypeEvent:
		return pick(a.luck, title, `{"status":"CANCELLED"}`, `{"status":"CONFIRMED"}`, a.move(it), a.move(it), a.remind())
	case product.TypeReminder:
		return pick(a.luck, title, "{"+a.zoned(a.trigger(), product.AttrTzid)+"}", `{"rrule":`+a.rule()+`}`,
			`{"rrule":null,"rruleUntil":null}`)
	}
	return pick(a.luck, title, `{"isPinned":true}`, `{"status":"ARCHIVED"}`, `{"status":"ACTIVE"}`, `{"tags":["x"]}`)
}

func (a author) remind() string {
	return `{"reminderMinutes":` + pick(a.luck, "null", "[0]", "[0,30]", "[10,60]", "[60]", "[5,1440]") + `}`
}

// zoned removes the zone from a floating item's patch.
func (a author) zoned(times, zoneName string) string {
	if a.isFloating(times) {
		return times + fmt.Sprintf(`,%q:null`, zoneName)
	}
	return times
}

func (a author) isFloating(times string) bool {
	return times[len(times)-2] >= '0' && times[len(times)-2] <= '9'
}

func (a author) moveDue(it item.Item) string {
	if a.luck.one(4) {
		return fmt.Sprintf(`{"isAllDay":true,"dueDate":%q,"dueUtc":null,"startUtc":null,"dueTzid":null}`,
			a.soon().Format(time.DateOnly))
	}
	return `{"isAllDay":false,"dueDate":null,` +
		a.zoned(a.timeIn(product.AttrDueUtc, product.AttrDueTzid), product.AttrDueTzid) + `}`
}

// move gives an event other times.
func (a author) move(it item.Item) string {
	if a.luck.one(4) {
		return fmt.Sprintf(
			`{"isAllDay":true,"startDate":%q,"endDate":null,"startUtc":null,"endUtc":null,"startTzid":null,"endTzid":null}`,
			a.soon().Format(time.DateOnly))
	}
	return `{"isAllDay":false,"startDate":null,"endDate":null,"endUtc":null,` +
		a.zoned(a.timeIn(product.AttrStartUtc, product.AttrStartTzid), product.AttrStartTzid) + `}`
}

// shift moves an event by minutes or hours, so that a series keeps its dates, mostly.
func (a author) shift(it item.Item) string {
	at, ok := it.Time(product.AttrStartUtc)
	if !ok {
		return a.move(it)
	}
	at = at.Add(time.Duration(a.luck.IntN(360)-180) * time.Minute)
	layout := time.RFC3339
	if !it.Has(product.AttrStartTzid) {
		layout = wallLayout
	}
	return fmt.Sprintf(`{"startUtc":%q,"endUtc":null}`, at.Format(layout))
}

// act returns a user's action on a reminder.
func (a author) act(id string) (command.Command, *int64, string) {
	switch a.luck.IntN(4) {
	case 0, 1:
		n := int64(pick(a.luck, 1, 5, 60, 600, 2000))
		return command.SnoozeReminder{ID: id, Minutes: &n}, nil, fmt.Sprintf("snooze %s %d", id, n)
	case 2:
		all := a.luck.one(4)
		return command.CompleteReminder{ID: id, Series: all}, nil, fmt.Sprintf("complete %s %t", id, all)
	}
	all := a.luck.one(4)
	return command.DismissReminder{ID: id, Series: all}, nil, fmt.Sprintf("dismiss %s %t", id, all)
}

// date returns the date of an occurrence of these days, often of the one whose reminder rings.
func (a author) date(master item.Item) string {
	rule, err := product.CompileMaster(master)
	if err == nil && !a.luck.one(8) {
		from, most := a.now.Add(-2*24*time.Hour), 5
		if a.luck.one(3) {
			from, most = a.now, 1
		}
		var dates []string
		for o := range rule.In(a.zone()).Each(from, a.now.Add(40*24*time.Hour)) {
			if dates = append(dates, o.Wall.Format("20060102")); len(dates) == most {
				break
			}
		}
		if len(dates) > 0 {
			return dates[a.luck.IntN(len(dates))]
		}
	}
	return a.now.AddDate(0, 0, a.luck.IntN(6)-1).Format("20060102")
}

// series is a change of a series or of one of its occurrences.
func (a author) series(id string, master item.Item, expected *int64) (command.Command, *int64, string) {
	date := a.date(master)
	row := a.items[entity.InstanceID(id, date)]
	both := *expected + row.Int(entity.AttrVersion)
	ofOccurrence := &both
	if row.Has(product.AttrModifiedFields) {
		ofOccurrence = a.version(row)
	}
	put := func(text string) (command.Command, *int64, string) {
		return command.PutInstance{MasterID: id, Date: date, Fields: document(text)}, ofOccurrence,
			"except " + id + " " + date + " " + text
	}
	change := func(text string) (command.Command, *int64, string) {
		return command.UpdateSeries{ID: id, Patch: document(text)}, expected, "change " + id + " " + text
	}
	switch a.luck.IntN(18) {
	case 0, 1:
		return put("{" + a.zoned(a.timeIn(product.AttrStartUtc, product.AttrStartTzid), product.AttrStartTzid) + "}")
	case 2, 16:
		return put(a.remind())
	case 3:
		return put(pick(a.luck, `{}`, `{}`, fmt.Sprintf(`{"title":"o%d"}`, a.step), `{"status":"TENTATIVE"}`))
	case 4:
		return command.CancelInstance{MasterID: id, Date: date}, ofOccurrence, "cancel " + id + " " + date
	case 5:
		return change(a.remind())
	case 6:
		return change(a.move(master))
	case 7:
		return change(`{"rrule":` + a.rule() + `}`)
	case 8:
		return change(fmt.Sprintf(`{"exdate":[%q]}`, date))
	case 9:
		return change(pick(a.luck, `{"status":"CANCELLED"}`, `{"status":"CONFIRMED"}`, fmt.Sprintf(`{"title":"s%d"}`, a.step),
			fmt.Sprintf(`{"rdate":[%q]}`, a.soon().Format("20060102"))))
	case 10:
		return change(`{"rruleUntil":null}`)
	case 11:
		until := a.soon().Add(24 * time.Hour).Format(time.RFC3339)
		if !master.Has(product.AttrStartTzid) {
			until = until[:len(until)-1]
		}
		return command.EndSeries{ID: id, UntilUtc: until}, expected, "end " + id + " " + until
	case 12, 13:
		text := pick(a.luck, `{}`, fmt.Sprintf(`{"title":"f%d"}`, a.step), a.remind(), a.move(master))
		return command.SplitSeries{ID: id, Date: date, Changes: document(text)}, expected,
			"split " + id + " " + date + " " + text
	case 14:
		return put(`{"status":"CANCELLED","reminderMinutes":[15]}`)
	case 15:
		return change(a.shift(master))
	}
	return put("{" + a.zoned(a.timeIn(product.AttrStartUtc, product.AttrStartTzid), product.AttrStartTzid) +
		`,"reminderMinutes":[20]}`)
}
