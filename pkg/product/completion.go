package product

import (
	"strconv"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/wallclock"
)

// maxBackdate is how many days back a client may date a completion: it may have been offline for so long.
const maxBackdate = 31

// Settings returns what a write of an entity may need of its user's USER_META: the preferences, and the zone.
func Settings(meta item.Item) item.Item {
	if meta == nil {
		return nil
	}
	out := meta.Map(AttrPreferences).Clone()
	out.Set(AttrDefaultTzid, meta[AttrDefaultTzid])
	return out
}

// ZoneOf returns the zone of a user with these settings, or with this USER_META; UTC if it is unknown.
func ZoneOf(settings item.Item) *time.Location {
	zone, err := wallclock.LoadLocation(settings.Str(AttrDefaultTzid))
	if err != nil {
		return time.UTC
	}
	return zone
}

// CompletedDay returns the day on which a task was completed, on its user's clock; of a completion without one the UTC
// date. It is empty for a task that is not completed. Archived tasks stay completed.
func CompletedDay(it item.Item) string {
	at, ok := it.Time(AttrCompletedAt)
	if status := it.Str(entity.AttrStatus); !ok || status != StatusCompleted && status != StatusArchived {
		return ""
	}
	day, err := item.ParseDate(it.Str(AttrCompletedOn))
	if err != nil || !isStamped(it) {
		day = at
	}
	return item.FormatDate(day)
}

// isStamped reports whether completedOn is the day of the present completion.
func isStamped(it item.Item) bool {
	return it.Has(AttrCompletedOn) && it.Has(AttrCompletedAt) &&
		it.Str(AttrCompletedOnAt) == it.Str(AttrCompletedAt)
}

// WithoutFormerDay returns a task without the day of a former completion, which a release before leaves.
func WithoutFormerDay(it item.Item) item.Item {
	if !it.Has(AttrCompletedOn) || isStamped(it) {
		return it
	}
	out := it.Clone()
	delete(out, AttrCompletedOn)
	delete(out, AttrCompletedOnAt)
	return out
}

// completes reports whether a write takes a task to COMPLETED.
func completes(before, after item.Item) bool {
	return after.Str(entity.AttrStatus) == StatusCompleted && before.Str(entity.AttrStatus) != StatusCompleted
}

// beginCompletion lets a new completion begin without the day of a former one, unless the patch gives it.
func beginCompletion(before, patch, after item.Item) {
	if completes(before, after) && patch[AttrCompletedOn] == nil {
		delete(after, AttrCompletedOn)
	}
}

// stampCompletion gives a completion its day on the user's clock, unless the client has given it. The day goes with the
// completion. A day that a release before has left of a former completion goes, too. The system's writes leave it.
func stampCompletion(w entity.Write) {
	if w.By == entity.BySystem {
		return
	}
	it, before := w.After, w.Before
	isNew := before.Str(AttrCompletedAt) != it.Str(AttrCompletedAt) || completes(before, it) // within the same second
	isKept := before.Has(AttrCompletedOn) && item.Equal(before[AttrCompletedOn], it[AttrCompletedOn])
	if isKept && !it.Has(AttrCompletedAt) || isKept && !isNew && !isStamped(before) {
		delete(it, AttrCompletedOn)
	}
	at, isCompleted := it.Time(AttrCompletedAt)
	if isCompleted && !it.Has(AttrCompletedOn) && w.Preferences != nil && (isNew || isStamped(before)) {
		it[AttrCompletedOn] = item.String(item.FormatDate(at.In(ZoneOf(w.Preferences))))
	}
	delete(it, AttrCompletedOnAt)
	if isCompleted && it.Has(AttrCompletedOn) {
		it[AttrCompletedOnAt] = it[AttrCompletedAt]
	}
}

func checkCompletion(it item.Item) []entity.FieldError {
	var errs entity.Faults
	if !it.Has(AttrCompletedAt) && !it.Has(AttrCompletedOnAt) { // with it a release before has left the day
		errs.Refuse(it, "only a completed task has it", AttrCompletedOn)
	}
	return errs
}

// checkStamp checks the day that a client has given. One that stays as it was is not checked again.
func checkStamp(w entity.Write) []entity.FieldError {
	var errs entity.Faults
	given := w.After.Str(AttrCompletedOn)
	isKept := isStamped(w.Before) && given == w.Before.Str(AttrCompletedOn) &&
		item.Equal(w.Before[AttrCompletedAt], w.After[AttrCompletedAt])
	day, err := item.ParseDate(given)
	if isKept || err != nil {
		return nil // a malformed one is refused as a field
	}
	today, _ := item.ParseDate(item.FormatDate(w.Now.In(ZoneOf(w.Preferences))))
	switch {
	case day.After(today):
		errs.Add(AttrCompletedOn, "must not be in the future: today is %s", item.FormatDate(today))
	case day.Before(today.AddDate(0, 0, -maxBackdate)):
		errs.Add(AttrCompletedOn, "must be at most %d days back", maxBackdate)
	}
	return errs
}

// attrContribution is the contribution in a ledger row (docs/data-model.md).
const attrContribution = "c"

// stateDone is the state in the state view of the ledger rows of completed tasks, which the insights count.
const stateDone = "DONE"

// DoneSK is the state-view sort key of the ledger rows of the tasks that were completed on a day.
func DoneSK(day string) string { return entity.StatePrefix(stateDone, TypeTask) + day }

// CompletionPlace returns the place of an item's completion in the state view, and its priority as text; no place for
// an item that is no completed task.
func CompletionPlace(t *entity.Type, it item.Item) (sortKey, priority string) {
	if t.Name != TypeTask {
		return "", ""
	}
	day := CompletedDay(it)
	if day == "" {
		return "", ""
	}
	return DoneSK(day), strconv.FormatInt(it.Int(AttrPriority), 10)
}

// Completion reads the row that stands at such a place; not ok for any other row.
func Completion(row item.Item) (day string, priority int64, ok bool) {
	day, isDone := strings.CutPrefix(row.Str(item.AttrGSI3SK), DoneSK(""))
	text := row.Str(attrContribution)
	priority, err := strconv.ParseInt(text[strings.LastIndex(text, " ")+1:], 10, 64)
	return day, priority, isDone && err == nil
}
