package product

import (
	"strconv"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// States of a TASK.
const (
	StatusBacklog    = "BACKLOG"
	StatusInProgress = "IN_PROGRESS"
	StatusCompleted  = "COMPLETED"
	StatusArchived   = "ARCHIVED"
)

// TaskStatuses returns the columns of the board in their order.
func TaskStatuses() []string {
	return []string{StatusBacklog, StatusInProgress, StatusCompleted, StatusArchived}
}

// archivedRetention is how long an archived task stays in the table; after that only its cold copy remains.
const archivedRetention = 7 * 24 * time.Hour

// The bounds of a task's priority.
const (
	MinPriority = 1
	MaxPriority = 5
)

const defaultPriority = 3

// Task is the type of a task.
func Task() *entity.Type {
	return &entity.Type{
		Name: TypeTask, IDAttr: "taskId", IDPrefix: "task", Plural: "tasks",
		Fields: entity.Common("taskId",
			titleField, descriptionField,
			enumField(entity.AttrStatus, StatusBacklog, TaskStatuses()...),
			entity.Field{
				Name: AttrPriority, Kind: entity.Integer, Required: true, Default: item.Int(defaultPriority), Min: MinPriority,
				Max: MaxPriority, Doc: "1 is the highest.",
			},
			entity.Field{
				Name: AttrIsAllDay, Kind: entity.Flag, Required: true, Default: item.Bool(false),
				Doc: "Due on a day rather than at a time; floating.",
			},
			entity.Field{Name: AttrDueDate, Kind: entity.Date, Doc: "Day on which an all-day task is due."},
			entity.Field{
				Name: AttrStartUtc, Kind: entity.Instant, Zone: AttrDueTzid, Doc: "When to begin; without offset when it floats.",
			},
			entity.Field{
				Name: AttrDueUtc, Kind: entity.Instant, Zone: AttrDueTzid, Doc: "When it is due; without offset when it floats.",
			},
			entity.Field{Name: AttrDueTzid, Kind: entity.Zone, Doc: "Zone of both times; absent means floating."},
			tagsField, minutesField, linksField, colorField,
			entity.Field{
				Name: AttrCompletedAt, Kind: entity.Instant, Origin: entity.FromServer, Doc: "When the task was completed.",
			},
			entity.Field{
				Name: AttrCompletedOn, Kind: entity.Date,
				Doc: "Day of the completion on the user's clock. Absent: today. At most 31 days back, not in the future.",
			},
			entity.Field{
				Name: AttrCompletedOnAt, Kind: entity.Instant, Origin: entity.Hidden, Doc: "The completedAt of completedOn.",
			},
			entity.Field{
				Name: AttrArchiveAt, Kind: entity.Instant, Origin: entity.FromServer,
				Doc: "When the completed task will be archived.",
			},
			entity.Field{
				Name: AttrArchivedAt, Kind: entity.Instant, Origin: entity.FromServer, Doc: "When the task was archived.",
			},
			uidField, sequenceField, restoredAtField, dueSetAtField, keptField, stampField,
		),
		Settle:     beginCompletion,
		Check:      func(it item.Item) []entity.FieldError { return append(checkTaskTimes(it), checkCompletion(it)...) },
		Derive:     func(w entity.Write) { deriveTask(w); stampCompletion(w); deriveSequence(w) },
		CheckWrite: checkStamp,
		Index:      indexTask,
		Dues:       taskDues,
		Spans:      taskSpans,
		View:       viewTask,
		Retention:  map[string]time.Duration{StatusArchived: archivedRetention},
		Outlives:   []string{entity.AttrStatus, AttrPriority, AttrCompletedAt, AttrCompletedOn, AttrCompletedOnAt},
		NeedsPreferences: func(patch item.Item) bool {
			return patch.Str(entity.AttrStatus) == StatusCompleted || patch[AttrCompletedOn] != nil
		},
	}
}

func checkTaskTimes(it item.Item) []entity.FieldError {
	var errs entity.Faults
	if it[AttrIsAllDay] == (item.Refused{}) {
		return nil
	}
	if it.Bool(AttrIsAllDay) {
		errs.Require(it, AttrDueDate, "an all-day task needs it")
		errs.Refuse(it, "an all-day task has none", AttrStartUtc, AttrDueUtc, AttrDueTzid)
		return errs
	}
	errs.Refuse(it, "only an all-day task has it", AttrDueDate)
	start, due := it.Str(AttrStartUtc), it.Str(AttrDueUtc)
	if start != "" && due != "" && due < start {
		errs.Add(AttrDueUtc, "must not be before startUtc")
	}
	if it.Says(AttrDueTzid) && !it.Has(AttrStartUtc) && !it.Has(AttrDueUtc) {
		errs.Add(AttrDueTzid, "a task without startUtc and dueUtc has no zone")
	}
	return errs
}

func deriveTask(w entity.Write) {
	it := w.After
	status := it.Str(entity.AttrStatus)
	if w.Before != nil && w.Before.Str(entity.AttrStatus) == status {
		return
	}
	switch status {
	case StatusCompleted:
		it.SetTime(AttrCompletedAt, w.Now)
		it.Set(AttrArchivedAt, nil)
		it.Set(AttrArchiveAt, nil)
		if w.Preferences.Bool("autoArchiveCompletedTasks") {
			delay := time.Duration(w.Preferences.Int("autoArchiveDelayHours")) * time.Hour
			it.SetTime(AttrArchiveAt, w.Now.Add(delay))
		}
	case StatusArchived:
		it.SetTime(AttrArchivedAt, w.Now)
		it.Set(AttrArchiveAt, nil)
	default:
		it.Set(AttrCompletedAt, nil)
		it.Set(AttrArchivedAt, nil)
		it.Set(AttrArchiveAt, nil)
	}
}

// viewTask shows a completed task whose timer is late as archived. TTL removes the timer only days later.
func viewTask(it item.Item, now time.Time) item.Item {
	it = WithoutFormerDay(it)
	archiveAt, ok := it.Time(AttrArchiveAt)
	if !ok || it.Str(entity.AttrStatus) != StatusCompleted || now.Before(archiveAt) {
		return it
	}
	shown := it.Clone()
	shown[entity.AttrStatus] = item.String(StatusArchived)
	shown[AttrArchivedAt] = it[AttrArchiveAt]
	delete(shown, AttrArchiveAt)
	return shown
}

// TaskDue returns the reading (labelled UTC) at which a task is due, and whether it floats. An all-day task is due at
// the end of its day, so its reading is midnight of the day after. ok is false for a task without a due time.
func TaskDue(it item.Item) (at time.Time, floating, ok bool) {
	if it.Bool(AttrIsAllDay) {
		day, err := item.ParseDate(it.Str(AttrDueDate))
		return day.AddDate(0, 0, 1), true, err == nil
	}
	at, ok = it.Time(AttrDueUtc)
	return at, !it.Has(AttrDueTzid), ok
}

func indexTask(user string, it item.Item) entity.IndexKeys {
	keys := entity.IndexKeys{}
	if at, ok := taskAgendaTime(it); ok && it.Str(entity.AttrStatus) != StatusArchived {
		keys = yearKeys(user, at)
	}
	if status := it.Str(entity.AttrStatus); status != "" { // a damaged task is in no column
		keys.StatePK = entity.UserPK(user)
		keys.StateSK = TaskColumn(status, it.Int(AttrPriority)) + it.Str(entity.AttrCreatedAt)
	}
	return keys
}

// taskAgendaTime is the earlier of start and due.
func taskAgendaTime(it item.Item) (time.Time, bool) {
	if it.Bool(AttrIsAllDay) {
		day, err := item.ParseDate(it.Str(AttrDueDate))
		return day, err == nil
	}
	if start, ok := it.Time(AttrStartUtc); ok {
		return start, true
	}
	return it.Time(AttrDueUtc)
}

// TaskColumn begins the state-view sort keys of a user's tasks with a status, and with a priority unless that is 0.
func TaskColumn(status string, priority int64) string {
	column := entity.StatePrefix(TypeTask, status)
	if priority == 0 {
		return column
	}
	return entity.Under(column, "P"+strconv.FormatInt(priority, 10))
}

func taskDues(it item.Item) []entity.Due {
	switch it.Str(entity.AttrStatus) {
	case StatusCompleted, StatusArchived:
		return nil
	}
	if it.Bool(AttrIsAllDay) {
		day, _ := item.ParseDate(it.Str(AttrDueDate))
		return offsetDues(it, day, true)
	}
	at, ok := it.Time(AttrDueUtc)
	if !ok {
		at, ok = it.Time(AttrStartUtc)
	}
	if !ok {
		return nil
	}
	return offsetDues(it, at, !it.Has(AttrDueTzid))
}
