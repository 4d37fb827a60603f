package cost

// Load is what users do in a month. All numbers but the first two are for one user; those by the day are whole, so that
// every user and every day is alike and a part of the users is a part of the bill.
type Load struct {
	Users int `json:"users"`
	Days  int `json:"days"`

	// What is created in a day. Of ten events eight are single, one begins a series and one changes an occurrence of it.
	Events      int `json:"events"`
	Series      int `json:"series"`
	Occurrences int `json:"occurrences"`
	Tasks       int `json:"tasks"`
	Reminders   int `json:"reminders"`
	Notes       int `json:"notes"`

	// Of these, how many have a reminder of their own, a link to a task, and no due time.
	RemindingEvents int `json:"remindingEvents"`
	LinkedNotes     int `json:"linkedNotes"`
	UndatedTasks    int `json:"undatedTasks"`

	// What is changed on every day of so many.
	ChangesEvery   int `json:"changesEvery"`
	RetitledEvents int `json:"retitledEvents"`
	MovedEvents    int `json:"movedEvents"`
	StartedTasks   int `json:"startedTasks"`
	EditedNotes    int `json:"editedNotes"`

	// What ends in a day. Completed tasks are archived after a day and leave the table after another seven; all reminders
	// fire, and those that are completed leave after a day.
	CompletedTasks     int `json:"completedTasks"`
	CompletedReminders int `json:"completedReminders"`
	// RareEvery is every how many days a user cancels one event and deletes another.
	RareEvery int `json:"rareEvery"`

	// ReadsPerMonth is how often all users look at something, and CachedReads the part of it that clients answer
	// themselves.
	ReadsPerMonth float64 `json:"readsPerMonth"`
	CachedReads   float64 `json:"cachedReads"`
}

// DocumentLoad is the load of the source document on the table, section 6: 10,000 users, each with 10 events, 5 tasks,
// 3 reminders and 2 notes a day, and 10 million reads a month of which clients cache 60 %. A fifth of the events recur
// (its section 2), and an item fits into a write unit. What it does not say is chosen on the modest side: one item of
// ten is changed once, a user completes a task and a reminder a day, and one event of ten reminds. What more of
// anything costs stands in the bill, by activity.
func DocumentLoad() Load {
	return Load{
		Users: 10_000, Days: 30,
		Events: 8, Series: 1, Occurrences: 1, Tasks: 5, Reminders: 3, Notes: 2,
		RemindingEvents: 1, LinkedNotes: 1, UndatedTasks: 1,
		ChangesEvery: 2, RetitledEvents: 1, MovedEvents: 1, StartedTasks: 1, EditedNotes: 1,
		CompletedTasks: 1, CompletedReminders: 1, RareEvery: 10,
		ReadsPerMonth: 10_000_000, CachedReads: 0.6,
	}
}

// at returns the load of a part of the users, at least one, and how many times that part is all of them.
func (l Load) at(scale float64) (part Load, times float64) {
	part = l
	part.Users = max(1, int(float64(l.Users)*scale+0.5))
	return part, float64(l.Users) / float64(part.Users)
}

// readsPerUser is how many requests that read one user sends in the whole month.
func (l Load) readsPerUser(users int) int {
	return int(l.ReadsPerMonth*(1-l.CachedReads)/float64(users) + 0.5)
}
