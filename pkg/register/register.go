// Package register lists all places that hold a user's data: each kind of row, object, schedule, queue and event, with
// the way to its owner, its form in an export, and the way in which it is erased. docs/privacy.md shows the list.
//
// It promises that the list is complete for what the suites make: they fail on anything that no line matches, and each
// line names a suite that fails if it makes nothing of the line. It must import no package of Nexus: the keys' own
// packages read it.
package register

// Place is where a kind of data is: for a row the form of its partition key.
type Place string

// The places.
const (
	Items        Place = "USER#u"
	Repositories Place = "U#u"
	Tree         Place = "U#u#VALUES#<revId>"
	Plan         Place = "U#u#PLAN#<date>"
	PlanSnapshot Place = "U#u#PLAN#<date>#<revId>"
	Account      Place = "ERASE#<h>"
	Form         Place = "REGISTER"
	Pepper       Place = "PEPPER"
	Archive      Place = "archive bucket"
	Parking      Place = "parking bucket"
	Snapshots    Place = "snapshot bucket"
	Scheduler    Place = "scheduler"
	Bus          Place = "bus"
	Queue        Place = "queue"
	Stream       Place = "stream"
	Log          Place = "log"
	Backup       Place = "backup"
)

// Owner says how the user is found.
type Owner string

// The ways to the owner.
const (
	ByKey     Owner = "key"
	ByName    Owner = "name" // of the object or schedule
	ByContent Owner = "content"
	NoUser    Owner = "no user"
)

// Export is the form in which a user gets the data.
type Export string

// The forms. None is for what is derived, or of no use elsewhere.
const (
	AsItem     Export = "item"
	AsRevision Export = "revision"
	AsCopy     Export = "copy"
	AsSettings Export = "settings"
	AsIDs      Export = "ids"
	None       Export = "no"
)

// Erasure is the way in which the data leave with their user.
type Erasure string

// The ways.
const (
	ByWalk    Erasure = "walk" // with all rows of the partition
	ByLog     Erasure = "log"  // by the log of the repository, and its drafts
	ByList    Erasure = "list" // by the names of the objects, in all their versions, or of the schedules
	ByReading Erasure = "read" // by the content of all such objects
	ByWaiting Erasure = "wait" // it ends by itself
	Never     Erasure = "none" // it is no user's
)

// Suite makes something of a line, and fails if it does not.
type Suite string

// The suites. OnAWS is for what only AWS makes.
const (
	Simulation    Suite = "internal/simulate"
	Functions     Suite = "functions/e2e"
	Histories     Suite = "pkg/revision"
	Erasures      Suite = "pkg/account"
	Transfers     Suite = "pkg/transfer"
	Verifications Suite = "pkg/verify"
	Deliveries    Suite = "pkg/deliver"
	Webhooks      Suite = "pkg/webhook"
	Demo          Suite = "nexus demo"
	OnAWS         Suite = "AWS"
)

// Line is one kind of data.
type Line struct {
	Place Place
	// Shape is the form of the sort key, of the name, or of the event's type. u and angle brackets stand for a part of
	// one component, and with … for all that follow.
	Shape string
	// Entity says that it is the row of an entity, whose type package product defines.
	Entity bool
	// Holds says what it holds, in a few words.
	Holds   string
	Owner   Owner
	Export  Export
	Erasure Erasure
	// Until says when data of [ByWaiting] end.
	Until string
	Suite Suite
	// Why tells the user why no export has a row of [Items] or [Repositories]; empty for what one has.
	Why string
}

// String names the line by its place and its shape.
func (l Line) String() string { return string(l.Place) + ": " + l.Shape }

// The names of objects begin with these. No two buckets have objects whose names begin alike.
const (
	archived = "archive/"
	exported = "exports/"
	parked   = "parked/"
	failed   = "aws/lambda/"
	snapped  = "snap/"
)

// Lines returns all lines.
func Lines() []Line {
	var lines []Line
	for _, some := range [][]Line{entities(), derived(), repositories(), accounts(), elsewhere()} {
		lines = append(lines, some...)
	}
	return lines
}

func entities() []Line {
	item := func(shape, holds string) Line {
		return Line{Items, shape, true, holds, ByKey, AsItem, ByWalk, "", Simulation, ""}
	}
	return []Line{
		item("EVENT#<id>", "an event"), item("MASTER#<id>", "a series"),
		item("INSTANCE#<masterId>#<date>", "an exception of a series"), item("TASK#<id>", "a task"),
		item("REMINDER#<id>", "a reminder"), item("NOTE#<id>", "a note"),
		{Items, "WEBHOOK#<id>", true, "an endpoint of the user's that is told of changes: its address", ByKey, AsItem, ByWalk,
			"", Webhooks, ""},
		{Items, "USER_META#u", true, "settings and statistics", ByKey, AsSettings, ByWalk, "", Simulation, ""},
	}
}

