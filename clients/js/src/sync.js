// Brings copy and server together: sends what waits, then pulls what has changed. A copy that cannot go on is replaced as a
// whole, beside the old one, and the outbox is applied to the new.
import { answered, isLeaving, isRepeated, without } from "./answers.js";
import { changeOf, entry, forget, isServed, put, types as entityTypes } from "./copy.js";
import { batch, command, instancesOf, patience } from "./outbox.js";

/** @typedef {import("./copy.js").Change} Change */
/** @typedef {import("./outbox.js").Row} Row */
/**
 * State is what a store keeps of its copy. `token` says how far the feed was read, `generation` which items count, `types` what
 * they were asked for; `snapshot` is one under way. `skew` is how far the server's clock is ahead. `checked`, `doubt` and
 * `reset` are times, in milliseconds of the server's clock.
 * @typedef {{token?: string, generation: number, types: string, snapshot?: {generation: number, cursor: string},
 *   skew: number, checked?: number, doubt?: number, reset?: number}} State
 */
/** @typedef {{status: number, json: any, headers: Headers}} Answer */
/**
 * Context is what the functions here work with. `request` throws a [Failure] where no answer came.
 * @typedef {{
 *   store: import("./store.js").Store, types: string, newKey(): string,
 *   request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>,
 *   now(): number, changed(): void,
 * }} Context
 */

const minute = 60_000, day = 86_400_000;
const checkEvery = 30 * day;

/**
 * Failure ends a sync: the server cannot be reached, or it answered what is no decision about anything that waits. `state` is
 * what the app shows, `retryAfter` the seconds that the server asked for.
 */
export class Failure extends Error {
  /** @param {"offline" | "busy" | "unauthorized" | "leaving" | "error"} state @param {string} message @param {number} [retryAfter] */
  constructor(state, message, retryAfter) {
    super(message);
    this.state = state;
    this.retryAfter = retryAfter;
  }
}

/** @param {Answer} answer @returns {Failure} */
export function failureOf({ status, json, headers }) {
  const state = isLeaving(json) ? "leaving" : status === 401 ? "unauthorized"
    : status === 408 || status === 429 || status >= 500 ? "busy" : "error";
  return new Failure(state, json?.detail ?? `status ${status}`, Number(headers.get("Retry-After")) || undefined);
}

/** @type {State} */
const fresh = { generation: 1, types: "", skew: 0 };

/** @param {import("./store.js").Tx} tx @returns {Promise<State>} */
export const stateOf = async (tx) => (await tx.get("meta", "state")) ?? fresh;

/** @param {import("./store.js").Tx} tx @returns {Promise<Change[]>} */
export const copyOf = async (tx) => tx.all("items", (await stateOf(tx)).generation);

/** @param {State} state @returns {string} how far the feed has brought the copy, and the snapshot that is under way */
const place = ({ token, generation, snapshot }) => JSON.stringify([token, generation, snapshot]);

/**
 * ask reads one entity by its own GET. Undefined if it is not there.
 * @param {Context} c @param {string} of @param {string} id @returns {Promise<import("./merge.js").Item | undefined>}
 */
async function ask(c, of, id) {
  const path = of === "USER_META" ? "/v1/me" : `/v1/${entityTypes[of].path}/${encodeURIComponent(id)}`;
  const answer = await c.request("GET", path);
  if (answer.status === 200) return answer.json.master ?? answer.json;
  if (answer.status === 404 || answer.status === 410) return undefined;
  throw failureOf(answer);
}

/**
 * exceptions reads those of a series as they are now, to compare.
 * @param {Context} c @param {string} id
 */
async function exceptions(c, id) {
  const found = [];
  for (let cursor = ""; ;) {
    const answer = await c.request("GET", `/v1/series/${id}${cursor && `?cursor=${encodeURIComponent(cursor)}`}`);
    if (answer.status !== 200) throw failureOf(answer);
    found.push(...answer.json.instances.map(changeOf));
    cursor = answer.json.nextCursor;
    if (!cursor) return instancesOf(found, id);
  }
}

/**
 * complete fills in what the results of a batch leave to be asked for: entities for which the answer had no room, that of a
 * create whose first answer was lost, and the exceptions of a series. With `isLate` it asks again for all of them.
 * @param {Context} c @param {Row[]} rows @param {import("./answers.js").Result[]} results @param {boolean} isLate
 */
async function complete(c, rows, results, isLate) {
  for (const [i, row] of rows.entries()) {
    const result = results[i];
    if (!result) continue;
    const { status, problem } = result;
    if (status === 412 && problem) {
      const current = isLate || !problem.current ? await ask(c, row.of, row.id) : problem.current;
      Object.assign(problem, { current, currentVersion: current?.version });
      if (!current) result.status = 410;
      else if (row.of === "MASTER" && row.kind === "patch") problem.instances = await exceptions(c, row.id);
      continue;
    }
    const had = [result.entity, result.result?.ended, result.result?.following].filter((entity) => entity?.entityType);
    const isLeft = isRepeated(row, result) || (status < 300 && result.omitted);
    const wanted = isLeft ? [{ type: row.of, id: row.id }] : isLate ? had.map(changeOf) : [];
    const now = await Promise.all(wanted.map(({ type, id = "" }) => ask(c, type, id)));
    result.entities = wanted.length ? now.filter((entity) => entity !== undefined) : had;
  }
}

