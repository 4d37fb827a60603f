// What the results of a batch do to the outbox. Pure functions: the transaction that keeps the outcome calls them.
import { changeOf } from "./copy.js";
import { merge, text } from "./merge.js";
import { own, putData } from "./outbox.js";

/** @typedef {import("./merge.js").Item} Item */
/** @typedef {import("./outbox.js").Row} Row */
/**
 * Result is that of one command. `version` is the one that the command made, whatever the entity has now; `entities` are those
 * that the copy takes.
 * @typedef {{status: number, version?: number, entity?: Item, result?: Item, problem?: Item, omitted?: boolean,
 *   entities?: Item[]}} Result
 */
/**
 * Refused is an edit, or a part of one, that was not carried out: the app shows it until its user has seen it. `problem` says
 * why; `current` is the entity that stands instead.
 * @typedef {{n: number, type: string, kind: Row["kind"], id: string, of: string, data: Item, patch: Item, base: Item,
 *   problem: Item, current?: Item}} Refused
 */
/**
 * Outcome is what becomes of an outbox: the rows that wait still, what was refused, and what the copy takes.
 * @typedef {{rows: Row[], refused: Refused[], changes: import("./copy.js").Change[]}} Outcome
 */

const refusals = [400, 403, 404, 409, 410, 413, 415, 422];

/** @param {Item | undefined} problem */
export const isLeaving = (problem) => /\/account-(leaving|erased)$/.test(problem?.type ?? "");

/**
 * isRepeated reports whether a create found its id taken because it was carried out when its first answer was lost. A quota that
 * is reached is never the answer to a repetition.
 * @param {Row} row @param {Result} result
 */
export const isRepeated = (row, { status, problem }) => status === 409 && row.kind === "create" && row.tries > 1 && !problem?.quota;

/**
 * refused returns the record of a row, or of the part of it that `patch` is.
 * @param {Row} row @param {Item} problem @param {Item} [patch] @returns {Refused}
 */
export function refused({ n, type, kind, id, of, data, base, patch: whole }, problem, patch = whole) {
  const { current, ...why } = problem;
  return { n, type, kind, id, of, data, patch, base, problem: why, ...(current && { current }) };
}

/**
 * without returns the rows that stay once one is refused: none of its entity, none of its occurrences.
 * A deletion of what is gone is done.
 * @param {Row[]} rows @param {Row} row @param {Item} problem @param {Refused[]} out
 */
export function without(rows, row, problem, out) {
  return rows.filter((other) => {
    const stays = other.n < row.n || (other.id !== row.id && other.parent !== row.id);
    const isDone = other.kind === "delete" && problem.status === 410;
    if (!stays && !isDone) out.push(refused(other, problem));
    return stays;
  });
}

/**
 * rebase merges all rows of an entity from `row` on with the entity as it is now. What is left becomes a new chain.
 * @param {Row[]} rows @param {Row} row @param {Item} problem @param {Refused[]} out @param {() => string} newKey
 * @returns {Row[]}
 */
function rebase(rows, row, problem, out, newKey) {
  const theirs = row.kind === "put" || row.of === "INSTANCE" ? own(problem.current) : problem.current;
  const same = rows.filter((other) => other.id === row.id && other.n >= row.n);
  const edits = same.filter(({ kind }) => kind === "patch" || kind === "put");
  const merged = merge(theirs, edits);
  const isMoved = row.of === "MASTER" && edits[0] && problem.instances !== edits[0].instances;
  /** @type {Map<number, Row | undefined>} */
  const left = new Map();
  let was = theirs, before = /** @type {number | null} */ (null);
  for (const other of same) {
    const at = edits.indexOf(other), part = merged[at];
    // An occurrence that follows its series again has a version that no device can know: what is its own tells.
    const isConflict = part ? isMoved
      : other.kind === "delete" ? other.of !== "INSTANCE" || text(other.base) !== text(was)
      : other === row && !/Link$/.test(other.type);
    if (isConflict) {
      out.push(refused(other, problem));
      left.set(other.n, undefined);
      continue;
    }
    if (part && Object.keys(part.refused).length) out.push(refused(other, problem, part.refused));
    if (part && !Object.keys(part.patch).length) {
      left.set(other.n, undefined);
      continue;
    }
    const { sent, ofSeries, ...waits } = other;
    /** @type {Row} */
    const next = { ...waits, key: newKey(), tries: 0, after: before, expected: before === null ? problem.currentVersion : null };
    if (part) {
      next.patch = part.patch;
      next.base = part.base;
      next.data = other.kind === "put" ? putData(other.data, was, part.patch) : dataOf(other, part.patch);
      if (other.kind === "put") was = putData({}, was, part.patch);
    }
    left.set(other.n, next);
    before = other.n;
  }
  return rows.filter(({ n }) => !left.has(n) || left.get(n)).map((other) => {
    const next = left.get(other.n) ?? other;
    // An occurrence that follows what is left no more: what its series is now decides, or a refusal that merges it.
    return next.after !== null && left.has(next.after) && !left.get(next.after)
      ? { ...next, after: before, expected: before === null ? problem.currentVersion : null, ofSeries: before === null } : next;
  });
}

/**
 * dataOf returns the data of a row's command with another patch.
 * @param {Row} row @param {Item} patch
 */
const dataOf = (row, patch) => ({
  ...Object.fromEntries(Object.entries(row.data).filter(([name]) => !(name in row.patch))), ...patch,
});

/**
 * answered returns the outcome of a batch. Only what a result decides leaves the outbox: a command that was throttled, that met
 * a fault, or whose answer is missing, stays as it is.
 * @param {Row[]} rows all that wait @param {Row[]} sent @param {Result[]} results @param {() => string} newKey
 * @returns {Outcome}
 */
export function answered(rows, sent, results, newKey) {
  /** @type {Outcome} */
  const out = { rows, refused: [], changes: [] };
  sent.forEach(({ n, key }, i) => {
    // A row that is gone was taken along, and one with another key waits in a new chain.
    const row = out.rows.find((other) => other.n === n && other.key === key);
    const result = results[i];
    if (!row || !result) return;
    out.changes.push(...(result.entities ?? []).map(changeOf));
    const { status, problem = { status } } = result;
    /** @param {number} version */
    const done = (version) => {
      out.rows = out.rows.filter((other) => other !== row)
        .map((other) => (other.after === n ? { ...other, after: null, expected: version, ofSeries: other.id !== row.id } : other));
    };
    if (status < 300) {
      const version = result.version ?? result.entity?.version ?? (row.expected ?? 0) + 1;
      if (status === 204 && row.kind !== "act") out.changes.push({ type: row.of, id: row.id, version, gone: true });
      done(version);
    } else if (status === 412 && problem.current) {
      out.rows = rebase(out.rows, row, problem, out.refused, newKey);
      out.changes.push(changeOf(problem.current));
    } else if (isRepeated(row, result)) {
      done(1);
    } else if (status === 410 && row.kind === "delete") {
      done(0);
    } else if (refusals.includes(status) && !isLeaving(problem)) {
      out.rows = without(out.rows, row, problem, out.refused);
    }
  });
  return out;
}
