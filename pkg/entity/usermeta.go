package entity

import (
	"maps"
	"time"

	"nexus/pkg/item"
)

// DefaultTzid is the zone of a user who has not chosen one.
const DefaultTzid = "UTC"

// UserMeta is the type of the one row that holds a user's zone, preferences and statistics.
func UserMeta() *Type {
	return &Type{
		Name: TypeUserMeta, IDAttr: AttrUserID,
		Fields: []Field{
			{Name: AttrType, Kind: Text, Origin: FromServer, Required: true, Doc: "The entity's type."},
			{Name: AttrUserID, Kind: Text, Origin: FromServer, Required: true, Doc: "The user's id."},
			{Name: AttrDefaultTzid, Kind: Zone, Required: true, Default: item.String(DefaultTzid), Doc: "The zone in which floating times are read."},
			{Name: AttrPreferences, Kind: Object, Required: true, Default: item.Map{}, Fields: preferenceFields(), Doc: "Settings."},
			{Name: AttrStats, Kind: Object, Origin: FromServer, Fields: statFields(), Doc: "Statistics, kept by a consumer of the stream."},
			{Name: AttrStatsVersion, Kind: Integer, Origin: Hidden, Doc: "Optimistic lock of the statistics, apart from version."},
			{Name: AttrStatsHold, Kind: Object, Origin: Hidden, Doc: "A repair's hold on the statistics."},
			{Name: AttrStatsRepairs, Kind: Integer, Origin: Hidden, Doc: "How many repairs of the statistics staged ledger rows and have been through."},
			{Name: AttrStatsLast, Kind: Object, Origin: Hidden, Doc: "The last entry of the statistics' ledger, which its own row may still lack."},
			{Name: AttrStatsForm, Kind: Integer, Origin: Hidden, Doc: "The form of the statistics' bookkeeping; 1 if it is absent."},
			{Name: AttrStatsWritten, Kind: Flag, Origin: Hidden, Doc: "The statistics were the last to write the row: whoever waits for the user's settings need not look."},
			{Name: AttrZoneSetAt, Kind: Instant, Origin: Hidden, Doc: "When defaultTzid last changed."},
			{Name: AttrVersion, Kind: Integer, Origin: FromServer, Required: true, Doc: "Grows by one with every change by the user; 0 until the first."},
			{Name: AttrCreatedAt, Kind: Instant, Origin: FromServer, Required: true, Doc: "When the row was created."},
			{Name: AttrUpdatedAt, Kind: Instant, Origin: FromServer, Required: true, Doc: "When the user last changed it."},
		},
		Derive: func(w Write) {
			if w.Before != nil && !item.Equal(w.Before[AttrDefaultTzid], w.After[AttrDefaultTzid]) {
				w.After.SetTime(AttrZoneSetAt, w.Now)
			}
		},
	}
}

func preferenceFields() []Field {
	choice := func(name string, fallback int64, doc string, allowed ...int64) Field {
		return Field{Name: name, Kind: Integer, Required: true, Default: item.Int(fallback), Allowed: allowed, Doc: doc}
	}
	flag := func(name, doc string) Field {
		return Field{Name: name, Kind: Flag, Required: true, Default: item.Bool(true), Doc: doc}
	}
	return []Field{
		choice("weekStart", 1, "0 is Sunday, 1 is Monday.", 0, 1),
		choice("defaultEventDuration", 30, "Minutes.", 15, 30, 45, 60),
		choice("defaultCalendarIncrement", 15, "Minutes.", 10, 15, 30, 60),
		{Name: "defaultReminderMinutes", Kind: Integers, Required: true, Default: item.List{item.Int(15)}, Max: maxOffsets, MemberMax: maxOffset, Doc: "What a client proposes for a new event."},
		{Name: "theme", Kind: Enum, Required: true, Default: item.String("dark"), Enum: []string{"light", "dark", "auto"}, Doc: "How clients look."},
		flag("autoArchiveCompletedTasks", "Move completed tasks to ARCHIVED after autoArchiveDelayHours."),
		{Name: "autoArchiveDelayHours", Kind: Integer, Required: true, Default: item.Int(24), Min: 1, Max: 8760, Doc: "Hours."},
		flag("enableBrowserNotifications", "Deliver reminders to the browser."),
		flag("enableSoundNotifications", "Deliver reminders with a sound."),
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

func statFields() []Field {
	total := func(name string) Field {
		return Field{Name: name, Kind: Integer, Required: true, Default: item.Int(0), Doc: "Entities that exist."}
	}
	return []Field{
		total(StatTotalEvents), total(StatTotalTasks), total(StatTotalReminders), total(StatTotalNotes),
		{Name: StatLastEventCreated, Kind: Instant, Doc: "The latest ever."},
		{Name: StatLastTaskCompleted, Kind: Instant, Doc: "The latest ever."},
	}
}

// EmptyStats is what the statistics are before anything was counted.
func EmptyStats() item.Map {
	stats := item.Item{}
	FillDefaults(statFields(), stats)
	return item.Map(stats)
}

// WithAllStats is the user's row as it is shown: with every statistic, those that nothing was counted of yet at zero.
func WithAllStats(meta item.Item) item.Item {
	shown := meta.Clone()
	stats := item.Item(EmptyStats())
	maps.Copy(stats, meta.Map(AttrStats))
	shown[AttrStats] = item.Map(stats)
	return shown
}

// NewUserMeta is what USER_META is until somebody writes it: the defaults, at version 0.
func NewUserMeta(user string, now time.Time) item.Item {
	it := MetaKey(user).Item()
	it[AttrType] = item.String(TypeUserMeta)
	it[AttrUserID] = item.String(user)
	it[AttrVersion] = item.Int(0)
	it.SetTime(AttrCreatedAt, now)
	it.SetTime(AttrUpdatedAt, now)
	FillDefaults(UserMeta().Fields, it)
	return it
}
