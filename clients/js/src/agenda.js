// The answers of the agenda for the days around today, kept for when there is no network. Series are expanded by the server
// alone: what else is in a window, the copy shows, with the edits that wait.
import { failureOf } from "./sync.js";

/** @typedef {{cursor?: string, etag: string, items: import("./merge.js").Item[], next?: string}} Page */
/**
 * Kept are the answers. `changes` counts what may have made them stale, `seen` is its number before they were asked for.
 * @typedef {{from: string, to: string, pages: Page[], changes: number, seen: number}} Kept
 */

const day = 86_400_000, back = 30, ahead = 90;

/**
 * keepAgenda asks for the agenda again if something that the server expands has changed, or the day has. Pages that are the
 * same are not sent again.
 * @param {import("./sync.js").Context} c
 */
export async function keepAgenda(c) {
  const today = Math.floor(c.now() / day) * day;
  const [from, to] = [today - back * day, today + ahead * day].map((at) => new Date(at).toISOString().replace(".000", ""));
  /** @type {Kept | undefined} */
  const had = await c.store.read((tx) => tx.get("meta", "agenda"));
  if (had && had.changes === had.seen && had.from === from) return;
  /** @type {Page[]} */
  const pages = [];
  for (let cursor = /** @type {string | undefined} */ (undefined); ;) {
    const query = new URLSearchParams({ from, to, types: "EVENT,REMINDER", limit: "100", ...(cursor && { cursor }) });
    const old = had?.from === from ? had.pages.find((page) => page.cursor === cursor) : undefined;
    const answer = await c.request("GET", `/v1/agenda?${query}`, undefined, old && { "If-None-Match": old.etag });
    if (answer.status === 304 && old) pages.push(old);
    else if (answer.status === 200) {
      const { items, nextCursor: next } = answer.json;
      pages.push({ etag: answer.headers.get("ETag") ?? "", items, ...(cursor && { cursor }), ...(next && { next }) });
    } else throw failureOf(answer);
    cursor = pages.at(-1)?.next;
    if (!cursor) break;
  }
  await c.store.write(async (tx) => {
    const { changes = 0 } = (await tx.get("meta", "agenda")) ?? {};
    tx.put("meta", "agenda", { from, to, pages, changes, seen: had?.changes ?? 0 });
  });
  c.changed();
}

/**
 * occurrences returns of a kept agenda what the server alone can expand.
 * @param {Kept | undefined} kept
 */
export const occurrences = (kept) =>
  (kept?.pages ?? []).flatMap(({ items }) => items).filter((item) => item.masterId || item.rrule);