/**
 * decide settles a batch: outbox and copy change together, and only if the feed has brought nothing since the answer was asked
 * for. Else a pull may have removed since what the late answer has, and it is asked for again.
 * @param {Context} c @param {Row[]} rows @param {import("./answers.js").Result[]} results @param {State} state
 * @returns {Promise<Row[]>} what waits still
 */
async function decide(c, rows, results, state) {
  for (let isLate = false; ; isLate = true) {
    if (isLate) state = await c.store.read(stateOf);
    await complete(c, rows, results, isLate);
    const waits = await c.store.write(async (tx) => {
      const now = await stateOf(tx);
      if (place(now) !== place(state)) return undefined;
      const outcome = answered(await tx.all("outbox"), rows, results, c.newKey);
      await settle(tx, outcome);
      // A snapshot under way may have passed them, and is not to show what was before.
      for (const generation of [now.generation, now.snapshot?.generation ?? now.generation]) {
        for (const change of outcome.changes) await put(tx, generation, change, false, c.now());
      }
      return outcome.rows;
    });
    if (waits) return waits;
  }
}

/**
 * push sends what waits, in its order, until nothing is left that can be decided now. It marks what it sends before it sends it.
 * @param {Context} c
 */
export async function push(c) {
  /** @type {Set<string>} */
  const stuck = new Set();
  /** @type {Set<string>} */
  const merged = new Set();
  for (let size = Infinity; ;) {
    const { state, rows } = await c.store.write(async (tx) => {
      /** @type {Row[]} */
      let all = await tx.all("outbox");
      /** @type {import("./answers.js").Refused[]} */
      const refused = [];
      for (let late; (late = all.find((row) => row.sent && row.sent < c.now() - patience));) {
        all = without(all, late, { status: 0, title: "Not answered for 80 days" }, refused);
      }
      if (refused.length) await settle(tx, { rows: all, refused });
      const rows = batch(all, stuck, size).map((row) => ({ ...row, sent: row.sent ?? c.now(), tries: row.tries + 1 }));
      for (const row of rows) tx.put("outbox", row.n, row);
      return { state: await stateOf(tx), rows };
    });
    if (!rows.length) return;
    const answer = await c.request("POST", "/v1/commands", { commands: rows.map((row) => command(row, rows)) });
    if (answer.status === 413 && rows.length > 1) {
      size = rows.length >> 1;
      continue;
    }
    if (answer.status !== 200 && answer.status !== 413) throw failureOf(answer);
    /** @type {import("./answers.js").Result[]} */
    const results = answer.json.results ?? [{ status: 413, problem: answer.json }];
    const waits = await decide(c, rows, results, state);
    c.changed();
    // An entity is merged once in a push: what brings it a second refusal now, the next push finds again.
    const left = rows.filter((row) => waits.some((other) => other.key === row.key) || merged.has(row.id));
    left.forEach((row) => stuck.add(row.id));
    rows.filter((_, i) => results[i]?.status === 412).forEach((row) => merged.add(row.id));
    const leaving = results.find((result) => isLeaving(result.problem));
    if (leaving) throw failureOf({ ...answer, json: leaving.problem });
  }
}

/**
 * settle writes what became of the outbox.
 * @param {import("./store.js").Tx} tx @param {{rows: Row[], refused: Omit<import("./answers.js").Refused, "n">[]}} outcome
 */
export async function settle(tx, { rows, refused }) {
  tx.clear("outbox");
  for (const row of rows) tx.put("outbox", row.n, row);
  let n = (await tx.get("meta", "n")) ?? 0;
  for (const record of refused) tx.put("refused", ++n, { ...record, n });
  tx.put("meta", "n", n);
}

/**
 * fill replaces changes that came without their item by what their own GET answers. An exception that nobody sees is no less
 * there: its series has lost the date, or is about to come. It stays without its item.
 * @param {Context} c @param {Change[]} changes @returns {Promise<Change[]>}
 */
const fill = (c, changes) => Promise.all(changes.map(async (change) => {
  if (!change.omitted) return change;
  const { type, id = "", version } = change;
  const item = await ask(c, type, id);
  return item ? changeOf(item) : type === "INSTANCE" ? change : { type, id, version, gone: true };
}));

/**
 * pull brings the copy up to date: page by page, each with its token in one transaction. It reports whether anything came.
 * @param {Context} c @returns {Promise<boolean>}
 */
