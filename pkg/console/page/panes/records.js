// @ts-check
import { html, useState, useEffect, useRef, useCallback, Rows, Empty, Field, Trouble, Copy, useAsked, shortID, counted } from "../ui.js";
import { api, consumers, route, refine, addressOf, users } from "../state.js";
import { ChangeRow } from "./flow.js";
import { RecordCard } from "./change.js";

const filters = ["user", "item", "type", "consumer", "outcome", "sequence", "from", "to"];
const outcomes = [{ value: "", label: "any" }, { value: "parked,unfinished,retried", label: "any failure" }, "done", { value: "already", label: "already done" }, "retried", "parked", "unfinished"];

/** What is derived of an item now, by kind. */
function Derived({ user, item }) {
  const asked = useAsked(() => api.derived(user, item), [user, item]);
  if (asked.error) return html`<${Trouble} error=${asked.error} />`;
  if (!asked.value) return html`<p class="quiet">Reading…</p>`;
  const kinds = Object.entries(asked.value).filter(([, lines]) => /** @type {any} */ (lines)?.length);
  if (!kinds.length) return html`<${Empty}>Nothing is derived of it now.<//>`;
  return html`<dl class="derived">${kinds.map(([kind, lines]) => html`<dt key=${kind}>${kind}</dt><dd><ul>${/** @type {string[]} */ (lines).map((line) => html`<li key=${line}><code>${line}</code></li>`)}</ul></dd>`)}</dl>`;
}

/** The list of what matches, page by page; of several questions, the last one is answered. @param {Record<string, string>} filter */
function useList(filter) {
  const key = JSON.stringify(filter), asked = useRef({ last: 0, busy: false });
  const [known, setKnown] = useState(/** @type {any} */ (null)), list = known?.key === key ? known : { items: [], busy: true };
  const load = useCallback(async (/** @type {string} */ after, /** @type {any[]} */ before) => {
    const mine = ++asked.current.last;
    let found = /** @type {any} */ (null);
    asked.current.busy = true;
    try {
      const page = await api.changes({ ...JSON.parse(key), limit: 500, after });
      found = { items: [...before, ...page.items.map((/** @type {any} */ one) => ({ ...one, key: one.position }))], next: page.next, truncated: page.truncated };
    } catch (error) { found = { items: before, error }; }
    if (mine !== asked.current.last) return;
    asked.current.busy = false;
    setKnown({ key, ...found });
  }, [key]);
  useEffect(() => { load("", []); }, [load]);
  const more = useCallback(() => { if (list.next && !asked.current.busy) load(list.next, list.items); }, [list, load]);
  return { ...list, more, reload: () => load("", []) };
}

export function Records() {
  const query = route.value.query, filter = Object.fromEntries(filters.filter((name) => query[name]).map((name) => [name, query[name]]));
  const list = useList(filter);
  const at = query.at ? list.items.find((/** @type {any} */ one) => String(one.position) === query.at) : query.item || query.sequence ? list.items[0] : null;
  const full = useAsked(async () => (at ? (await api.changes({ sequence: at.sequence, user: at.user, records: true })).items.find((/** @type {any} */ one) => one.position === at.position) : null), [at?.position], { also: JSON.stringify(at?.outcomes) });
  const set = (/** @type {string} */ name) => (/** @type {string} */ v) => refine({ [name]: v, at: "" });
  const fixture = async () => (await api.changes({ ...filter, records: true, limit: 1000 })).items.reverse().map((/** @type {any} */ one) => JSON.stringify(one.record)).join("\n");
  const [copied, setCopied] = useState("");
  return html`<form class="filters" onSubmit=${(/** @type {any} */ e) => e.preventDefault()}>
      <${Field} label="user" value=${query.user} list="known-users" onChange=${set("user")} /><datalist id="known-users">${users.value.map((u) => html`<option key=${u} value=${u} />`)}</datalist>
      <${Field} label="item" value=${query.item} onChange=${set("item")} />
      <${Field} label="type" value=${query.type} options=${[{ value: "", label: "any" }, "EVENT", "MASTER", "INSTANCE", "TASK", "REMINDER", "NOTE", "USER_META", "TIMER", "VALUES", "PLAN"]} onChange=${set("type")} />
      <${Field} label="consumer" value=${query.consumer} options=${[{ value: "", label: "any" }, ...consumers.value]} onChange=${set("consumer")} />
      <${Field} label="outcome" value=${query.outcome} options=${outcomes} onChange=${set("outcome")} />
      <${Field} label="from" value=${query.from} placeholder="2026-03-02T09:00:00Z" onChange=${set("from")} />
      <${Field} label="before" value=${query.to} placeholder="2026-03-03T09:00:00Z" onChange=${set("to")} />
      <button type="button" onClick=${list.reload}>Look again</button>
      <button type="button" onClick=${async () => { await navigator.clipboard.writeText(await fixture()); setCopied("copied"); }}>${copied || "Copy as a fixture"}</button></form>
    <${Trouble} error=${list.error} />
    <div class=${at ? "split" : ""}>
      <section class="list" aria-label="Records">
        ${list.items.length ? html`<${Rows} label="Records" items=${list.items} onEnd=${list.more} row=${(/** @type {any} */ one) => html`<div class=${`line ${at?.position === one.position ? "chosen" : ""}`}><button type="button" class="open" aria-expanded=${at?.position === one.position} aria-label=${`Show ${one.type} ${one.item} version ${one.version}`} onClick=${() => refine({ at: at?.position === one.position ? "" : one.position })}>${at?.position === one.position ? "▾" : "▸"}</button><${ChangeRow} one=${one} consumers=${consumers.value} /></div>`} />
          <p class="quiet">${counted(list.items.length, "record")}${list.next ? ", and more below" : list.truncated ? "; older ones have left the memory of this process" : ""}</p>`
          : !list.busy && html`<${Empty}>${Object.keys(filter).length ? "No record since the start is like that." : "No record has come since the start."} <code>nexus record</code> reads the whole stream.<//>`}
      </section>
      ${at && html`<section class="side" aria-label="Chosen record"><p class="actions"><a class="button" href=${addressOf("change", { trace: at.traceId })}>Follow this change</a>
        <a class="button" href=${addressOf("records", { user: at.user, item: at.item })}>All of this item</a></p>
        ${full.value && html`<${RecordCard} one=${full.value} done=${list.reload} />`}
        ${at.item && html`<h2>Derived of ${shortID(at.item)} now</h2><${Derived} user=${at.user} item=${at.item} />`}</section>`}
    </div>`;
}
