// @ts-check
import { html, useState, useEffect, Empty, Field, Trouble, Time, Rows, useAsked, shortID, durationText, parseOffset, counted } from "../ui.js";
import { api, addressOf, watch, route, now as second } from "../state.js";

const jumps = [["1 hour", "1h"], ["1 day", "24h"], ["1 week", "168h"]];

/** What a moving clock waits for. */
function Waiting() {
  const s = second.value;
  return html`<p role="status">Time moves: it stops at everything that is due, until that is done.</p>
    ${s && html`<p class="quiet">It waits for ${counted(s.inFlight, "record")} in flight. In the last second there ${s.writes === 1 ? "was" : "were"} ${counted(s.writes, "write")}.</p>`}`;
}

export function Clock() {
  const clock = useAsked(() => api.clock(), []), due = useAsked(() => api.due(), []);
  const [until, setUntil] = useState(""), [busy, setBusy] = useState(false), [error, setError] = useState(/** @type {any} */ (null)), [moved, setMoved] = useState(/** @type {any} */ (null)), [way, setWay] = useState(/** @type {any[]} */ ([]));
  useEffect(() => {
    let timer = 0;
    const end = watch(() => { if (!timer) timer = setTimeout(() => { timer = 0; due.reload(); }, 1500); });
    return () => { end(); clearTimeout(timer); };
  }, [due.reload]);
  const move = async (/** @type {any} */ to) => {
    setBusy(true); setError(null); setWay([]); setMoved(null);
    let at = clock.value?.now ?? "";
    const seen = /** @type {any[]} */ ([]), end = watch((kind, data) => {
      if (kind === "clock") at = data.now;
      else if (kind !== "parked" && seen.length < 500) seen.push({ key: seen.length, kind, at, data });
    });
    try { setMoved(await api.moveClock(to)); } catch (e) { setError(e); }
    setTimeout(() => { end(); setWay([...seen]); }, 600);
    setBusy(false);
    clock.reload(); due.reload();
  };
  const { user } = route.value.query, items = (due.value?.items ?? []).filter((/** @type {any} */ d) => !user || d.user === user), now = Date.parse(clock.value?.now ?? "");
  const next = due.value?.items?.find((/** @type {any} */ d) => Date.parse(d.at) > now);
  return html`<section class="tile"><p class="big"><${Time} at=${clock.value?.now} /></p>
      <p class="quiet">${clock.value?.offset === "0s" ? "as the machine's clock" : `${durationText(parseOffset(clock.value?.offset ?? ""))} ahead of the machine's clock`}</p>
      <div class="actions"><button type="button" class="main" disabled=${busy || !next} onClick=${() => move({ set: next.at })}>${next ? html`To the next: ${next.kind} at <${Time} at=${next.at} />` : "Nothing waits"}</button>
        ${jumps.map(([word, by]) => html`<button type="button" key=${by} disabled=${busy} onClick=${() => move({ advance: by })}>By ${word}</button>`)}
        <form class="actions" onSubmit=${(/** @type {any} */ e) => { e.preventDefault(); move({ set: until }); }}><${Field} label="to an instant" value=${until} placeholder="2026-03-29T02:30:00Z" onInput=${(/** @type {any} */ e) => setUntil(e.target.value)} onChange=${setUntil} /><button type="submit" disabled=${busy || !until}>Move there</button></form></div>
      ${busy && html`<${Waiting} />`}
      ${moved && html`<p role="status">It is <${Time} at=${moved.now} />. Time stopped ${counted(moved.steps, "time")}; ${counted(moved.fired, "call")} of schedules, ${counted(moved.swept, "row")} expired.</p>`}
      <${Trouble} error=${error ?? clock.error} /></section>
    ${way.length > 0 && html`<section class="list" aria-label="On the way"><h2>What happened on the way</h2><ol class="plainlist">${way.map((w) => html`<li key=${w.key}><${Time} at=${w.at} /> ${w.kind === "event" ? html`event <strong>${w.data.type}</strong> ${w.data.detail?.itemId && html`<a href=${addressOf("records", { item: w.data.detail.itemId })}>${shortID(w.data.detail.itemId)}</a>`}` : `schedule ${w.data.op} ${w.data.at ? `for ${w.data.at}` : ""}`}</li>`)}</ol></section>`}
    <section class="list" aria-label="Due next"><h2>What is due next</h2>
      ${items.length ? html`<${Rows} label="Due next" items=${items.map((/** @type {any} */ d) => ({ ...d, key: d.kind + d.name }))} row=${(/** @type {any} */ d) => html`<a class="due" href=${d.item ? addressOf("records", { user: d.user, item: d.item }) : addressOf("records", { user: d.user })}><${Time} at=${d.at} /><span class="in">in ${durationText(Math.max(0, Date.parse(d.at) - now))}</span><strong>${d.kind}</strong><span>${d.user}</span><code title=${d.name}>${shortID(d.item || d.name)}</code></a>`} />`
      : !due.busy && html`<${Empty}>Nothing waits for its time. A reminder, a completed task or an ended event would.<//>`}
      ${due.value?.more > 0 && html`<p class="quiet">And ${due.value.more} later ones.</p>`}</section>`;
}
