// @ts-check
import { html, useState, useEffect, useRef, Empty, Field, Trouble, Copy, Diff, Time, Rows, Mark, useAsked } from "../ui.js";
import { api, route, refine, addressOf, watch } from "../state.js";

const names = ["consumer", "user", "reason"];

/** One parked object, folded to its reason. @param {{one: any, open: boolean}} p */
function One({ one, open }) {
  const body = one.body ?? {};
  return html`<details class="card" open=${open}><summary><strong>${one.consumer}</strong> <small>${one.user ? `of ${one.user}` : "of no known user"}, <${Time} at=${body.parkedAt} /></small> <span class="reason">${body.reason ?? "The mapping gave this batch up."}</span></summary>
    ${body.record?.dynamodb && html`<${Diff} record=${body.record} />`}
    <p class="actions"><a class="button" href=${addressOf("records", { sequence: body.record?.dynamodb?.SequenceNumber, user: "" })}>The record elsewhere</a><${Copy} text=${JSON.stringify(body.record ?? body)} label="Copy as a fixture" /></p>
    <p class="quiet"><code>${one.object}</code></p></details>`;
}

/** What became of each object, as it comes. */
function Progress({ run }) {
  if (!run) return null;
  const { lines, summary, error, total, what } = run, counts = /** @type {Record<string, number>} */ ({});
  for (const l of lines) counts[l.outcome] = (counts[l.outcome] ?? 0) + 1;
  return html`<section class="card" aria-live="polite" aria-label="Progress"><h2>${what}</h2>
    ${!summary && !error && html`<progress max=${total || 1} value=${lines.length}>${lines.length} of ${total}</progress>`}
    <p class=${`verdict ${summary ? (summary.matched === summary.done + summary.discarded ? "good" : "bad") : ""}`}>${Object.entries(counts).map(([k, n]) => `${n} ${run.dry ? "would be " : ""}${k}`).join(", ") || "nothing matches"}${summary ? `. ${summary.matched} in all.` : "…"}</p>
    <${Trouble} error=${error} />
    ${lines.length > 0 && html`<${Rows} label="Outcomes" items=${lines.map((/** @type {any} */ l) => ({ ...l, key: l.name }))} row=${(/** @type {any} */ l) => html`<div class="outcome"><${Mark} verdict=${l.outcome === "unknown" ? "failed" : l.outcome === "discarded" ? "already" : l.outcome} label=${l.outcome} /><code title=${l.name}>${l.name}</code><span class="why" title=${l.reason ?? ""}>${l.reason ?? ""}</span></div>`} />`}</section>`;
}

export function Parked() {
  const query = route.value.query, filter = Object.fromEntries(names.filter((n) => query[n]).map((n) => [n, query[n]])), key = JSON.stringify(filter);
  const groups = useAsked(() => api.parkedGroups(filter), [key]);
  const list = useAsked(() => api.parked({ ...filter, limit: 20 }), [key]);
  const [run, setRun] = useState(/** @type {any} */ (null)), [typed, setTyped] = useState(""), stop = useRef(/** @type {AbortController | null} */ (null));
  const count = (groups.value ?? []).reduce((/** @type {number} */ n, /** @type {any} */ g) => n + g.count, 0);
  const reload = () => { groups.reload(); list.reload(); };
  useEffect(() => {
    let timer = 0;
    const end = watch((kind) => { if (kind === "parked" && !timer) timer = setTimeout(() => { timer = 0; groups.reload(); list.reload(); }, 1000); });
    return () => { end(); clearTimeout(timer); };
  }, [groups.reload, list.reload]);
  /** @param {string} what @param {boolean} dry @param {(each: (l: any) => void) => Promise<void>} does */
  const carryOut = async (what, dry, does) => {
    const lines = /** @type {any[]} */ ([]), last = /** @type {any} */ ({}), show = () => setRun({ what, dry, lines: [...lines], total: count, ...last });
    const timer = setInterval(show, 300);
    show();
    try { await does((l) => { if (l.object) lines.push(l.object); else Object.assign(last, l.error ? { error: l.error } : { summary: l.summary }); }); } catch (error) { last.error = /** @type {any} */ (error).name === "AbortError" ? "It was stopped; the next one goes on." : error; }
    clearInterval(timer);
    show();
    stop.current = null;
    if (!dry) reload();
  };
  const redrive = (/** @type {boolean} */ dry) => { stop.current = new AbortController(); carryOut(dry ? "Dry run, in an empty system" : "Redriven", dry, (each) => api.redrive(filter, dry, each, stop.current?.signal)); };
  const running = run && !run.summary && !run.error;
  return html`<form class="filters" onSubmit=${(/** @type {any} */ e) => e.preventDefault()}>
      ${names.map((name) => html`<${Field} key=${name} label=${name === "reason" ? "a part of the reason" : name} value=${query[name]} onChange=${(/** @type {string} */ v) => refine({ [name]: v })} />`)}
      <button type="button" onClick=${() => refine({ consumer: "", user: "", reason: "" })}>All</button></form>
    <${Trouble} error=${groups.error} />
    ${groups.value && !count ? html`<${Empty}>${Object.keys(filter).length ? "Nothing that is parked is like that." : "Nothing is parked: every record that came was processed by each consumer. A record that can never be processed would be kept here, and would delay no other."}<//>` : html`
    <section class="card" aria-label="By consumer and reason"><table><thead><tr><th scope="col" class="num">count</th><th scope="col">consumer</th><th scope="col">reason</th><th scope="col" class="num">users</th><th scope="col">oldest</th><th scope="col">newest</th></tr></thead>
      <tbody>${(groups.value ?? []).map((/** @type {any} */ g) => html`<tr key=${g.consumer + g.reason}><td class="num" data-label="count">${g.count}</td><td data-label="consumer">${g.consumer}</td><td data-label="reason"><a href=${addressOf("parked", { consumer: g.consumer, reason: g.reason })}>${g.reason || "–"}</a></td><td class="num" data-label="users">${g.users}</td><td data-label="oldest"><${Time} at=${g.oldest} /></td><td data-label="newest"><${Time} at=${g.newest} /></td></tr>`)}</tbody></table>
      <div class="actions"><button type="button" onClick=${() => redrive(true)} disabled=${running}>Dry run of ${count}</button>
        <button type="button" class="main" onClick=${() => redrive(false)} disabled=${running}>Redrive all ${count} that match</button>
        ${running && html`<button type="button" onClick=${() => stop.current?.abort()}>Stop</button>`}
        <${Field} label=${`type ${count} to discard them`} value=${typed} inputmode="numeric" onInput=${(/** @type {any} */ e) => setTyped(e.target.value)} onChange=${setTyped} />
        <button type="button" class="danger" disabled=${running || typed !== String(count)} onClick=${() => { setTyped(""); carryOut("Discarded", false, (each) => api.discard(filter, count, each)); }}>Discard for good</button></div></section>`}
    <${Progress} run=${run} />
    ${(list.value?.items ?? []).map((/** @type {any} */ one, /** @type {number} */ i) => html`<${One} key=${one.object} one=${one} open=${i === 0} />`)}
    ${list.value?.next && html`<p class="quiet">And more; a filter makes them fewer.</p>`}`;
}
