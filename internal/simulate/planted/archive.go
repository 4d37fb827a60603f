package planted

const (
	copying   = "pkg/archive/copy.go"
	timer     = "pkg/archive/timer.go"
	restoring = "pkg/archive/restore.go"
)

// ofArchive are mistakes in archiving, expiry and restore.
func ofArchive() []Mistake {
	const putCopy = "if err := c.Copies.Put(ctx, name, body); err != nil {\n" +
		"\t\treturn false, fmt.Errorf(\"put cold copy %s: %w\", name, err)\n\t}\n"
	return []Mistake{
		{"archive-ttl-before-copy", "archive first, expire second", []Edit{
			{copying, putCopy, ""},
			{copying, "return false, fmt.Errorf(\"let %s expire: %w\", it.Key(), err)\n\t}\n",
				"return false, fmt.Errorf(\"let %s expire: %w\", it.Key(), err)\n\t}\n\t" + putCopy},
		}},
		{"archive-copy-not-acknowledged", "wait for the acknowledgement", []Edit{{copying, putCopy,
			"if err := c.Copies.Put(ctx, name, body); err != nil {\n\t\tc.Now()\n\t}\n"}}},
		{"archive-ttl-without-version", "ttl is set under version = n", []Edit{{copying,
			"If: table.AtVersion(version)},\n\t\ttable.Put{Item: cold, If",
			"If: table.Exists()},\n\t\ttable.Put{Item: cold, If"}}},
		{"archive-without-cold-row", "ttl and COLD# in one transaction", []Edit{{copying,
			"\t\ttable.Put{Item: cold, If: table.OrNoRow(table.Missing(entity.AttrForm))},\n", ""}}},
		{"archive-cold-stays-on-reopen", "a change to another status removes COLD# and the copy", []Edit{{copying,
			"if _, left := ch.Type.Retention[ch.Old.Str(entity.AttrStatus)]; !left {",
			"if _, left := ch.Type.Retention[ch.New.Str(entity.AttrStatus)]; !left {"}}},
		{"archive-takes-another-lifes-row", "only if COLD# has the version of the record's old image", []Edit{{copying,
			"If:  table.OrNoRow(table.Equal(entity.AttrVersion, item.Int(old)), table.Missing(entity.AttrForm)),", ""}}},
		{"archive-takes-any-copy", "never remove a copy that a row names", []Edit{{copying,
			"if err != nil || cold.Int(entity.AttrVersion) == version {",
			"if err != nil || cold.Int(entity.AttrVersion) < 0 {"}}},
		{"archive-unnamed-copy-left", "removes an object that no COLD# row names", []Edit{{copying,
			"return c.dropUnnamed(ctx, ch.User, ch.Ref.ID, ch.Version)", "return nil"}}},
		{"archive-expiry-takes-copy", "an item that TTL removed keeps its copy", []Edit{{copying,
			"if ch.Kind == change.Expired {\n\t\treturn nil",
			"if ch.Kind == change.Expired && ch.Old == nil {\n\t\treturn nil"}}},
		{"archive-restored-leaves-again", "restoredAt is respected until the status changes again", []Edit{{copying,
			"if !final || it.Has(entity.AttrRestoredAt) {", "if !final {"}}},
		{"archive-ttl-from-creation", "ttl is counted from updatedAt", []Edit{{copying,
			"updated, ok := it.Time(entity.AttrUpdatedAt)", "updated, ok := it.Time(entity.AttrCreatedAt)"}}},
		{"timer-archives-whatever", "I7: no task was archived after it was reopened", []Edit{{timer,
			"if before.Str(entity.AttrStatus) != product.StatusCompleted ||\n" +
				"\t\t\tbefore.Str(product.AttrCompletedAt) != ch.Old.Str(product.AttrCompletedAt) ||\n" +
				"\t\t\tbefore.Str(product.AttrArchiveAt) != ch.Old.Str(product.AttrArchiveAt) {",
			"if before == nil || before.Str(entity.AttrStatus) == product.StatusArchived {"}}},
		{"timer-of-earlier-completion", "archived if it is still COMPLETED with the same completedAt", []Edit{{timer,
			" ||\n\t\t\tbefore.Str(product.AttrCompletedAt) != ch.Old.Str(product.AttrCompletedAt) ||\n" +
				"\t\t\tbefore.Str(product.AttrArchiveAt) != ch.Old.Str(product.AttrArchiveAt) {", " {"}}},
		{"timer-without-version", "every change adds one under version = :expected", []Edit{{timer,
			"table.Change(before, after, table.AtVersion(before.Int(entity.AttrVersion)))",
			"table.Change(before, after, table.Exists())"}}},
		{"timer-early", "I7: no task was archived before its time", []Edit{{timer,
			"item.Int(archiveAt.Unix())", "item.Int(archiveAt.Unix() - 3600)"}}},
		{"timer-only-for-new-tasks", "a task that becomes COMPLETED gets its timer", []Edit{{timer,
			"|| sameCompletion(ch.Old, ch.New) {",
			"|| sameCompletion(ch.Old, ch.New) || ch.Old.Has(entity.AttrRestoredAt) || ch.Version > 3 {"}}},
		{"restore-keeps-ttl", "restoring removes ttl", []Edit{{restoring,
			"restored.SetTime(entity.AttrRestoredAt, a.Now())",
			"restored.SetTime(entity.AttrRestoredAt, a.Now())\n\trestored.Set(entity.AttrTTL, before[entity.AttrTTL])"}}},
		{"restore-one-version-on", "the item is put as n+2", []Edit{{restoring,
			"item.Int(stored.Int(entity.AttrVersion) + restoredAhead - 1)", "item.Int(stored.Int(entity.AttrVersion))"}}},
		{"restore-leaves-cold-row", "the cold row at the version read is deleted", []Edit{{restoring,
			"\t\ttable.Delete{Key: cold.Key(), If: table.Exists(table.Equal(entity.AttrVersion, cold[entity.AttrVersion]))},\n",
			""}}},
	}
}
