package planted

// ofCommands are mistakes in the write side.
func ofCommands() []Mistake {
	const editing, exception, series, split = "pkg/command/edit.go", "pkg/command/exception.go", "pkg/command/series.go", "pkg/command/splitseries.go"
	return []Mistake{
		{"command-id-used-again", "an id never comes back to life as something else", []Edit{{"pkg/command/create.go",
			"if !n.chosen {\n\t\treturn nil\n\t}", "if n.chosen || !n.chosen {\n\t\treturn nil\n\t}"}}},
		{"command-delete-without-gone", "DELETE removes the item and puts GONE# in one transaction", []Edit{{"pkg/command/delete.go",
			"steps := []step{r.item(c), r.gone(c)}", "steps := []step{r.item(c)}"}}},
		{"command-if-match-ignored", "a change names the version that its user saw", []Edit{{editing,
			"return before, c.expects(e.typ, e.ref, before)", "return before, nil"}}},
		{"edit-version-not-asked", "an edit made before another edit is a conflict", []Edit{{"pkg/entity/editversion.go",
			"return EditVersion(it) <= version && version <= it.Int(AttrVersion)", "return 1 <= version && version <= it.Int(AttrVersion)"}}},
		{"edit-version-kept-by-command", "every command removes editVersion", []Edit{{"pkg/entity/editversion.go",
			"delete(after, AttrEditVersion)\n\t\tdelete(after, AttrSystemVersion)\n\t\treturn", "return"}, {"pkg/entity/editversion.go",
			"it.Has(AttrEditVersion) && item.Equal(it[AttrSystemVersion], it[AttrVersion])", "it.Has(AttrEditVersion)"}}},
		{"edit-version-raised-by-firing", "what the system writes makes no edit a conflict", []Edit{{"pkg/reminders/close.go",
			"r.typ.Next(entity.BySystem, ", "r.typ.Next(entity.ByUser, "}}},
		{"command-version-not-asked", "version = :expected on every change", []Edit{{editing,
			"condition := table.AtVersion(stored.Int(entity.AttrVersion))", "condition := table.Exists()"}}},
		{"command-settings-look-counted", "statsWritten: every other writer of the row takes it off", []Edit{{"pkg/command/updateme.go",
			"takenOff: []string{product.AttrStatsWritten},", "takenOff: nil,"}}},
		{"command-ttl-seen-only", "every write of a command removes ttl, whether its read saw one or not", []Edit{{"pkg/table/diff.go",
			"if !after.Has(entity.AttrTTL) {\n\t\tu.Remove", "if before.Has(entity.AttrTTL) && !after.Has(entity.AttrTTL) {\n\t\tu.Remove"}}},
		{"command-receipt-not-put", "a request that is repeated under its key is carried out once", []Edit{{"pkg/command/commit.go",
			"if c.receipt != nil {\n\t\tactions = append", "if c.receipt != nil && len(steps) == 0 {\n\t\tactions = append"}}},
		{"command-due-set-at-kept", "dueSetAt is the time of the last command that changed a due instant", []Edit{{editing,
			"if e.typ.DuesDiffer(before, after) {", "if e.typ.DuesDiffer(before, after) && !after.Has(product.AttrDueSetAt) {"}}},
		{"exception-not-counted", "an exception is written together with its series' count", []Edit{{exception,
			"besides([]step{putRow(o.row, after), countException(o.master)}, targets)", "besides([]step{putRow(o.row, after)}, targets)"}}},
		{"exception-count-not-guarded", "whoever splits or reshapes the series sees the exception or is seen by it", []Edit{{exception,
			"Key: master.Key(), If: unchanged(master),", "Key: master.Key(), If: table.Exists(),"}}},
		{"exception-if-match-ignored", "an occurrence names its version, or its series'", []Edit{{exception,
			"err := c.expects(c.instanceType(), o.ref, before); err != nil {",
			"err := c.expects(c.instanceType(), o.ref, before); err != nil && *c.expected > before.Int(entity.AttrVersion) {"}}},
		{"exception-due-set-at-kept", "dueSetAt moves with an exception that changes what is due", []Edit{{exception,
			"if duesMoved(o.Occurrence, before, now.Occurrence, res.Item) {", "if o.row == nil && duesMoved(o.Occurrence, before, now.Occurrence, res.Item) && o.master == nil {"}}},
		{"series-strip-forgotten", "an exception taken along by a split leaves its row bare", []Edit{{series,
			"return c.inChunks(ctx, rows, func(row item.Item) table.Action {\n\t\treturn table.Change(", "return c.inChunks(ctx, rows[:0], func(row item.Item) table.Action {\n\t\treturn table.Change("}}},
		{"series-deleted-without-exceptions", "deleting a series takes its instances with it", []Edit{{"pkg/command/deleteseries.go",
			"if err := c.drop(ctx, cmd.ID); err != nil {", "if err := c.drop(ctx, res.Ref.Type); err != nil {"}}},
		{"split-without-staging", "a split takes later exceptions along", []Edit{{split,
			"if err := w.stage(ctx, before, p); err != nil {", "if err := w.stage(ctx, before, splitPlan{}); err != nil {"}}},
		{"split-date-in-both", "a split ends the old series before the date", []Edit{{"pkg/command/splitplan.go",
			"after.SetTime(product.AttrRRuleUntil, justBefore(s.RecurrenceID(at)))", "after.SetTime(product.AttrRRuleUntil, s.RecurrenceID(at))"}}},
	}
}

// ofLoop are mistakes in the batch loop and in reading records.
func ofLoop() []Mistake {
	const loop, delivery, interpret = "pkg/consume/consume.go", "pkg/consume/delivery.go", "pkg/change/interpret.go"
	return []Mistake{
		{"loop-parks-throttling", "throttling, timeouts and outages are retried, never parked", []Edit{{delivery,
			"if panicked := (*panicError)(nil); errors.As(outcome.Err, &panicked) {\n\t\tp.alone = true",
			"if panicked := (*panicError)(nil); errors.As(outcome.Err, &panicked) || p.tries >= d.cfg.Attempts {\n\t\tp.alone = true"}}},
		{"loop-acknowledges-past-retry", "the answer names the first record that any consumer could not finish", []Edit{{loop,
			"first = min(first, d.firstUnfinished())", "first = max(first, d.firstUnfinished())"}}},
		{"loop-last-consumer-answers", "of the first record that any consumer could not finish", []Edit{{loop,
			"first = min(first, d.firstUnfinished())", "first = d.firstUnfinished()"}}},
		{"loop-names-last-unfinished", "the checkpoint becomes the lowest sequence number", []Edit{{delivery,
			"for i := range d.records {\n\t\tif !d.records[i].finished {\n\t\t\treturn i",
			"for i := range d.records {\n\t\tif i = len(d.records) - 1 - i; !d.records[i].finished {\n\t\t\treturn i"}}},
		{"loop-parking-not-acknowledged", "if storing fails, it is a retry", []Edit{{"pkg/consume/park.go",
			"d.failed(i, fmt.Errorf(\"park %s: %w\", name, err))\n\t\treturn", "d.cfg.Log.WarnContext(ctx, \"not parked\", slog.String(\"object\", name))"}}},
		{"record-removal-has-old-version", "for a removal vNew is the old image's version plus 1", []Edit{{interpret,
			"\t\tc.Version++\n", ""}}},
		{"record-expired-as-removed", "removals by TTL are told from those by users", []Edit{{interpret,
			"if rec.Expired {", "if rec.Expired && rec.Old == nil {"}}},
	}
}
