package planted

const (
	move   = "pkg/projection/move.go"
	fold   = "pkg/projection/fold.go"
	engine = "pkg/projection/engine.go"
	sum    = "pkg/projection/sum.go"
	staged = "pkg/projection/staged.go"
)

// ofProjections are mistakes in the versioned contribution ledger.
func ofProjections() []Mistake {
	return []Mistake{
		{"ledger-version-not-asked", "v < vNew", []Edit{{move,
			"table.Less(attrVersion, item.Int(m.version)),\n\t\ttable.Equal(attrContribution",
			"table.Equal(attrContribution"}}},
		{"ledger-delta-from-record", "the delta is taken against the ledger, never against the record's old image alone",
			[]Edit{{move,
				"table.Less(attrVersion, item.Int(m.version)),\n\t\ttable.Equal(attrContribution, item.String(m.from)),",
				"table.Less(attrVersion, item.Int(m.version)),"}}},
		{"ledger-replan-keeps-from", "take the delta against the row's own c", []Edit{{move,
			"m.from = row.Str(attrContribution)\n\t\tif m.from ==", "if m.from =="}}},
		{"ledger-greater-for-not-less", "v >= vNew means done already", []Edit{{move,
			"case row.Int(attrVersion) >= m.version:", "case row.Int(attrVersion) > m.version:"}}},
		{"ledger-no-row-is-empty-row", "row absent only if cOld is empty", []Edit{{move,
			`if m.from == "" && !m.aged {`, `if !m.aged {`}}},
		{"ledger-tombstone-forgotten", "a removed item leaves a tombstone", []Edit{{move,
			"tombstoneLife = 30 * 24 * time.Hour", "tombstoneLife = time.Second"}}},
		{"ledger-tombstone-for-ever", "a tombstone has ttl", []Edit{{move,
			"if m.to == \"\" {\n\t\trow[entity.AttrTTL]", "if m.to == \"\" && m.aged {\n\t\trow[entity.AttrTTL]"}}},
		{"ledger-ttl-stays-on-restore", "a restored item's row loses its ttl again", []Edit{{move,
			"if m.to == \"\" {\n\t\trow[entity.AttrTTL]",
			"if m.to == \"\" || m.row != nil || m.from == \"\" && m.version > 1 {\n\t\trow[entity.AttrTTL]"}}},
		{"ledger-no-hour-rule", "a record older than an hour is not believed where it would bring something to life",
			[]Edit{{fold,
				"g.aged = g.aged || now.Sub(c.Created) > agedAfter", "g.aged = false"}}},
		{"ledger-fold-by-position", "folding goes by version, never by position", []Edit{{fold,
			"if version >= g.version {", "if version > 0 {"}}},
		{"ledger-zero-group-left-out", "a folded group that nets to zero must still move v on", []Edit{{fold,
			"if g.aged && g.from == \"\" {", "if g.from == g.to {\n\t\tg.state = done\n\t}\n\tif g.aged && g.from == \"\" {"}}},
		{"ledger-present-not-guarded", "what was read decides only if it still stands", []Edit{{move,
			"return asRead(m.row)", "return table.Condition{}"}}},
		{"sum-version-not-asked", "stats are written under statsVersion = :expected", []Edit{{sum,
			"update.If = table.Exists(table.Equal(s.VersionAttr, row[s.VersionAttr]))", "update.If = table.Exists()"}}},
		{"sum-latest-lowered", "latest-ever fields are maxima", []Edit{{sum,
			"if text > total.Str(name) {\n\t\t\ttotal[name]", "if text != total.Str(name) {\n\t\t\ttotal[name]"}}},
		{"sum-facts-of-done-forgotten", "latest-ever fields are joined also from a record that the ledger calls done",
			[]Edit{{engine,
				"m.replan(failure.Old)\n\t\tif m.state != done {",
				"m.replan(failure.Old)\n\t\tif m.state != pending || m.state == pending {"}}},
		{"sum-of-one-user-only", "several users share one transaction, each with a sum of their own", []Edit{{engine,
			"if deltas[m.user] == nil {",
			"if len(users) > 0 && deltas[m.user] == nil {\n\t\t\tcontinue\n\t\t}\n\t\tif deltas[m.user] == nil {"}}},
		{"hold-keeps-version", "taking and renewing a lease add to statsVersion", []Edit{{"pkg/projection/lease.go",
			"u.Set[h.spec.VersionAttr] = item.Int(was + 1)", "u.Set[h.spec.VersionAttr] = item.Int(was)"}}},
		{"hold-not-respected", "consumers that see a lease retry later", []Edit{{engine,
			"			err = errLeased\n\t\t}\n\t\tif err != nil {", "			err = nil\n\t\t}\n\t\tif err != nil {"}}},
		{"repair-lowers-version", "a repair never lowers a row's v", []Edit{{"pkg/projection/repair.go",
			"version := max(row.Int(attrVersion), e.Item.Int(entity.AttrVersion))",
			"version := e.Item.Int(entity.AttrVersion)"}}},
		{"staged-row-counts-at-once", "a staged row counts once its repair has been through", []Edit{{staged,
			"n.repair <= target.Int(s.RepairsAttr)", "n.repair <= target.Int(s.RepairsAttr)+1"}}},
		{"staged-row-never-counts", "a staged row counts once its repair has been through", []Edit{{staged,
			"n.repair <= target.Int(s.RepairsAttr)", "n.repair < target.Int(s.RepairsAttr)"}}},
		{"staged-row-for-good", "a consumer takes a staged row out of a dead repair's hands", []Edit{{staged,
			"if err := c.unstage(ctx, user, row); err != nil {\n\t\treturn err\n\t}\n\treturn errStaged", "return errLeased"}}},
		{"rows-never-deleted", "put what is new, delete what is gone", []Edit{{"pkg/projection/rows.go",
			"if !slices.Contains(after, edge) {", "if !slices.Contains(after, edge) && len(after) > 0 {"}}},
	}
}

