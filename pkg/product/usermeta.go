package product

import (
	"maps"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// PreferenceHistoryDays is how long the history of repositories is kept, in days; 0 is for ever.
const PreferenceHistoryDays = "historyDays"

// Preferences about how reminders are told on devices.
const (
	preferenceDetail           = "notificationDetail"
	detailTitle                = "title"
	detailNone                 = "none"
	preferenceQuietHours       = "quietHours"
	quietFrom, quietTo         = "from", "to"
	lastMinuteOfDay      int64 = 24*60 - 1
)

// NotificationSettings returns whether devices show titles, and the hours in which they make no sound: the minutes of
// the day at which these begin and end, both equal without such hours.
func NotificationSettings(preferences item.Item) (showsTitle bool, from, to int) {
	hours := preferences.Map(preferenceQuietHours)
	return preferences.Str(preferenceDetail) != detailNone, int(hours.Int(quietFrom)), int(hours.Int(quietTo))
}

// DefaultTzid is the zone of a user who has not chosen one.
const DefaultTzid = "UTC"

// UserMeta is the type of the one row that holds a user's zone, preferences and statistics.
func UserMeta() *entity.Type {
	return &entity.Type{
		Name: entity.TypeUserMeta, IDAttr: AttrUserID,
		Fields: []entity.Field{
			{Name: entity.AttrType, Kind: entity.Text, Origin: entity.FromServer, Required: true, Doc: "The entity's type."},
			{Name: AttrUserID, Kind: entity.Text, Origin: entity.FromServer, Required: true, Doc: "The user's id."},
			{Name: AttrDefaultTzid, Kind: entity.Zone, Required: true, Default: item.String(DefaultTzid),
				Doc: "The zone in which floating times are read."},
			{Name: AttrPreferences, Kind: entity.Object, Required: true, Default: item.Map{}, Fields: preferenceFields(),
				Doc: "Settings."},
			{Name: AttrStats, Kind: entity.Object, Origin: entity.FromServer, Fields: statFields(),
				Doc: "Statistics, kept by a consumer of the stream."},
			{Name: AttrStatsVersion, Kind: entity.Integer, Origin: entity.Hidden,
				Doc: "Optimistic lock of the statistics, apart from version."},
			{Name: AttrStatsHold, Kind: entity.Object, Origin: entity.Hidden, Doc: "A repair's lease of the statistics."},
			{Name: AttrStatsRepairs, Kind: entity.Integer, Origin: entity.Hidden,
				Doc: "How many repairs of the statistics staged ledger rows and have been through."},
			{Name: AttrStatsLast, Kind: entity.Object, Origin: entity.Hidden,
				Doc: "The last entry of the statistics' ledger, which its own row may still lack."},
			{Name: AttrStatsForm, Kind: entity.Integer, Origin: entity.Hidden,
				Doc: "The form of the statistics' bookkeeping; 1 if it is absent."},
			{Name: AttrStatsWritten, Kind: entity.Flag, Origin: entity.Hidden,
				Doc: "The statistics were the last to write the row: whoever waits for the user's settings need not look."},
			{Name: AttrZoneSetAt, Kind: entity.Instant, Origin: entity.Hidden, Doc: "When defaultTzid last changed."},
			{Name: AttrZoneVersion, Kind: entity.Integer, Origin: entity.Hidden,
				Doc: "The version at which defaultTzid last changed: a walk of an earlier change may end."},
			{Name: entity.AttrVersion, Kind: entity.Integer, Origin: entity.FromServer, Required: true,
				Doc: "Grows by one with every change by the user; 0 until the first."},
			{Name: entity.AttrCreatedAt, Kind: entity.Instant, Origin: entity.FromServer, Required: true,
				Doc: "When the row was created."},
			{Name: entity.AttrUpdatedAt, Kind: entity.Instant, Origin: entity.FromServer, Required: true,
				Doc: "When the user last changed it."},
		},
		Index: indexUserMeta,
		Derive: func(w entity.Write) {
			if w.Before != nil && !item.Equal(w.Before[AttrDefaultTzid], w.After[AttrDefaultTzid]) {
				w.After.SetTime(AttrZoneSetAt, w.Now)
				w.After[AttrZoneVersion] = w.After[entity.AttrVersion]
			}
		},
	}
}

func preferenceFields() []entity.Field {
	choice := func(name string, fallback int64, doc string, allowed ...int64) entity.Field {
		return entity.Field{
			Name: name, Kind: entity.Integer, Required: true, Default: item.Int(fallback), Allowed: allowed, Doc: doc,
		}
	}
	flag := func(name, doc string) entity.Field {
		return entity.Field{Name: name, Kind: entity.Flag, Required: true, Default: item.Bool(true), Doc: doc}
	}
	return []entity.Field{
		choice("weekStart", 1, "0 is Sunday, 1 is Monday.", 0, 1),
		choice("defaultEventDuration", 30, "Minutes.", 15, 30, 45, 60),
		choice("defaultCalendarIncrement", 15, "Minutes.", 10, 15, 30, 60),
		{Name: "defaultReminderMinutes", Kind: entity.Integers, Required: true, Default: item.List{item.Int(15)},
			Max: maxOffsets, MemberMax: maxOffset, Doc: "What a client proposes for a new event."},
		{Name: "theme", Kind: entity.Enum, Required: true, Default: item.String("dark"),
			Enum: []string{"light", "dark", "auto"}, Doc: "How clients look."},
		flag("autoArchiveCompletedTasks", "Move completed tasks to ARCHIVED after autoArchiveDelayHours."),
		{Name: "autoArchiveDelayHours", Kind: entity.Integer, Required: true, Default: item.Int(24), Min: 1, Max: 8760,
			Doc: "Hours."},
		flag("enableBrowserNotifications", "Deliver reminders to the browser."),
		flag("enableSoundNotifications", "Deliver reminders with a sound."),
		{Name: PreferenceHistoryDays, Kind: entity.Integer, Required: true, Default: item.Int(0), Min: 0, Max: 36500,
			Doc: "Days for which the history of the values and of plans is kept; 0 is for ever."},
		{Name: preferenceDetail, Kind: entity.Enum, Required: true, Default: item.String(detailTitle),
			Enum: []string{detailTitle, detailNone}, Doc: "What a notification on a device shows of an item."},
		{Name: preferenceQuietHours, Kind: entity.Object, Doc: "When notifications on devices make no sound.",
			Fields: []entity.Field{
				{Name: quietFrom, Kind: entity.Integer, Required: true, Max: lastMinuteOfDay,
					Doc: "The minute of the day, in the user's zone, with which they begin."},
				{Name: quietTo, Kind: entity.Integer, Required: true, Max: lastMinuteOfDay,
					Doc: "The minute of the day with which they end, perhaps on the next day."},
			}},
	}
}

// Statistics of USER_META.stats.
const (
	StatTotalEvents       = "totalEvents"
	StatTotalTasks        = "totalTasks"
	StatTotalReminders    = "totalReminders"
	StatTotalNotes        = "totalNotes"
	StatLastEventCreated  = "lastEventCreated"
	StatLastTaskCompleted = "lastTaskCompleted"
)

func statFields() []entity.Field {
	total := func(name string) entity.Field {
		return entity.Field{
			Name: name, Kind: entity.Integer, Required: true, Default: item.Int(0), Doc: "Entities that exist.",
		}
	}
	return []entity.Field{
		total(StatTotalEvents), total(StatTotalTasks), total(StatTotalReminders), total(StatTotalNotes),
		{Name: StatLastEventCreated, Kind: entity.Instant, Doc: "The latest ever."},
		{Name: StatLastTaskCompleted, Kind: entity.Instant, Doc: "The latest ever."},
	}
}

// EmptyStats returns the statistics before anything was counted.
func EmptyStats() item.Map {
	stats := item.Item{}
	entity.FillDefaults(statFields(), stats)
	return item.Map(stats)
}

// WithAllStats returns the user's row as clients see it: with every statistic, and zero for those without a count.
func WithAllStats(meta item.Item) item.Item {
	shown := meta.Clone()
	stats := item.Item(EmptyStats())
	maps.Copy(stats, meta.Map(AttrStats))
	shown[AttrStats] = item.Map(stats)
	return shown
}

// NewUserMeta returns USER_META before its first write: the defaults, at version 0.
func NewUserMeta(user string, now time.Time) item.Item {
	it := entity.MetaKey(user).Item()
	it[entity.AttrType] = item.String(entity.TypeUserMeta)
	it[AttrUserID] = item.String(user)
	it[entity.AttrVersion] = item.Int(0)
	it.SetTime(entity.AttrCreatedAt, now)
	it.SetTime(entity.AttrUpdatedAt, now)
	entity.FillDefaults(UserMeta().Fields, it)
	return it
}

// UserMetaOf returns the user's USER_META as it was read; its defaults if the row is nil.
func UserMetaOf(user string, row item.Item, now time.Time) item.Item {
	if row == nil {
		return NewUserMeta(user, now)
	}
	return row
}
