// A device's copy of its user's data: what stands in it, what a change does to it, and what is shown of it.
import { times } from "./merge.js";

/** @typedef {import("./merge.js").Item} Item */
/**
 * Change is what the feed says of one thing, and the form in which the copy keeps it. An entity has `id`, `version` and
 * `item`, or `gone` without `item`; the head of a repository has `revId`, a plan also its `date`. `at` is when the feed said
 * that something is gone, in milliseconds; without it the feed has yet to say so.
 * @typedef {{type: string, id?: string, version?: number, item?: Item, gone?: boolean, omitted?: boolean, at?: number,
 *   expiresAt?: string, revId?: string, revTs?: string, date?: string}} Change
 */

/**
 * The member that has an entity's id, the path of its type, and the word for it in the names of commands.
 * @type {Record<string, {id: string, path: string, noun: string}>}
 */
export const types = {
  EVENT: { id: "eventId", path: "events", noun: "Event" },
  MASTER: { id: "masterId", path: "series", noun: "Series" },
  INSTANCE: { id: "eventId", path: "events", noun: "Instance" },
  TASK: { id: "taskId", path: "tasks", noun: "Task" },
  REMINDER: { id: "reminderId", path: "reminders", noun: "Reminder" },
  NOTE: { id: "noteId", path: "notes", noun: "Note" },
  USER_META: { id: "userId", path: "me", noun: "Me" },
};

const day = 86_400_000;

/** @param {Change} change @returns {string} the key of a thing within its generation */
export const keyOf = (change) => change.id ?? [change.type, change.date].join(" ");

/** @param {string} master @param {string} date YYYYMMDD @returns {string} the id of an occurrence's exception */
export const occurrenceId = (master, date) => `inst_${date}_${master.slice("mst_".length)}`;

/** @param {Item} item @param {string[]} names @returns {Item} */
export const pick = (item, names) =>
  Object.fromEntries(names.filter((name) => item[name] !== undefined).map((name) => [name, item[name]]));

/**
 * changeOf returns an entity of an answer as the feed would serve it: without what moves without a version, and an occurrence
 * without what is its series'.
 * @param {Item} entity @returns {Change}
 */
export function changeOf(entity) {
  const type = entity.entityType, id = entity[types[type].id], version = entity.version;
  const { hasExceptions, stats, ...item } = entity;
  if (type !== "INSTANCE") return { type, id, version, item };
  const own = entity.modifiedFields;
  if (!own) return { type, id, version, gone: true };
  return { type, id, version, item: pick(item, ["entityType", "eventId", "masterId", "modifiedFields", "version", "createdAt",
    "updatedAt", ...own, ...(times.some((name) => own.includes(name)) ? times : [])]) };
}

/**
 * replaces reports whether a change takes the place of what is held. What is lower never does; of the same version the feed's
 * does, which may have brought its end, and an answer's does not.
 * @param {Change | undefined} held @param {Change} change @param {boolean} fromFeed
 */
export function replaces(held, change, fromFeed) {
  if (!held) return true;
  const [a, b] = change.revId ? [held.revId ?? "", change.revId] : [held.version ?? 0, change.version ?? 0];
  return a < b || (a === b && fromFeed);
}

/**
 * put brings a change into a generation, unless what is held is later. It marks a kept agenda that has to be asked for again:
 * only the server expands series.
 * @param {import("./store.js").Tx} tx @param {number} generation @param {Change} change @param {boolean} fromFeed
 * @param {number} now
 */
export async function put(tx, generation, change, fromFeed, now) {
  const key = [generation, keyOf(change)];
  /** @type {Change | undefined} */
  const held = await tx.get("items", key);
  if (!replaces(held, change, fromFeed)) return;
  tx.put("items", key, change.gone && fromFeed ? { ...change, at: now } : change);
  const { type, item } = change;
  const moves = type === "MASTER" || type === "INSTANCE" || (type === "REMINDER" && (item?.rrule || held?.item?.rrule)) ||
    (type === "USER_META" && item?.defaultTzid !== held?.item?.defaultTzid);
  const agenda = moves && (await tx.get("meta", "agenda"));
  if (agenda) tx.put("meta", "agenda", { ...agenda, changes: agenda.changes + 1 });
}

/**
 * forget removes what the feed said a day ago is gone: no answer can come so late. What only an answer said stays.
 * @param {import("./store.js").Tx} tx @param {number} generation @param {number} now
 */
export async function forget(tx, generation, now) {
  for (const held of await tx.all("items", generation)) {
    if (held.gone && held.at < now - day) tx.delete("items", [generation, keyOf(held)]);
  }
}

/** @param {Change} held @returns {number} when the server stops to serve it, in milliseconds */
const endOf = ({ expiresAt, item }) => (expiresAt ? Date.parse(expiresAt) : item?.ttl ? item.ttl * 1000 : Infinity);

/** @param {Change} held @param {number} now by the server's clock */
export const isServed = (held, now) => !held.gone && endOf(held) > now;

/**
 * entry is what the log says of a thing: the text that the digest of a copy is made of.
 * @param {Change} held
 */
export const entry = (held) => held.revId ? `${held.type} ${held.revId}`
  : `${held.type} ${held.id} ${held.version}${endOf(held) < Infinity ? "!" : ""}`;

/**
 * shown returns what a user sees of an entity: a completed task past the time that archives it is archived, whether the server
 * has come to it or not.
 * @param {Item} item @param {number} now by the server's clock
 */
export const shown = (item, now) =>
  item.status === "COMPLETED" && item.archiveAt && Date.parse(item.archiveAt) <= now ? { ...item, status: "ARCHIVED" } : item;