// ofSingles are mistakes in the single writes that a single change of a sum takes.
func ofSingles() []Mistake {
	const last = "pkg/projection/single.go"
	return []Mistake{
		{"single-entry-not-kept-first", "whoever writes the sum next sees to the pending entry's row first", []Edit{{last,
			"if hasLast && !last.isIn(rows[lastKey]) {", "if hasLast && last.item == m.ref.ID && !last.isIn(rows[lastKey]) {"}}},
		{"single-entry-not-kept-by-batch", "in whatever way it writes the sum", []Edit{{engine,
			"waiting, err := c.flushPending(ctx, targets)", "waiting, err := map[string]error(nil), ctx.Err()"}}},
		{"single-ledger-before-sum", "the sum's row is read first, the ledger after it", []Edit{{last,
			"	if again || err != nil {\n\t\treturn again, err\n\t}\n",
			"	if again || err != nil {\n\t\treturn again, err\n\t}\n" +
				"\tif targets, err = c.readTargets(ctx, []*move{m}); err != nil {\n\t\treturn false, err\n\t}\n" +
				"\ttarget = targets[m.user]\n"}}},
		{"single-entry-left-out", "the entry stands in the sum's row, in one write with what it adds", []Edit{{last,
			"update.Set[s.PendingAttr] = e.value()", "e.value()"}}},
		{"single-entry-over-later-row", "an entry goes into its row unless that has a later one", []Edit{{last,
			"If:   table.OrNoRow(table.Less(attrVersion, item.Int(e.version)), firstForm),", ""}}},
	}
}

// ofContributions are mistakes in what an image contributes.
func ofContributions() []Mistake {
	const stats, links = "pkg/stats/stats.go", "pkg/links/links.go"
	return []Mistake{
		{"stats-completed-is-open", "I2: overdue tasks are open", []Edit{{stats,
			"case product.StatusBacklog, product.StatusInProgress:",
			"case product.StatusBacklog, product.StatusInProgress, product.StatusCompleted:"}}},
		{"stats-cancelled-is-upcoming", "I2: a cancelled event is not to come", []Edit{{stats,
			"func openEvent(it item.Item) string {\n\tif it.Str(entity.AttrStatus) == product.StatusCancelled {",
			"func openEvent(it item.Item) string {\n\tif it.Str(entity.AttrStatus) == product.StatusArchived {"}}},
		{"stats-floating-as-utc", "I2: floating times are read on the user's wall clock", []Edit{{stats,
			"return at, !it.Has(product.AttrStartTzid), ok", "return at, false, ok"}}},
		{"stats-series-never-ends", "I2: a series is to come until its last occurrence", []Edit{{stats,
			"last, ok := it.Time(product.AttrLastStartUtc)\n\tif !ok {",
			"last, ok := it.Time(product.AttrLastStartUtc)\n\tif ok || !ok {"}}},
		{"links-last-forgotten", "I3: LINK rows are exactly the links of the items", []Edit{{links,
			"return out\n", "return out[:min(1, len(out))]\n"}}},
		{"links-index-of-source", "I3: the row is found through its target", []Edit{{links,
			"item.String(entity.LinkedPK(user, target))", "item.String(entity.LinkedPK(user, source))"}}},
	}
}