// derived returns the rows of a user's partition that are no entities, of consumers and of commands.
func derived() []Line {
	row := func(shape, holds string, export Export, suite Suite) Line {
		return Line{Items, shape, false, holds, ByKey, export, ByWalk, "", suite, ""}
	}
	left := func(shape, holds string, suite Suite, why string) Line {
		return Line{Items, shape, false, holds, ByKey, None, ByWalk, "", suite, why}
	}
	return []Line{
		left("LINK#<srcType>#<srcId>#<dstType>#<dstId>", "an edge, also in the index of backlinks", Simulation,
			"the items name their links, and an import makes the edges of them"),
		left("LEDGER#<projection>#<itemId>", "what an item contributes to a projection; of a task its day of completion",
			Simulation, "an import counts each item again, and each cold copy"),
		left("TIMER#ARCHIVE#<taskId>#<version>", "when a task is archived", Simulation,
			"an import sets the timers of the tasks again"),
		left("FIRED#<itemId>#<offset>#<occurrence>#<due>", "a delivery, with the item's title", Simulation,
			"it says what has rung in this account, and nothing rings a second time in another"),
		row("COLD#<itemId>", "the name of a cold copy, with the item's title and what of it counts", AsCopy, Simulation),
		row("GONE#<itemId>", "the id of a deleted item", AsIDs, Simulation),
		left("RECEIPT#<hash>", "the answer to an idempotent request", Simulation,
			"it is for requests that are sent to this account twice"),
		left("SUM#<projection>", "a product's own sum", Simulation,
			"an import adds the items up again"),
		left("ZONE#<USER_META version>", "how far a change of time zone has come", Simulation,
			"it ends with the change, and the items have what came of it"),
		left("SERIES#<masterId>#<version>", "how far a change of a series has come", Simulation,
			"it ends with the change, and the series has what came of it"),
		left("RATE#<policy>", "how much of a rate is used", Demo,
			"each account is limited by what is asked of it"),
		left("COUNT#u", "how many exceptions, ids that are gone and open schedules there are", Verifications,
			"a verification counts what an account has"),
		left("FEED#u", "the digest of the calendar address's secret", Demo,
			"the address is that of this account, and another account makes its own"),
		left("CHANGE#open", "that an app is open", Functions,
			"it holds for minutes, and for the apps of this account"),
		left("CHANGE#<n>", "which things have changed, by their ids", Simulation,
			"devices read by it what has changed in this account, and begin at another with all of it"),
		left("DEVICE#<deviceId>", "a device for reminders: its secret endpoint and keys", Deliveries,
			"a device is registered with this account, and registers itself with another"),
		left("PUSH#<deliveryId>#<deviceId>", "what became of a delivery on a device, with the item's title", Deliveries,
			"it says what was told in this account"),
		left("ACT#<deliveryId>", "what was chosen about a delivery on a device", Deliveries,
			"it keeps one notification from being acted on twice"),
		left("MSG#<hook>#<at>#<version>#<messageId>", "a message to a webhook: its body, which may be the whole item",
			Webhooks, "it was made for the endpoint, and the items themselves are in the file"),
		left("OUT#<hook>#<at>#<version>#<messageId>", "a message that is to be sent: its attempts, and what was answered",
			Webhooks, "nothing is sent twice from two accounts"),
		left("LANE#<hook>", "how an endpoint answers of late", Webhooks, "another account finds it out by itself"),
		left("EXPORT#<id>", "a job of export, with its counts", Transfers,
			"the job ends with this file, and its file after 7 days"),
		left("IMPORT#u", "how far an import of the account has come", Simulation,
			"it keeps one file from being put into this account twice"),
		row("KEPT#<sort key of an item…>", "what another calendar says of an item", AsItem, Simulation),
	}
}

func repositories() []Line {
	row := func(place Place, shape, holds string, erasure Erasure, suite Suite) Line {
		return Line{place, shape, false, holds, ByKey, AsRevision, erasure, "", suite, ""}
	}
	draft := func(shape string, suite Suite) Line {
		return Line{Repositories, shape, false, "the announcement of a snapshot", ByKey, None, ByWalk, "", suite,
			"it is a step of a commit, and the file has each revision that was made"}
	}
	return []Line{
		row(Repositories, "HEAD#VALUES", "the present revision of the values", ByWalk, Simulation),
		row(Repositories, "REV#VALUES#<Z>#<revId>", "a revision of the values, with its message", ByWalk, Simulation),
		draft("DRAFT#VALUES#<revId>", Histories), draft("DRAFT#PLAN#<date>#<revId>", Histories),
		{Repositories, "PLAN#<date>", false, "that a day has a plan", ByKey, None, ByWalk, "", Simulation,
			"the file has the plan itself"},
		row(Tree, "NODE#<nodeId>", "a node of a snapshot, with title and notes", ByLog, Demo),
		row(Tree, "EDGE#<parentId>#<n>#<childId>", "an edge of a snapshot", ByLog, Demo),
		row(Plan, "HEAD", "the present revision of a plan", ByLog, Simulation),
		row(Plan, "REV#<Z>#<revId>", "a revision of a plan, with its message", ByLog, Simulation),
		row(PlanSnapshot, "TODO#<n>#A#<actionId>", "a to-do of a snapshot, with notes", ByLog, Demo),
		row(PlanSnapshot, "BLOCK#<Z>#<blockId>", "a block of a snapshot, with its title", ByLog, Demo),
	}
}

