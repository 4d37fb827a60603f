package cost

// Load describes the users' activity in a month. All numbers but the first two are for one user. Those by the day are
// whole, so that all users and days are alike and a part of the users is a part of the bill.
type Load struct {
	Users int `json:"users"`
	Days  int `json:"days"`

	// Items created in a day. Of ten events eight are single, one begins a series and one changes an occurrence of it.
	Events      int `json:"events"`
	Series      int `json:"series"`
	Occurrences int `json:"occurrences"`
	Tasks       int `json:"tasks"`
	Reminders   int `json:"reminders"`
	Notes       int `json:"notes"`

	// The number of these with a reminder, with a link to a task, and without a due time.
	RemindingEvents int `json:"remindingEvents"`
	LinkedNotes     int `json:"linkedNotes"`
	UndatedTasks    int `json:"undatedTasks"`

	// Changes, on one day of so many.
	ChangesEvery   int `json:"changesEvery"`
	RetitledEvents int `json:"retitledEvents"`
	MovedEvents    int `json:"movedEvents"`
	StartedTasks   int `json:"startedTasks"`
	EditedNotes    int `json:"editedNotes"`

	// Items that end in a day. Completed tasks are archived after a day and leave the table after another seven; all
	// reminders fire, and completed ones leave after a day.
	CompletedTasks     int `json:"completedTasks"`
	CompletedReminders int `json:"completedReminders"`
	// RareEvery is the interval in days at which a user cancels one event and deletes another.
	RareEvery int `json:"rareEvery"`

	// Sessions is how often a user opens an app in a day, for SessionMinutes each time. An open app gets live hints.
	Sessions       int `json:"sessions"`
	SessionMinutes int `json:"sessionMinutes"`

	// ReadsPerMonth is the number of reads of all users, and CachedReads the part of them that clients answer themselves.
	ReadsPerMonth float64 `json:"readsPerMonth"`
	CachedReads   float64 `json:"cachedReads"`

	// SearchesPerMonth is the number of searches of all users. SearchTail is how many entries the change log has between
	// two of one user.
	SearchesPerMonth float64 `json:"searchesPerMonth"`
	SearchTail       float64 `json:"searchTail"`

	// WebhookUsers is the number of users who have a webhook, and WebhookEvents how many events a day each is told.
	WebhookUsers  int `json:"webhookUsers"`
	WebhookEvents int `json:"webhookEvents"`
}

// DocumentLoad returns the load of the source document on the table, section 6: 10,000 users, each with 10 events, 5
// tasks, 3 reminders and 2 notes a day, and 10 million reads a month of which clients cache 60 %. A fifth of the
// events recur (its section 2), and an item fits into a write unit. Other figures are chosen on the modest side: one
// item of ten is changed once, a user completes a task and a reminder a day, one event of ten has a reminder, and an
// app is open for an hour a day. The bill shows the cost of more, by activity.
func DocumentLoad() Load {
	return Load{
		Users: 10_000, Days: 30,
		Events: 8, Series: 1, Occurrences: 1, Tasks: 5, Reminders: 3, Notes: 2,
		RemindingEvents: 1, LinkedNotes: 1, UndatedTasks: 1,
		ChangesEvery: 2, RetitledEvents: 1, MovedEvents: 1, StartedTasks: 1, EditedNotes: 1,
		CompletedTasks: 1, CompletedReminders: 1, RareEvery: 10,
		Sessions: 2, SessionMinutes: 30,
		ReadsPerMonth: 10_000_000, CachedReads: 0.6,
		SearchesPerMonth: 200_000, SearchTail: 100,
		WebhookUsers: 500, WebhookEvents: 30,
	}
}

// at returns the load of a part of the users, at least one, and the ratio of all users to that part.
func (l Load) at(scale float64) (part Load, times float64) {
	part = l
	part.Users = max(1, int(float64(l.Users)*scale+0.5))
	return part, float64(l.Users) / float64(part.Users)
}

// readsPerUser returns the number of read requests of one user in the whole month.
func (l Load) readsPerUser(users int) int {
	return int(l.ReadsPerMonth*(1-l.CachedReads)/float64(users) + 0.5)
}
