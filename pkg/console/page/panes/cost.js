// @ts-check
import { html, useState, Empty, Trouble, useAsked, counted } from "../ui.js";
import { api } from "../state.js";

/** @param {number} n @param {string} currency */
const money = (n, currency) => `${n < 0.01 ? n.toLocaleString("en", { maximumSignificantDigits: 2 }) : n.toFixed(2)} ${currency}`;

/** The columns of the table, and which of them are numbers. */
const columns = [["part", ""], ["operation", ""], ["calls", "num"], ["read units", "num"], ["write units", "num"], ["price", "num"]];

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
    ${v && (v.lines.length ? html`<section class="tiles"><div class="tile"><h2>Altogether</h2><p class="big">${money(total, v.currency)}</p><p class="quiet">${v.seconds < 90 ? `in ${counted(Math.round(v.seconds), "second")}` : `in ${counted(Math.round(v.seconds / 60), "minute")}`}</p></div>
        <div class="tile"><h2>One write</h2><p class="big">${v.writes ? money(each, v.currency) : "–"}</p><p class="quiet">The mean of ${counted(v.writes, "write")} over HTTP, with all that followed them, and all that was read</p></div>
        <div class="tile"><h2>A million such writes</h2><p class="big">${v.writes ? money(each * 1e6, v.currency) : "–"}</p><p class="quiet">Without recounts, erasures and exports, which this page sets off. Functions, requests and storage come on top: <code>nexus cost</code> has the whole bill.</p></div></section>
      <section class="card"><table class="short"><thead><tr>${columns.map(([name, num]) => html`<th key=${name} scope="col" class=${num}>${name}</th>`)}</tr></thead>
      <tbody>${v.lines.map((/** @type {any} */ l) => html`<tr key=${l.part + l.operation}>${[l.part, l.operation, l.calls.toLocaleString("en"), l.readUnits ? l.readUnits.toLocaleString("en") : "–", l.writeUnits ? l.writeUnits.toLocaleString("en") : "–", money(l.price, v.currency)]
        .map((cell, i) => html`<td key=${i} class=${columns[i][1]} data-label=${columns[i][0]}>${cell}</td>`)}</tr>`)}</tbody></table></section>`
      : html`<${Empty}>Nothing has been used since then.<//>`)}`;
}
