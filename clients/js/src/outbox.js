// The edits that no answer has settled yet. They wait in the order in which they were made and are sent unchanged until they
// are answered. What is shown is the copy with them applied.
import { apply, diff, seen, text } from "./merge.js";
import { isServed, keyOf, occurrenceId, pick, shown, types } from "./copy.js";

/** @typedef {import("./merge.js").Item} Item */
/**
 * Row is one command that waits.
 *   n         its place
 *   key       its id in a batch, which is its idempotency key
 *   id, of    the entity and its type; `parent` the series of an occurrence
 *   kind      what it is to a merge: a `put` replaces all that is an occurrence's own
 *   data      what is sent
 *   patch     what it changes, as it is shown
 *   base      what its user saw of what `patch` names
 *   expected  the version that its user saw: with `ofSeries` that of an occurrence's series; or
 *   after     the row whose result it follows
 *   sent      when it was sent first, in milliseconds of the server's clock; `tries` how often
 *   instances the exceptions that its user saw of the series
 * @typedef {{n: number, key: string, type: string, kind: "create" | "patch" | "put" | "delete" | "act", id: string, of: string,
 *   parent?: string, data: Item, patch: Item, base: Item, expected: number | null, ofSeries?: boolean, after: number | null,
 *   sent?: number, tries: number, instances?: string}} Row
 */
/** @typedef {Omit<Row, "n" | "key" | "expected" | "ofSeries" | "after" | "tries">} Made */
/** @typedef {{id: string, type: string, version: number, item: Item, waiting: boolean}} Shown */

/** The longest that a command is sent again, in milliseconds: receipts live ten days longer. */
export const patience = 80 * 86_400_000;
// Commands of a batch.
const most = 100;

/**
 * view returns what is shown: the copy with the rows applied, by id.
 * @param {import("./copy.js").Change[]} copy @param {Row[]} rows @param {number} now by the server's clock
 * @returns {Map<string, Shown>}
 */
export function view(copy, rows, now) {
  /** @type {Map<string, Shown>} */
  const out = new Map();
  for (const held of copy) {
    const { type, version = 0, item } = held, id = keyOf(held);
    if (item && isServed(held, now)) out.set(id, { id, type, version, item: shown(item, now), waiting: false });
  }
  for (const row of rows) {
    const was = out.get(row.id);
    if (row.kind === "delete") out.delete(row.id);
    else if (was) out.set(row.id, { ...was, item: apply(was.item, row.patch), waiting: true });
    else if (row.kind === "create" || row.kind === "put") {
      out.set(row.id, { id: row.id, type: row.of, version: 0, item: apply(row.base, row.patch), waiting: true });
    }
  }
  for (const [id, { type, item }] of out) {
    if (type === "INSTANCE" && !out.has(item.masterId)) out.delete(id);
  }
  return out;
}

/** @param {import("./copy.js").Change[]} copy @param {string} master @returns {string} the exceptions of a series, to compare */
export const instancesOf = (copy, master) => text(Object.fromEntries(copy
  .filter((held) => held.type === "INSTANCE" && held.item?.masterId === master)
  .map((held) => [held.id, held.version])));

/**
 * add puts a command behind those that wait.
 * @param {import("./store.js").Tx} tx @param {import("./copy.js").Change[]} copy @param {Row[]} rows @param {Made} made
 * @param {string} key @param {number} [version] the one that its user saw, if nothing waits
 */
export async function add(tx, copy, rows, made, key, version) {
  const n = ((await tx.get("meta", "n")) ?? 0) + 1;
  const held = (/** @type {string | undefined} */ id) => copy.find((other) => other.id === id && other.item)?.version;
  const last = (/** @type {string | undefined} */ id) => rows.findLast((row) => row.id === id)?.n;
  const isPlain = made.parent && !held(made.id), after = last(made.id) ?? (isPlain ? last(made.parent) : undefined) ?? null;
  const expected = after === null && made.kind !== "create" ? (version ?? held(made.id) ?? held(made.parent) ?? 0) : null;
  tx.put("meta", "n", n);
  tx.put("outbox", n, { ...made, n, key, after, expected, ofSeries: !!isPlain && after === null, tries: 0 });
}

