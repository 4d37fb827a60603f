// @ts-check
// What all panes share: where the page is, what the system can do, and what it tells as it happens.
import { API } from "./api.js";
import { signal, computed, effect, batch } from "./ui.js";

/** @typedef {{pane: string, query: Record<string, string>}} Route */

export const api = new API("");

const root = "/console";

/** @returns {Route} */
function read() {
  const pane = location.pathname.slice(root.length + 1) || "flow";
  return { pane, query: Object.fromEntries(new URLSearchParams(location.search)) };
}

/** Where the page is: the pane, and what it shows. All of it is in the address. */
export const route = signal(read());
addEventListener("popstate", () => { route.value = read(); });

/** @param {string} pane @param {Record<string, any>} [query] */
export function addressOf(pane, query = {}) {
  const kept = { ...(route.value.query.user && !("user" in query) ? { user: route.value.query.user } : {}), ...query };
  const text = new URLSearchParams(Object.entries(kept).filter(([, v]) => v !== undefined && v !== "" && v !== null)).toString();
  return `${root}/${pane}${text && `?${text}`}`;
}

/** @param {string} address @param {boolean} [replace] */
export function visit(address, replace) {
  if (replace) history.replaceState(null, "", address); else history.pushState(null, "", address);
  route.value = read();
}

/** @param {string} pane @param {Record<string, any>} [query] */
export const go = (pane, query) => visit(addressOf(pane, query));

/** Changes a part of the address of this pane. @param {Record<string, any>} part */
export const refine = (part) => visit(addressOf(route.value.pane, { ...route.value.query, ...part }), true);

/** Follows links to the page itself without loading it. @param {MouseEvent} event */
export function follow(event) {
  const link = /** @type {HTMLElement} */ (event.target).closest?.("a[href]");
  if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const href = link.getAttribute("href") ?? "";
  if (!href.startsWith(root + "/") && href !== root) return;
  event.preventDefault();
  visit(href);
}

export const user = computed(() => route.value.query.user ?? "");

export const capabilities = signal(/** @type {Map<string, import("./api.js").Capability> | null} */ (null));
export const consumers = signal(/** @type {string[]} */ ([]));
export const users = signal(/** @type {string[]} */ ([]));
export const connected = signal(false);
export const paused = signal(false);
export const notice = signal("");

/** Seconds of the last ten minutes, the oldest first. */
export const seconds = signal(/** @type {any[]} */ ([]));
export const now = computed(() => seconds.value[seconds.value.length - 1]);

/** The newest changes, the newest first; how many came, and how many of them are not shown. */
export const latest = signal(/** @type {any[]} */ ([]));
export const left = signal(0);

const mostLatest = 300, mostSeconds = 600, mostWaiting = 10_000;

/** What has come since the last picture, by position: each text has all outcomes of its record, so the last one is enough. */
const waiting = /** @type {Map<number, string>} */ (new Map());

/** @type {Set<(kind: string, data: any) => void>} */
const watchers = new Set();

/** Calls a function for each event of the kinds that panes ask for besides. @param {(kind: string, data: any) => void} each */
export function watch(each) {
  watchers.add(each);
  return () => { watchers.delete(each); };
}

/** Takes what has come since the last picture: at most twice a second, the newest records, and no more than can be shown. */
function draw() {
  if (paused.value || !waiting.size) return;
  const newest = latest.value[0]?.position ?? 0;
  const come = [...waiting.keys()].sort((a, b) => b - a), shown = come.slice(0, mostLatest);
  const byPosition = new Map(latest.value.map((one) => [one.position, one]));
  for (const position of shown) {
    const { consumer, ...one } = JSON.parse(/** @type {string} */ (waiting.get(position)));
    byPosition.set(position, { ...one, key: position });
  }
  waiting.clear();
  batch(() => {
    latest.value = [...byPosition.values()].sort((a, b) => b.position - a.position).slice(0, mostLatest);
    left.value += come.slice(mostLatest).filter((position) => position > newest).length;
  });
}

/** @param {string} data an event of the kind outcome, which begins with the record's position */
function take(data) {
  waiting.set(parseInt(data.slice(data.indexOf(":") + 1), 10), data);
  if (waiting.size > mostWaiting) {
    for (const position of [...waiting.keys()].sort((a, b) => a - b).slice(0, mostWaiting / 2)) waiting.delete(position);
    left.value += mostWaiting / 2;
  }
}

export async function start() {
  const can = await api.capabilities();
  consumers.value = can.consumers;
  capabilities.value = new Map(can.items.map((one) => [one.name, one]));
  if (capabilities.value.get("flow")?.available) {
    await new Promise((/** @type {(v?: any) => void} */ opened) => { api.listen(["outcome", "rates", "parked", "clock", "schedule", "event"], {
      outcome: take,
      rates: (data) => { if (!paused.value) seconds.value = [...seconds.value, JSON.parse(data)].slice(-mostSeconds); },
      gap: () => { notice.value = "The page was away: some records are not shown here. Records has them all."; },
      ...Object.fromEntries(["parked", "clock", "schedule", "event"].map((kind) => [kind, (/** @type {string} */ data) => {
        for (const each of watchers) each(kind, JSON.parse(data));
      }])),
    }, (open) => { connected.value = open; opened(); }); });
    const [rates, changes] = await Promise.all([api.rates(), api.changes({ limit: 100 })]); // after the stream is open: nothing is missed
    batch(() => {
      seconds.value = [...rates, ...seconds.value.filter((/** @type {any} */ one) => one.at > (rates.at(-1)?.at ?? ""))];
      latest.value = changes.items.map((/** @type {any} */ one) => ({ ...one, key: one.position }));
    });
    setInterval(draw, 500);
  }
  loadUsers();
}

export async function loadUsers() {
  if (!capabilities.value?.get("users")?.available) return;
  users.value = (await api.users()).items;
}

/** Light, dark, or as the system has it. */
export const theme = signal(localStorage.getItem("nexus-theme") ?? "");
effect(() => {
  if (theme.value) { document.documentElement.dataset.theme = theme.value; localStorage.setItem("nexus-theme", theme.value); }
  else { delete document.documentElement.dataset.theme; localStorage.removeItem("nexus-theme"); }
});

/** Where a text that someone looks for leads: a trace, a sequence number, an item or a user. @param {string} text */
export function find(text) {
  text = text.trim();
  if (!text) return;
  if (/^[0-9a-f]{32}$/.test(text)) return go("change", { trace: text });
  if (/^\d+$/.test(text)) return go("records", { sequence: text });
  if (/^[a-z]+_[\w-]+$/.test(text)) return go("records", { item: text });
  if (users.value.includes(text)) return go("records", { user: text });
  return go("records", { item: text });
}
