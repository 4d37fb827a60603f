// @ts-check
import { html, useState, Empty, Trouble, useAsked } from "../ui.js";
import { api } from "../state.js";

/** @param {number} n @param {string} currency */
const money = (n, currency) => `${n < 0.01 ? n.toPrecision(2) : n.toFixed(2)} ${currency}`;

/** What was used between two readings. @param {any} now @param {any} before */
function between(now, before) {
  if (!now || !before) return now;
  const was = new Map(before.lines.map((/** @type {any} */ l) => [`${l.part} ${l.operation}`, l]));
  const lines = now.lines.map((/** @type {any} */ l) => {
    const w = was.get(`${l.part} ${l.operation}`) ?? { calls: 0, readUnits: 0, writeUnits: 0, price: 0 };
    return { ...l, calls: l.calls - w.calls, readUnits: l.readUnits - w.readUnits, writeUnits: l.writeUnits - w.writeUnits, price: l.price - w.price };
  }).filter((/** @type {any} */ l) => l.calls > 0);
  return { ...now, lines, writes: now.writes - before.writes, seconds: now.seconds - before.seconds };
}

export function Cost() {
  const [since, setSince] = useState(/** @type {any} */ (null));
  const asked = useAsked(() => api.cost(), [], { every: 3000 });
  const v = between(asked.value, since);
  const start = async () => { setSince(await api.cost()); asked.reload(); };
  const others = ["verify", "erase", "transfer"], each = v ? v.lines.filter((/** @type {any} */ l) => !others.includes(l.part)).reduce((/** @type {number} */ n, /** @type {any} */ l) => n + l.price, 0) / Math.max(1, v.writes) : 0;
  const total = v ? v.lines.reduce((/** @type {number} */ n, /** @type {any} */ l) => n + l.price, 0) : 0;
  return html`<div class="actions"><button type="button" class="main" onClick=${start}>Begin a measurement now</button>${since && html`<button type="button" onClick=${() => setSince(null)}>Since the start</button>`}
      <p class="quiet">${since ? "Since the measurement began." : "Since the start of the process."} ${v ? `Prices: ${v.source}, ${v.asOf}.` : ""}</p></div>
    <${Trouble} error=${asked.error} />
    ${v && (v.lines.length ? html`<section class="tiles"><div class="tile"><h2>So far</h2><p class="big">${money(total, v.currency)}</p><p class="quiet">${v.seconds < 90 ? `in ${Math.round(v.seconds)} s` : `in ${Math.round(v.seconds / 60)} minutes`}</p></div>
        <div class="tile"><h2>Each write</h2><p class="big">${v.writes ? money(each, v.currency) : "–"}</p><p class="quiet">${v.writes} writes over HTTP, with all that followed and what was read beside them</p></div>
        <div class="tile"><h2>A million such writes</h2><p class="big">${v.writes ? money(each * 1e6, v.currency) : "–"}</p><p class="quiet">Without recounts, erasures and exports, which this page sets off. Functions, requests and storage come on top: <code>nexus cost</code> has the whole bill.</p></div></section>
      <section class="card"><table><thead><tr><th scope="col">part</th><th scope="col">operation</th><th scope="col" class="num">calls</th><th scope="col" class="num">read units</th><th scope="col" class="num">write units</th><th scope="col" class="num">price</th></tr></thead>
      <tbody>${v.lines.map((/** @type {any} */ l) => html`<tr key=${l.part + l.operation}><td>${l.part}</td><td>${l.operation}</td><td class="num">${l.calls.toLocaleString("en")}</td><td class="num">${l.readUnits ? l.readUnits.toLocaleString("en") : "–"}</td><td class="num">${l.writeUnits ? l.writeUnits.toLocaleString("en") : "–"}</td><td class="num">${money(l.price, v.currency)}</td></tr>`)}</tbody></table></section>`
      : html`<${Empty}>Nothing has been used since then.<//>`)}`;
}