export async function pull(c) {
  for (let came = false, resets = 0; ;) {
    const state = await c.store.read(stateOf);
    const isKnown = state.token && state.types === c.types;
    const answer = isKnown ? await c.request("GET", `/v1/changes?since=${state.token}`) : undefined;
    if (answer?.status === 304) return came;
    if (!answer || (answer.status === 410 && resets++ < 2)) {
      await snapshot(c, state);
      came = true;
      continue;
    }
    if (answer.status !== 200) throw failureOf(answer);
    const { changes, next, more } = answer.json;
    // An exception that is owed may be shown now.
    if (changes.some((/** @type {Change} */ { type }) => type === "MASTER")) {
      changes.push(...(await c.store.read(copyOf)).filter(({ omitted }) => omitted));
    }
    const filled = await fill(c, changes);
    await c.store.write(async (tx) => {
      const now = await stateOf(tx), { snapshot, ...rest } = now;
      if (place(now) !== place(state)) return;
      for (const change of filled) await put(tx, now.generation, change, true, c.now());
      if (!more && changes.length) await forget(tx, now.generation, c.now());
      if (next === now.token) return;
      // A snapshot that was left is behind this page.
      if (snapshot) tx.clear("items", snapshot.generation);
      tx.put("meta", "state", { ...rest, token: next });
    });
    if (changes.length) {
      came = true;
      c.changed();
    }
    if (!more) return came;
  }
}

/**
 * begin marks a snapshot as under way before its first page is asked for: no answer that comes before it is to be lost.
 * @param {Context} c @returns {Promise<State>}
 */
const begin = (c) => c.store.write(async (tx) => {
  const { snapshot, token, ...rest } = await stateOf(tx), generation = (snapshot ?? rest).generation + 1;
  if (snapshot) tx.clear("items", snapshot.generation);
  const state = { ...rest, token: rest.types === c.types ? token : undefined, types: c.types, snapshot: { generation, cursor: "" } };
  tx.put("meta", "state", state);
  return state;
});

/**
 * snapshot reads everything into a generation beside the one that counts, and exchanges them at its end. One that was left in
 * the middle goes on.
 * @param {Context} c @param {State} before
 */
async function snapshot(c, before) {
  for (let under = before.types === c.types && before.snapshot?.cursor ? before : await begin(c); ;) {
    const { generation, cursor: from } = /** @type {NonNullable<State["snapshot"]>} */ (under.snapshot);
    const query = new URLSearchParams({ ...(c.types && { types: c.types }), ...(from && { cursor: from }) });
    const answer = await c.request("GET", `/v1/changes${query.size ? `?${query}` : ""}`);
    if (from && [400, 410].includes(answer.status)) {
      under = await begin(c);
      continue;
    }
    if (answer.status !== 200) throw failureOf(answer);
    const { items, cursor, next } = answer.json;
    const filled = (await fill(c, items)).filter((change) => !change.gone);
    const goesOn = await c.store.write(async (tx) => {
      const now = await stateOf(tx), { snapshot: _, doubt, ...rest } = now;
      if (place(now) !== place(under)) return false;
      for (const change of filled) await put(tx, generation, change, true, c.now());
      if (!cursor) tx.clear("items", now.generation);
      under = cursor ? { ...now, snapshot: { generation, cursor } } : { ...rest, token: next, generation, reset: c.now(), checked: c.now() };
      tx.put("meta", "state", under);
      return cursor;
    });
    if (!goesOn) return c.changed();
  }
}

/** @param {Change[]} copy @returns {Promise<{count: number, digest: string}>} what the server's check says of an equal copy */
export async function digest(copy) {
  const sum = new Uint8Array(16), counted = copy.filter((held) => held.type !== "PLAN");
  for (const held of counted) {
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(entry(held))));
    sum.forEach((_, i) => { sum[i] ^= hash[i]; });
  }
  return { count: counted.length, digest: [...sum].map((byte) => byte.toString(16).padStart(2, "0")).join("") };
}

/**
 * check compares the copy with the server's. Two checks at least a minute apart must differ, each with a pull behind it that
 * brought nothing, before the copy is replaced, and it is replaced at most once a day.
 * @param {Context} c
 */
export async function check(c) {
  const answer = await c.request("GET", `/v1/changes/check${c.types && `?types=${encodeURIComponent(c.types)}`}`);
  if (answer.status === 429) return;
  if (answer.status !== 200) throw failureOf(answer);
  const [state, copy] = await c.store.read(async (tx) => [await stateOf(tx), await copyOf(tx)]);
  const mine = await digest(copy.filter((held) => isServed(held, c.now())));
  if (await pull(c)) return;
  const isSame = mine.count === answer.json.count && mine.digest === answer.json.digest;
  const { doubt = Infinity, reset = 0 } = state, now = c.now();
  const isWrong = !isSame && now - doubt >= minute && now - reset >= day;
  await c.store.write(async (tx) => {
    const { doubt: _, ...rest } = await stateOf(tx);
    tx.put("meta", "state", isSame ? { ...rest, checked: now } : { ...rest, doubt: Math.min(doubt, now) });
  });
  if (isWrong) {
    await snapshot(c, await c.store.read(stateOf));
    await pull(c);
  }
}

/**
 * sync pushes, pulls, and checks where it is time for that.
 * @param {Context} c
 */
export async function sync(c) {
  await push(c);
  await pull(c);
  const { checked = 0, doubt } = await c.store.read(stateOf);
  if (doubt ? c.now() - doubt >= minute : c.now() - checked >= checkEvery) await check(c);
}
