package planted

const (
	settle     = "pkg/reminders/reconcile.go"
	consumer   = "pkg/reminders/consumer.go"
	readRows   = "pkg/reminders/rows.go"
	dues       = "pkg/reminders/due.go"
	deliveries = "pkg/reminders/delivery.go"
)

// ofSchedules are mistakes in keeping the scheduler in agreement with the present state.
func ofSchedules() []Mistake {
	return []Mistake{
		{"reminders-act-on-image", "agree with the present state, never with the record's image", []Edit{
			{"pkg/reminders/config.go", "type engine struct{ Config }",
				"type engine struct {\n\tConfig\n\timages map[item.Key]item.Item\n}"},
			{"pkg/reminders/config.go", "return engine{c}", "return engine{Config: c}"},
			{consumer, "w.scope.add(ch.Type, ch.New)\n", "w.scope.add(ch.Type, ch.New)\n\t\t\tw.image = ch.New\n"},
			{consumer, "walk   *walk\n", "walk   *walk\n\timage  item.Item\n"},
			{consumer, "r := run{engine: c.engine, target: w.item, scope: w.scope}", "r := run{engine: c.engine, target: " +
				"w.item, scope: w.scope}\n\tr.images = map[item.Key]item.Item{w.item.key(): w.image}"},
			{readRows, "if r.item, err = e.findLive(ctx, t.key()); err != nil || r.item == nil {\n\t\treturn r, err\n\t}",
				"if r.item, err = e.findLive(ctx, t.key()); err != nil || r.item == nil {\n\t\treturn r, err\n\t}\n" +
					"\tif image, ok := e.images[t.key()]; ok {\n\t\tif r.item = image; image == nil {\n\t\t\treturn r, nil\n\t\t}\n" +
					"\t}"},
		}},
		{"reminders-no-second-look", "reads the versions again, and repeats until they did not change", []Edit{{settle,
			"if err != nil || !seen.same(again) {", "if err != nil || again.typ != seen.typ {"}}},
		{"reminders-look-past-exceptions", "exceptionsVersion guards the exceptions", []Edit{{readRows,
			"return guard{key, row != nil, version(row), row.Int(product.AttrExceptionsVersion), isSeries}",
			"return guard{key, row != nil, version(row), 0, false && isSeries}"},
			{deliveries, "g := guardOf(entity.ItemKey(s.user, id), s.instanceOn(d.date))\n" +
				"\t\tactions = append(actions, table.Check{Key: g.key, If: g.condition()})",
				"_ = id"}}},
		{"reminders-deletion-forgotten", "deleted, done or cancelled: the schedules are deleted", []Edit{{settle,
			"for _, offset := range p.deletions {", "for _, offset := range p.deletions[:0] {"}}},
		{"reminders-old-offsets-forgotten", "I4: there is no other schedule", []Edit{{consumer,
			"w.scope.add(ch.Type, ch.Old)\n", "\n"}}},
		{"reminders-zone-change-ignored", "when the zone changes, the user's items are paged through", []Edit{{consumer,
			"if zoneName(ch.User, ch.Old) != zoneName(ch.User, ch.New) {", "if zoneName(ch.User, ch.Old) == \"\" {"}}},
		{"reminders-zone-walk-stops", "the zone's walk reaches every item", []Edit{{"pkg/reminders/walk.go",
			"if place++; place < len(w.parts) {", "if place++; place < min(2, len(w.parts)) {"}}},
		{"reminders-floating-as-utc", "floating times are resolved in the user's zone", []Edit{{readRows,
			"r.zone, err = zoneOf(r.meta)\n", "_, err = zoneOf(r.meta)\n"}}},
		{"reminders-exceptions-of-moved-series", "an exception with reminders of its own moves with its series",
			[]Edit{{consumer,
				"if ch.Type.Name == entity.TypeMaster && changesOccurrences(ch.Old, ch.New) {",
				"if ch.Type.Name == entity.TypeInstance && changesOccurrences(ch.Old, ch.New) {"}}},
		{"reminders-chain-takes-missed", "the earliest occurrence that is still to come or late, never a missed one",
			[]Edit{{"pkg/reminders/series.go",
				"all.Next(now.Add(time.Duration(offset)*time.Minute), func",
				"all.Next(now.Add(time.Duration(offset)*time.Minute-48*time.Hour), func"}}},
		{"reminders-chain-takes-own", "an INSTANCE with its own reminderMinutes leaves the master's chain",
			[]Edit{{"pkg/reminders/series.go",
				"return !o.Owns(product.AttrReminderMinutes) && !hasDelivery(dueOf(o, offset))",
				"return !hasDelivery(dueOf(o, offset))"}}},
		{"reminders-chain-of-delivered", "the next occurrence, not the one that was delivered by a clock ahead of this one",
			[]Edit{{"pkg/reminders/series.go",
				"return !o.Owns(product.AttrReminderMinutes) && !hasDelivery(dueOf(o, offset))",
				"return !o.Owns(product.AttrReminderMinutes)"}}},
		{"reminders-overlap-counts-second", "in a fall-back overlap the first counts", []Edit{{"pkg/reminders/due.go",
			"occurrence, at = item.Resolve(occurrence, r.zone), item.Resolve(at, r.zone)",
			"occurrence, at = occurrence.Add(time.Hour), at.Add(time.Hour)\n" +
				"\t\t\toccurrence, at = item.Resolve(occurrence, r.zone).Add(-time.Hour), item.Resolve(at, " +
				"r.zone).Add(-time.Hour)"}}},
	}
}

