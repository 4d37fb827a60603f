// @ts-check
import { html, useState, useRef, useEffect, Empty, Field, Trouble, counted } from "../ui.js";
import { api, route, refine, addressOf, users } from "../state.js";

/** Why a kind matters, in the words of the documents. */
const kinds = {
  statistics: "numbers that users see", ledger: "what a projection last applied of an item", link: "backlinks", schedule: "calls that will ring",
  late: "reminders that came due and did not ring", fence: "deliveries that began and did not end", outbox: "messages to devices and webhooks", walk: "walks over many items",
  archive: "timers and cold copies", instance: "exceptions without their series", gone: "items that were deleted", stray: "rows of no item", snapshot: "revisions never committed",
  receipt: "receipts of writes that are not there", kept: "kept properties of no item", change: "what devices are told", plan: "plans without their day", erased: "rows of an erased account", count: "counts of quotas",
};

export function Verify() {
  const { user, kind } = route.value.query;
  const [run, setRun] = useState(/** @type {any} */ (null)), stop = useRef(/** @type {AbortController | null} */ (null));
  useEffect(() => () => stop.current?.abort(), []);
  /** @param {boolean} repair @param {string} [of] */
  const start = async (repair, of = user) => {
    stop.current?.abort();
    const mine = (stop.current = new AbortController()), state = /** @type {any} */ ({ repair, differences: [], rows: 0, busy: true });
    const show = () => { if (!mine.signal.aborted) setRun({ ...state, differences: [...state.differences] }); }, timer = setInterval(show, 300);
    show();
    try {
      await api.verify({ user: of, repair }, (l) => { if (l.difference) { if (state.differences.length < 2000) state.differences.push(l.difference); } else if (l.summary) state.summary = l.summary; else if (l.error) state.error = l.error; else state.rows = l.rows; }, mine.signal);
    } catch (error) { state.error = error; }
    state.busy = false;
    clearInterval(timer);
    show();
  };
  const differences = run?.differences ?? [], by = /** @type {Record<string, number>} */ ({});
  for (const d of differences) by[d.kind] = (by[d.kind] ?? 0) + 1;
  const shown = differences.filter((/** @type {any} */ d) => !kind || d.kind === kind), s = run?.summary;
  return html`<form class="filters" onSubmit=${(/** @type {any} */ e) => { e.preventDefault(); start(false); }}>
      <${Field} label="user" value=${user} options=${[{ value: "", label: "all users" }, ...users.value]} onChange=${(/** @type {string} */ v) => refine({ user: v })} />
      <button type="submit" class="main" disabled=${run?.busy}>Recount</button>
      <button type="button" disabled=${run?.busy} onClick=${() => start(true)}>Recount and repair</button>
      ${run?.busy && html`<button type="button" onClick=${() => { stop.current?.abort(); setRun({ ...run, busy: false, error: "It was stopped." }); }}>Stop</button>`}
      <p class="quiet">It runs beside everything else: what is in progress is no difference.</p></form>
    ${run && html`<section role="status"><p class=${`verdict ${s ? (s.remaining ? "bad" : "good") : ""}`}>${s ? `${counted(s.users, "user")}, ${counted(s.items, "item")}, ${counted(s.rows, "row")}: ${counted(s.found, "difference")} found, ${s.remaining} remain` : run.busy ? `Reading… ${run.rows} rows` : ""}</p>
      ${s?.unsettled ? html`<p class="quiet">${s.unsettled} kept changing: recount in ten minutes.</p>` : ""}</section>`}
    <${Trouble} error=${run?.error} />
    <ul class="tiles">${Object.entries(kinds).map(([name, why]) => html`<li key=${name} class=${`tile ${!s ? "" : by[name] ? "bad" : "good"}`}>
      <h2>${name}</h2><p class="quiet">${why}</p>
      <p>${by[name] ? html`<a href=${addressOf("verify", { kind: kind === name ? "" : name })}><span class="mark failed">✕</span> ${by[name]} ${kind === name ? "shown" : "differ"}</a>` : s ? html`<span class="mark done">✓</span> 0 differ` : html`<span class="quiet">not recounted yet</span>`}</p></li>`)}</ul>
    ${shown.length > 0 && html`<section class="card" aria-label="Differences"><h2>${shown.length} differences</h2><table><thead><tr><th scope="col">kind</th><th scope="col">user</th><th scope="col">key</th><th scope="col">is</th><th scope="col">should be</th><th scope="col">now</th></tr></thead>
      <tbody>${shown.slice(0, 300).map((/** @type {any} */ d, /** @type {number} */ i) => html`<tr key=${i}><td>${d.kind}</td><td>${d.user}</td><td><code>${d.key}</code></td><td><del>${d.is || "nothing"}</del></td><td><ins>${d.shouldBe || "nothing"}</ins></td>
        <td>${d.remains ? html`<button type="button" disabled=${run.busy} onClick=${() => start(true, d.user)}>Repair ${d.user}</button>` : "repaired"}</td></tr>`)}</tbody></table></section>`}`;
}