/**
 * batch returns the rows that can be sent now, in their order: none of an entity or series among the stuck, none without what
 * it follows.
 * @param {Row[]} rows @param {Set<string>} stuck @param {number} size
 */
export function batch(rows, stuck, size = most) {
  /** @type {Set<number>} */
  const within = new Set();
  return rows.filter((row) => {
    const ready = within.size < Math.min(size, most) && !stuck.has(row.id) && !stuck.has(row.parent ?? "") &&
      (row.after === null || within.has(row.after));
    if (ready) within.add(row.n);
    return ready;
  });
}

/**
 * command returns a row as it is sent in a batch.
 * @param {Row} row @param {Row[]} batch
 */
export function command({ key, type, data, after, expected, ofSeries }, batch) {
  const before = batch.find((other) => other.n === after);
  return {
    id: key, type, data,
    ...(before ? { expectedAfter: before.key } : expected === null ? {} : { expectedVersion: expected, ...(ofSeries && { ofSeries }) }),
  };
}

/** What an occurrence is named by; the rest of its command is its own. */
const frame = ["masterId", "date"];

/** @param {Item} instance as stored @returns {Item} what is its own */
export const own = (instance) => pick(instance, (instance.modifiedFields ?? []).filter((/** @type {string} */ f) => f !== "kept"));

/**
 * putData returns the data of a command that makes what is an occurrence's own what it was, with the patch applied.
 * @param {Item} data @param {Item} was @param {Item} patch
 */
export const putData = (data, was, patch) => ({ ...apply(was, patch), ...pick(data, frame) });

/**
 * creation makes a new entity under an id that the device chose.
 * @param {string} of @param {string} id @param {Item} fields @returns {Made}
 */
export const creation = (of, id, fields) => ({
  type: `Create${types[of].noun}`, kind: "create", id, of, data: { ...fields, [types[of].id]: id }, patch: fields,
  base: { entityType: of, [types[of].id]: id },
});

/**
 * edit changes the fields that the patch names, and no others.
 * @param {string} of @param {string} id @param {Item} was what the user saw @param {Item} patch @returns {Made}
 */
export const edit = (of, id, was, patch) => ({
  type: `Update${types[of].noun}`, kind: "patch", id, of, data: of === "USER_META" ? patch : { ...patch, [types[of].id]: id },
  patch, base: seen(was, patch),
});

/** @param {string} of @param {string} id @returns {Made} */
export const removal = (of, id) =>
  ({ type: `Delete${types[of].noun}`, kind: "delete", id, of, data: { [types[of].id]: id }, patch: {}, base: {} });

/**
 * occurrence replaces all that is an occurrence's own, or cancels it without fields. With {} it follows its series again.
 * @param {string} master @param {string} date @param {Item} was what is its own now @param {Item | null} fields @returns {Made}
 */
export function occurrence(master, date, was, fields) {
  const id = occurrenceId(master, date), data = { masterId: master, date };
  const made = { id, of: "INSTANCE", parent: master };
  if (!fields) return { ...made, type: "CancelInstance", kind: "delete", data, patch: {}, base: was };
  return {
    ...made, type: "PutInstance", kind: "put", data: putData(data, {}, fields), patch: diff(was, fields),
    base: { ...was, entityType: "INSTANCE", eventId: id, masterId: master },
  };
}

/**
 * action is any other command about an entity; `shows` is the patch that shows its effect until it is answered.
 * @param {string} type @param {string} of @param {string} id @param {Item} data @param {Item} shows @returns {Made}
 */
export const action = (type, of, id, data, shows) =>
  ({ type, kind: "act", id, of, data: { ...data, [types[of].id]: id }, patch: shows, base: {} });