// ofDeliveries are mistakes in deciding about a delivery and in seeing it through.
func ofDeliveries() []Mistake {
	const closing = "pkg/reminders/close.go"
	return []Mistake{
		{"fence-sent-before-chaining", "the next occurrence's schedule is set before the delivery is sent", []Edit{{settle,
			"if err := r.arrange(ctx, p); err != nil {", "if err := r.markAllSent(ctx); err != nil {\n\t\treturn false, err\n" +
				"\t}\n\tif err := r.arrange(ctx, p); err != nil {"},
			{"pkg/reminders/notifier.go", "r := run{engine: n.engine, target: t,",
				"if row.Str(attrState) == stateSent {\n\t\treturn nil\n\t}\n\tr := run{engine: n.engine, target: t,"}}},
		{"fence-sent-from-the-start", "pending goes straight to publishing", []Edit{{deliveries,
			"row[attrState] = item.String(statePending)", "row[attrState] = item.String(stateSent)"}}},
		{"fence-without-checks", "the delivery is put in one transaction with a check of everything read", []Edit{{deliveries,
			"for _, g := range s.guards(s.target) {", "for _, g := range s.guards(s.target)[:0] {"}}},
		{"fence-put-over-another", "exactly one delivery row", []Edit{{deliveries,
			"[]table.Action{table.Put{Item: f.row(), If: table.NotExists()}}", "[]table.Action{table.Put{Item: f.row()}}"}}},
		{"fence-pending-left", "pending deliveries are published again", []Edit{{"pkg/reminders/plan.go",
			"if row.Str(attrState) == statePending && offsets[row.Int(attrOffsetMinutes)] {",
			"if row.Str(attrState) == \"\" && offsets[row.Int(attrOffsetMinutes)] {"}}},
		{"fence-closed-without-version", "sent and lastFiredUtc in one transaction under the item's version", []Edit{{closing,
			"table.Change(before, after, table.AtVersion(version(before)))", "table.Change(before, after, table.Exists())"}}},
		{"late-limit-ignored", "late is at most 24 h ago", []Edit{{dues,
			"case now.Sub(d.at) <= lateLimit:", "case now.Sub(d.at) <= deliveryRetention:"}}},
		{"late-limit-of-an-hour", "what came due is published, late ones too", []Edit{{dues,
			"lateLimit = 24 * time.Hour", "lateLimit = time.Hour"}}},
		{"late-not-asked-for", "late was asked for before it passed: not before dueSetAt", []Edit{{dues,
			"case d.at.Before(d.requestedAt):", "case d.at.Before(d.requestedAt.Add(-deliveryRetention)):"}}},
		{"late-before-zone-change", "for a floating time whose instant moved, nor before the zone change", []Edit{{readRows,
			"ok && floating && moved.After(by) {", "ok && !floating && moved.After(by) {"}}},
		{"late-exception-not-asked-for", "an occurrence is asked for by its own dueSetAt", []Edit{{"pkg/reminders/series.go",
			"if own := asked[o.Date]; own.After(by) {", "if own := asked[o.Date]; own.Before(by) && own.After(by) {"}}},
		{"trigger-fires-behind-snooze", "a recurring reminder later than lastFiredUtc", []Edit{{dues,
			"case hasDelivery, !d.snooze && wasFired(it, d):", "case hasDelivery:"}}},
		{"snooze-held-to-last-fired", "which does not hold for a snooze", []Edit{{dues,
			"case hasDelivery, !d.snooze && wasFired(it, d):", "case hasDelivery, wasFired(it, d):"}}},
		{"trigger-from-now", "the next triggerUtc is computed from the delivered occurrence", []Edit{{closing,
			"if _, err := product.PassTrigger(after, t.stored(o)); err != nil {", "if o.Start = r.Now(); t.floating {\n" +
				"\t\to.Wall = item.Wall(r.Now(), t.zone)\n\t}\n" +
				"\tif _, err := product.PassTrigger(after, t.stored(o)); err != nil {"}}},
		{"trigger-stays", "firing an occurrence moves triggerUtc to the next one", []Edit{{closing,
			"product.PassTrigger(after, t.stored(o))", "product.PassTrigger(after, t.stored(o).Add(-8760*time.Hour))"}}},
		{"ring-forgotten", "the present occurrence is the one that rang last, also before it was due", []Edit{{closing,
			"it.SetTime(product.AttrFiredOccurrenceUtc, f.occurrence)", "delete(item, product.AttrFiredOccurrenceUtc)"}}},
		{"snooze-of-first-occurrence", "acts on the present occurrence: the snoozed one, else the last one due",
			[]Edit{{"pkg/command/trigger.go",
				"triggers.In(zone).Previous(now.Truncate(time.Second).Add(time.Second))", "triggers.In(zone).First()"}}},
		{"snooze-leaves-trigger", "snoozing an occurrence moves triggerUtc to the next one", []Edit{{"pkg/command/trigger.go",
			`if !it.Has(product.AttrRRule) || o.stored.IsZero() {`, `if it.Has(product.AttrRRule) || o.stored.IsZero() {`}}},
	}
}

// ofSeries are mistakes in what a series says with its exceptions.
func ofSeries() []Mistake {
	return []Mistake{
		{"series-cancelled-occurs", "cancelled occurrences remind of nothing", []Edit{{"pkg/series/next.go",
			"&& o.Start.After(after) && !o.Cancelled() {", "&& o.Start.After(after) {"}}},
		{"series-moved-stays", "an exception counts where it moved to", []Edit{{"pkg/series/occurrence.go",
			"if !HasOwnTimes(exception) {\n\t\treturn o",
			"if HasOwnTimes(exception) || !HasOwnTimes(exception) {\n\t\treturn o"}}},
		{"series-exception-occurs-twice", "an exception replaces its occurrence", []Edit{{"pkg/series/next.go",
			"if o := s.virtual(original); !s.isException(o.Date) {", "if o := s.virtual(original); o.Date != \"\" {"}}},
	}
}
