// The three-way merge: what each rule of it comes to, and its laws on random edits.
import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { source } from "./setup.js";

const { apply, diff, merge, seen, text } = await source("merge.js");

/** one merges a single edit of what its user saw. */
const one = (saw, theirs, patch) => merge(theirs, [{ patch, base: seen(saw, patch) }])[0];

test("a field that only I changed is kept", () => {
  assert.deepEqual(one({ a: 1, b: 1 }, { a: 1, b: 2 }, { a: 3 }), { patch: { a: 3 }, base: { a: 1 }, refused: {} });
});

test("a field that both changed is theirs, and mine is refused", () => {
  assert.deepEqual(one({ a: 1, b: 1 }, { a: 2, b: 1 }, { a: 3, b: 4 }), { patch: { b: 4 }, base: { a: 1, b: 1 }, refused: { a: 3 } });
});

test("both changed it to the same: nothing is refused", () => {
  assert.deepEqual(one({ a: 1 }, { a: 3 }, { a: 3 }).refused, {});
});

test("a field that was removed there or here counts as changed", () => {
  assert.deepEqual(one({ a: 1 }, {}, { a: 2 }).refused, { a: 2 });
  assert.deepEqual(one({ a: 1 }, { a: 2 }, { a: null }).refused, { a: null });
  assert.deepEqual(one({ a: 1 }, {}, { a: null }).refused, {});
});

test("start, end, zone and whole day are one field", () => {
  const saw = { startUtc: "1", endUtc: "2", startTzid: "A", title: "t" };
  assert.deepEqual(one(saw, { ...saw, startTzid: "B" }, { endUtc: "3", title: "u" }),
    { patch: { title: "u" }, base: { startUtc: "1", endUtc: "2", startTzid: "A", title: "t" }, refused: { endUtc: "3" } });
  assert.deepEqual(one(saw, { ...saw, title: "x" }, { endUtc: "3" }).refused, {});
});

test("a rule and its dates are one field", () => {
  assert.deepEqual(one({ rrule: "W" }, { rrule: "W", exdate: ["d"] }, { rrule: "D" }).refused, { rrule: "D" });
});

test("sets merge by element", () => {
  const { patch, refused } = one({ tags: ["a", "b"] }, { tags: ["b", "c"] }, { tags: ["a", "b", "d"] });
  assert.deepEqual([patch, refused], [{ tags: ["b", "c", "d"] }, {}]);
  assert.deepEqual(one({ tags: ["a", "b"] }, { tags: ["a", "b", "c"] }, { tags: ["a"] }).patch, { tags: ["a", "c"] });
  assert.deepEqual(one({ tags: ["a"] }, { tags: ["a", "c"] }, { tags: null }).patch, { tags: ["c"] });
});

test("an entity has one link for each target: the last relation stands", () => {
  const link = (targetId, relation) => ({ targetType: "NOTE", targetId, relation });
  assert.deepEqual(one({ links: [link("n", "a")] }, { links: [link("n", "b"), link("m", "x")] }, { links: [link("n", "c")] }).patch,
    { links: [link("m", "x"), link("n", "c")] });
});

test("settings merge leaf by leaf", () => {
  const saw = { preferences: { theme: "dark", weekStart: 0 } };
  assert.deepEqual(one(saw, { preferences: { theme: "light", weekStart: 0 } }, { preferences: { theme: "auto", weekStart: 1 } }),
    { patch: { preferences: { weekStart: 1 } }, base: saw, refused: { preferences: { theme: "auto" } } });
});

test("of a chain the first edit that names a field decides for all", () => {
  const edits = [{ patch: { a: 2 }, base: { a: 1 } }, { patch: { b: 9 }, base: { b: 8 } }, { patch: { a: 3 }, base: { a: 2 } }];
  assert.deepEqual(merge({ a: 1, b: 7 }, edits).map((m) => [m.patch, m.refused]), [[{ a: 2 }, {}], [{}, { b: 9 }], [{ a: 3 }, {}]]);
  assert.deepEqual(merge({ a: 7, b: 8 }, edits).map((m) => [m.patch, m.refused]), [[{}, { a: 2 }], [{ b: 9 }, {}], [{}, { a: 3 }]]);
  assert.deepEqual(merge({ a: 3, b: 8 }, edits).map((m) => m.refused), [{}, {}, {}], "what an own later edit made is no conflict");
});

test("the members of values may stand in any order", () => assert.equal(text({ a: 1, b: [{ d: 1, c: 2 }] }), text({ b: [{ c: 2, d: 1 }], a: 1 })));

test("laws of random edits", () => {
  const value = fc.constantFrom(null, 1, 2, "x");
  const item = fc.dictionary(fc.constantFrom("a", "b", "startUtc", "endUtc", "rrule"), fc.constantFrom(1, 2, "x"), { noNullPrototype: true });
  const patch = fc.dictionary(fc.constantFrom("a", "b", "startUtc", "endUtc", "rrule"), value, { noNullPrototype: true });
  fc.assert(fc.property(item, item, patch, (saw, theirs, mine) => {
    const { patch: kept, refused } = one(saw, theirs, mine);
    assert.deepEqual(Object.keys({ ...kept, ...refused }).sort(), Object.keys(mine).sort(), "each field is kept or refused");
    assert.deepEqual(Object.keys(kept).filter((name) => name in refused), [], "and not both");
    assert.deepEqual(one(saw, saw, mine).refused, {}, "nothing is refused where nothing changed there");
    const result = apply(theirs, kept);
    for (const name of Object.keys(theirs)) if (!(name in kept)) assert.deepEqual(result[name], theirs[name], "theirs stands");
    for (const [name, value] of Object.entries(kept)) assert.deepEqual(result[name] ?? null, value);
  }), { numRuns: 2000 });
  fc.assert(fc.property(item, item, (from, to) => assert.deepEqual(apply(from, diff(from, to)), to)));
});
