// Mistakes that the tests of this folder must find: each is a few replacements in the sources. What is replaced stands there
// exactly once.

/** @type {Record<string, {file: string, was: string, is: string}[]>} */
export const mistakes = {
  "js-token-before-items": [{
    file: "sync.js", was: "    const filled = await fill(c, changes);\n    await c.store.write(async (tx) => {\n",
    is: "    const filled = await fill(c, changes);\n    await c.store.write(async (tx) => tx.put(\"meta\", \"state\", { ...(await stateOf(tx)), token: next }));\n    state.token = next;\n    await c.store.write(async (tx) => {\n",
  }],
  "js-outbox-dropped-before-answer": [{
    file: "sync.js", was: "for (const row of rows) tx.put(\"outbox\", row.n, row);\n      return {",
    is: "for (const row of rows) tx.delete(\"outbox\", row.n);\n      return {",
  }],
  "js-lower-version-taken": [{ file: "copy.js", was: "return a < b || (a === b && fromFeed);", is: "return fromFeed || a < b;" }],
  "js-merge-without-base": [{ file: "merge.js", was: "[valueOf(base, path), ...mine].includes(valueOf(theirs, path))", is: "true" }],
  "js-reset-loses-outbox": [{
    file: "sync.js", was: "if (!cursor) tx.clear(\"items\", now.generation);", is: "if (!cursor) tx.clear(\"items\", now.generation), tx.clear(\"outbox\");",
  }],
  "js-agenda-zone-ignored": [{
    file: "copy.js", was: "item?.defaultTzid !== held?.item?.defaultTzid", is: "!item",
  }],
  "js-merge-of-one": [{
    file: "answers.js", was: "rows.filter((other) => other.id === row.id && other.n >= row.n);", is: "rows.filter((other) => other.n === row.n);",
  }],
  "js-base-as-received": [{
    file: "sync.js", was: "answered(await tx.all(\"outbox\"), rows, results, c.newKey)",
    is: "answered(await Promise.all((await tx.all(\"outbox\")).map(async (row) => ({ ...row, base: (await tx.get(\"items\", [now.generation, row.id]))?.item ?? row.base }))), rows, results, c.newKey)",
  }],
  "js-delete-wins": [{
    file: "answers.js", was: "? other.of !== \"INSTANCE\" || text(other.base) !== text(was)", is: "? false",
  }],
  "js-patch-whole-item": [{
    file: "outbox.js", was: "data: of === \"USER_META\" ? patch : { ...patch, [types[of].id]: id }", is: "data: { ...was, ...patch, [types[of].id]: id }",
  }],
  "js-instance-filled-in": [{ file: "copy.js", was: "if (type !== \"INSTANCE\") return", is: "return" }],
  "js-equal-version-ignored": [{ file: "copy.js", was: "return a < b || (a === b && fromFeed);", is: "return a < b;" }],
  "js-late-answer-stored": [{
    file: "sync.js", was: "if (place(now) !== place(state)) return undefined;", is: "",
  }, {
    file: "copy.js", was: "held.at < now - day", is: "held.at <= now",
  }],
  "js-dependent-dropped": [{ file: "answers.js", was: "413, 415, 422]", is: "413, 415, 422, 424]" }],
  "js-sent-again-changed": [{ file: "sync.js", was: "sent: row.sent ?? c.now(), tries", is: "sent: row.sent ?? c.now(), key: c.newKey(), tries" }],
  "js-throttled-is-refusal": [{ file: "answers.js", was: "413, 415, 422]", is: "413, 415, 422, 429, 503]" }],
  "js-leaving-drops-outbox": [{ file: "answers.js", was: " && !isLeaving(problem)", is: "" }],
  "js-database-shared": [{ file: "store.js", was: "`nexus ${encodeURIComponent(issuer)} ${encodeURIComponent(user)}`", is: "`nexus ${issuer}${user && \"\"}`" }],
  "js-omitted-skipped": [{ file: "sync.js", was: "if (!change.omitted) return change;", is: "return change;" }],
  "js-version-of-the-answer": [{ file: "answers.js", was: "result.version ?? result.entity?.version", is: "result.entity?.version ?? result.version" }],
  "js-repeated-create-refused": [{ file: "answers.js", was: "status === 409 && row.kind === \"create\" && row.tries > 1", is: "false" }],
  "js-sent-for-ever": [{ file: "sync.js", was: "row.sent && row.sent < c.now() - patience", is: "!row.n" }],
  "js-snapshot-in-place": [{ file: "sync.js", was: "(snapshot ?? rest).generation + 1", is: "rest.generation" }],
  "js-clock-of-the-device": [{ file: "client.js", was: "now() + skew;", is: "now();" }],
  "js-check-resets-at-once": [{ file: "sync.js", was: "!isSame && now - doubt >= minute && now - reset >= day", is: "!isSame" }],
  "js-no-sync-after-subscription": [{ file: "live.js", was: "parts.status(true);\n        sync();", is: "parts.status(true);" }],
  "js-back-at-once": [{ file: "live.js", was: "second / 2 + random * Math.min(second * 2 ** failed, longest)", is: "second / 2" }],
  "js-cancellation-refused": [{ file: "answers.js", was: "other.of !== \"INSTANCE\" || text(other.base) !== text(was)", is: "true" }],
  "js-snapshot-behind-answers": [{ file: "sync.js", was: "now.snapshot?.generation ?? now.generation]", is: "now.generation]" }],
  "js-snapshot-cleared-by-first-page": [{ file: "sync.js", was: "if (!cursor) tx.clear(\"items\", now.generation);", is: "if (!cursor) tx.clear(\"items\", now.generation);\n      if (!from) tx.clear(\"items\", generation);\n      for (const change of filled) await put(tx, generation, change, true, c.now());" }],
  "js-version-of-series-unsaid": [{ file: "outbox.js", was: ", ...(ofSeries && { ofSeries })", is: "" }],
  "js-version-of-series-kept": [{ file: "answers.js", was: "{ sent, ofSeries, ...waits }", is: "{ sent, ...waits }" }],
  "js-snapshot-kept-behind-pages": [{ file: "sync.js", was: "{ ...rest, token: next });", is: "{ ...now, token: next });" }],
  "js-late-answer-without-get": [{ file: "sync.js", was: "if (isLate) state =", is: "if (isLate) results.forEach((r) => { delete r.entity; });\n    if (isLate) state =" }],
  "js-owed-exception-gone": [{ file: "sync.js", was: "type === \"INSTANCE\" ? change :", is: "" }],
  "js-owed-exception-forgotten": [{ file: "sync.js", was: "some((/** @type {Change} */ { type }) => type === \"MASTER\")", is: "some(() => false)" }],
  "js-chain-predicted": [{ file: "outbox.js", was: "before ? { expectedAfter: before.key }", is: "before ? { expectedVersion: (before.expected ?? 0) + 1 }" }],
  "js-push-tag-random": [{ file: "push.js", was: "tag: deliveryId, renotify", is: "tag: `${Math.random()}`, renotify" }],
  "js-push-renotified": [{ file: "push.js", was: "renotify: false, silent: message.silent || known.includes(deliveryId)", is: "renotify: true, silent: message.silent" }],
  "js-push-of-another-user": [{ file: "push.js", was: " || message.user !== await kept.get(\"user\")", is: "" }],
};