// accounts returns what is kept of an account that leaves, under a name that only the pepper leads to, and of the
// deployment.
func accounts() []Line {
	object := func(shape, holds string, erasure Erasure, until string) Line {
		return Line{Archive, shape, false, holds, NoUser, None, erasure, until, Erasures, ""}
	}
	return []Line{
		{Account, "STATE", false, "the state of an account that leaves; its user until ERASED", ByContent, None, ByWaiting,
			"40 days after ERASED", Erasures, ""},
		{Form, "DEPLOYMENT", false, "the form that all rows and schedules have", NoUser, None, Never, "", Erasures, ""},
		{Pepper, "DEPLOYMENT", false, "a check of the pepper", NoUser, None, Never, "", Erasures, ""},
		object("leaving/<h>", "when an account is to be erased", ByWaiting, "the erasure or the return"),
		object("erased/<h>", "when an account was erased", ByWaiting, "40 days, and 1 of a version that is not current"),
		object("pepper", "a check of the pepper", Never, ""),
	}
}

func elsewhere() []Line {
	event := func(name, holds string) Line {
		return Line{Bus, name, false, holds, ByContent, None, ByWaiting, "its delivery", Simulation, ""}
	}
	aws := func(place Place, shape, holds string, owner Owner, until string) Line {
		return Line{place, shape, false, holds, owner, None, ByWaiting, until, OnAWS, ""}
	}
	return []Line{
		{Archive, archived + "<u>/<itemId>/<version>.json", false, "a cold copy: the whole item", ByName, AsCopy, ByList, "",
			Simulation, ""},
		{Archive, exported + "<u>/<id>/account.zip", false, "a finished export: everything of the user, for 7 days", ByName,
			None, ByList, "", Transfers, ""},
		{Archive, exported + "<u>/<id>/parts/<stage>-<n>.part", false, "a part of an export that is under way", ByName, None,
			ByList, "", Transfers, ""},
		{Parking, "parked/<consumer>/.unreadable/<digest>.json", false, "a record without a user's key", ByContent, None,
			ByReading, "", Simulation, ""},
		{Parking, "parked/<consumer>/<u>/.<digest>/<sequence>.json", false,
			"a record that could not be decoded, or of a row that is no item", ByName, None, ByList, "", Simulation, ""},
		{Parking, "parked/<consumer>/<u>/<itemId>/<version>-<sequence>.json", false,
			"a record, whole, with both images", ByName, None, ByList, "", Simulation, ""},
		aws(Parking, "aws/lambda/<mapping>/<…>", "batches of several users that a reader gave up", ByContent,
			"35 days, and 1 of a version that is not current"),
		{Snapshots, snapped + "<u>/<kind>/<row>-<x>", false, "a piece of an index of words: titles and texts of the items",
			ByName, None, ByList, "", Simulation, ""},
		{Scheduler, "reminder-<11 of the user's digest>-<digest>", false, "user and item, no text", ByName, None, ByList, "",
			Simulation, ""},
		{Scheduler, "push-<11 of the user's digest>-<digest>", false, "user, delivery and device, no text", ByName, None,
			ByList, "", Deliveries, ""},
		{Scheduler, "hook-<11 of the user's digest>-<digest>", false, "user and webhook, no text", ByName, None, ByList, "",
			Webhooks, ""},
		event("ReminderDue", "user and item, with its title"), event("TaskArchived", "user and item"),
		event("ItemExpired", "user and item"), event("ItemRestored", "user and item"),
		{Bus, "UserErased", false, "the user, for those who keep what they were told", ByContent, None, ByWaiting,
			"its delivery", Erasures, ""},
		aws(Queue, "schedule-dead-letter", "calls that the scheduler could not make: user and item", ByContent, "14 days"),
		aws(Queue, "deliver-failures", "events and calls in which deliver failed: user and item, with its title", ByContent,
			"14 days"),
		aws(Queue, "notify-failures", "calls in which notify failed: user and item", ByContent, "14 days"),
		{Queue, "walks", false, "user and cursor of a walk, no text", ByContent, None, ByWaiting, "4 days", Simulation,
			""},
		{Queue, "walks-dead-letter", false, "user and cursor of a walk that failed", ByContent, None, ByWaiting, "14 days",
			Simulation, ""},
		aws(Stream, "", "every record, with both images", ByKey, "24 hours"),
		aws(Log, "", "pseudonyms of users, ids of items, keys without their users", ByContent,
			"the days that the stage sets"),
		aws(Backup, "", "all rows, for a restore to a point in time", ByKey, "35 days"),
	}
}
