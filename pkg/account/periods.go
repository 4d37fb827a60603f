package account

// Period says how long something remains of an erased account.
type Period struct {
	What, Until string
}

// Periods returns what remains, and until when (docs/operations.md, "What remains, and until when").
func Periods() []Period {
	return []Period{
		{"the stream; queues of calls", "24 hours; 14 days"},
		{"logs, with pseudonyms only", "the days that the stage sets, up to 731"},
		{"failure objects", "35 days after the batch was given up"},
		{"recovery to a point in time", "35 days; only a restore reads it, and it erases again"},
		{"a table that a restore replaced", "until it is deleted: after 7 days; its system backup 35 more"},
		{"a backup on demand", "until it is deleted: within 35 days"},
		{"a daily copy in another region", "the days that the stage sets, up to 35"},
		{"the person at the issuer of the tokens", "until its operator deletes the person"},
		{"the row `ERASE#<h>`, the object `erased/<h>`: an HMAC and two times", "40 days"},
		{"events that subscribers of the bus got", "theirs: `UserErased` tells them to forget"},
	}
}

// LocalPeriods returns what remains on a local system, and until when (likewise).
func LocalPeriods() []Period {
	return []Period{
		{"records of the stream, without a word, under the name `h`", "the directory is removed"},
		{"free pages of `engine/dynamodb.sqlite`", "the system stops, or starts again"},
		{"batches that a reader gave up", "35 days after that"},
		{"the row `ERASE#<h>`, the object `erased/<h>`: an HMAC and two times", "40 days"},
		{"the log, with pseudonyms only, and copies of the directory", "theirs, who keep them"},
	}
}
