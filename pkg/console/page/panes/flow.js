// @ts-check
import { html, useState, useEffect, useRef, useMemo, Mark, Time, Rows, Empty, Field, verdictOf, shortID, durationText, clockText } from "../ui.js";
import { api, consumers as known, seconds, now, latest, left, route, refine, addressOf, theme, paused } from "../state.js";

/** What the last seconds come to. @param {any[]} of @param {number} last */
function sum(of, last) {
  const some = of.slice(-last), by = /** @type {Record<string, any>} */ ({});
  let writes = 0, records = 0, p50 = 0, p99 = 0;
  for (const s of some) {
    writes += s.writes; records += s.records;
    if (s.p99) { p50 = s.p50; p99 = Math.max(p99, s.p99); }
    for (const [name, c] of Object.entries(s.consumers ?? {})) {
      const one = (by[name] ??= { done: 0, already: 0, retried: 0, parked: 0, unfinished: 0, milliseconds: 0 });
      for (const field of Object.keys(one)) one[field] += /** @type {any} */ (c)[field] ?? 0;
    }
  }
  const n = Math.max(1, some.length);
  return { writes: writes / n, records: records / n, p50, p99, by };
}

/** @param {number} n */
const rate = (n) => (n === 0 ? "0" : n < 10 ? n.toFixed(1) : Math.round(n).toLocaleString("en"));

/** The picture of the README, live. */
function Drawing({ lag }) {
  const recently = sum(seconds.value, 5), tenMinutes = sum(seconds.value, 600), s = now.value;
  const consumers = (lag?.readers ?? []).flatMap((/** @type {any} */ r) => r.consumers.map((/** @type {any} */ c) => ({ ...c, reader: r.reader })));
  const active = recently.writes > 0 || recently.records > 0;
  return html`<section class=${`drawing ${active ? "active" : ""}`} aria-label="What happens now">
    <div class="stage"><h2>Writes</h2><p class="big">${rate(recently.writes)}<small>/s</small></p>
      <dl><dt>p50</dt><dd>${tenMinutes.p50 ? durationText(recently.p50 || tenMinutes.p50) : "–"}</dd><dt>p99</dt><dd>${tenMinutes.p99 ? durationText(recently.p99 || tenMinutes.p99) : "–"}</dd></dl></div>
    <div class="wire" aria-hidden="true"></div>
    <div class="stage"><h2>Stream</h2><p class="big">${rate(recently.records)}<small>/s</small></p>
      <dl><dt>in flight</dt><dd>${s?.inFlight ?? 0}</dd><dt>oldest</dt><dd>${s?.behind ? durationText(s.behind) : "–"}</dd></dl></div>
    <div class="wire" aria-hidden="true"></div>
    <div class="stage wide"><h2>Consumers</h2><ul class="consumers">${consumers.map((/** @type {any} */ c) => {
      const r = recently.by[c.consumer] ?? {}, all = tenMinutes.by[c.consumer] ?? {};
      const n = (all.done ?? 0) + (all.already ?? 0);
      return html`<li key=${c.consumer}><a href=${addressOf("records", { consumer: c.consumer })}>
        <strong>${c.consumer}</strong><span class="rate">${rate(((r.done ?? 0) + (r.already ?? 0)) / 5)}/s</span>
        <span class="took">${n ? durationText(all.milliseconds / n) : "–"}</span>
        <span class=${c.retried ? "count warn" : "count"} title="failed attempts since the start"><span aria-hidden="true">↻</span><span class="unseen">retried</span> ${c.retried}</span>
        <span class=${c.parked ? "count bad" : "count"} title="parked since the start"><span aria-hidden="true">●</span><span class="unseen">parked</span> ${c.parked}</span></a></li>`;
    })}</ul></div>
    <div class="wire" aria-hidden="true"></div>
    <div class="stage"><h2>Effects</h2><dl>
      <dt>scheduled</dt><dd>${lag?.reminders?.scheduled ?? 0}</dd><dt>delivered</dt><dd>${lag?.reminders?.delivered ?? 0}</dd>
      <dt>late, missed</dt><dd>${(lag?.reminders?.late ?? 0)}, ${lag?.reminders?.missed ?? 0}</dd>
      <dt>next call</dt><dd>${lag?.nextScheduleAt ? html`<${Time} at=${lag.nextScheduleAt} />` : "none"}</dd>
      <dt>next expiry</dt><dd>${lag?.nextExpiryAt ? html`<${Time} at=${lag.nextExpiryAt} />` : "none"}</dd></dl></div>
  </section>`;
}

/** Ten minutes as curves. */
function Curves() {
  const box = useRef(/** @type {any} */ (null)), chart = useRef(/** @type {any} */ (null));
  const shade = theme.value, data = seconds.value;
  useEffect(() => {
    const style = getComputedStyle(document.documentElement), color = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    const axis = { stroke: color("--quiet"), grid: { stroke: color("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui" };
    const make = () => new /** @type {any} */ (globalThis).uPlot({
      width: box.current.clientWidth, height: 150, legend: { show: false }, cursor: { show: false }, tzDate: (/** @type {number} */ at) => new Date(at * 1000 + new Date(at * 1000).getTimezoneOffset() * 60000),
      scales: { y: { range: (/** @type {any} */ _, /** @type {number} */ __, /** @type {number} */ most) => [0, Math.max(5, most * 1.1)] }, ms: { range: (/** @type {any} */ _, /** @type {number} */ __, /** @type {number} */ most) => [0, Math.max(10, most * 1.1)] } },
      axes: [{ ...axis, space: 90, size: 28, values: (/** @type {any} */ _, /** @type {number[]} */ v) => v.map((x) => new Date(x * 1000).toISOString().slice(11, 19)) }, { ...axis, size: 46 }, { ...axis, scale: "ms", side: 1, size: 64, grid: { show: false }, values: (/** @type {any} */ _, /** @type {number[]} */ v) => v.map((x) => (x ? durationText(x) : "0")) }],
      series: [{}, { label: "writes", stroke: color("--accent"), width: 2, points: { show: false } }, { label: "done", stroke: color("--good"), width: 2, dash: [6, 3], points: { show: false } },
        { label: "oldest", scale: "ms", stroke: color("--warn"), width: 2, dash: [2, 3], points: { show: false } }],
    }, [[], [], [], []], box.current);
    chart.current = make();
    const watch = new ResizeObserver(() => { if (box.current) chart.current?.setSize({ width: box.current.clientWidth, height: 150 }); });
    watch.observe(box.current);
    return () => { watch.disconnect(); chart.current?.destroy(); chart.current = null; };
  }, [shade]);
  useEffect(() => {
    chart.current?.setData([
      data.map((s) => Date.parse(s.at) / 1000), data.map((s) => s.records),
      data.map((s) => Object.values(s.consumers ?? {}).reduce((n, c) => n + /** @type {any} */ (c).done + /** @type {any} */ (c).already, 0)), data.map((s) => s.behind),
    ]);
  }, [data, shade]);
  const all = sum(data, 600);
  return html`<figure class="curves"><figcaption>The last ten minutes${now.value && now.value.offset !== "0s" ? " by the machine's clock" : ""}: <span class="key writes">records written a second</span>, <span class="key done">done by all consumers a second</span>, <span class="key behind">age of the oldest in flight</span></figcaption>
    <div ref=${box} role="img" aria-label=${`Ten minutes: ${rate(all.records)} records a second on average, ${data.length} seconds known`}></div></figure>`;
}

/** @param {{one: any, consumers: string[]}} p */
export function ChangeRow({ one, consumers }) {
  const to = one.traceId ? addressOf("change", { trace: one.traceId }) : addressOf("records", { sequence: one.sequence });
  return html`<a class="record" href=${to}><span class="at"><${Time} at=${one.at} short /></span><span class="user">${one.user}</span>
    <span class="type">${one.type}</span><span class="item" title=${one.item}>${shortID(one.item ?? "")}</span><span class="version">${one.version ? `v${one.version}` : ""}</span>
    <span class="what">${!one.title && html`<span class="narrow">${one.type} </span>`}${one.title || one.kind || "cannot be read"}${(one.title || one.status) && html`<small> ${one.status || one.kind}</small>`}</span>
    <span class="outcomes">${consumers.map((name) => html`<span key=${name} class="at-consumer"><span class="name">${name}</span><${Mark} verdict=${verdictOf(one.outcomes?.[name])} /></span>`)}</span></a>`;
}

export function Flow() {
  const [lag, setLag] = useState(/** @type {any} */ (null));
  useEffect(() => {
    const ask = () => { if (!paused.peek()) api.lag().then(setLag, () => {}); };
    ask();
    const timer = setInterval(ask, 2000);
    return () => clearInterval(timer);
  }, []);
  const { user, type, consumer, failures } = route.value.query;
  const consumers = known.value;
  const types = [...new Set(latest.value.map((one) => one.type))].filter(Boolean).sort();
  const shown = latest.value.filter((one) => (!user || one.user === user) && (!type || one.type === type) && (!consumer || one.outcomes?.[consumer])
    && (!failures || Object.values(one.outcomes ?? {}).some((o) => ["parked", "unfinished", "retried"].includes(verdictOf(o)))));
  return html`<${Drawing} lag=${lag} /><${Curves} />
    <section class="list" aria-labelledby="newest"><div class="bar"><h2 id="newest">Newest records</h2>
      <${Field} label="type" value=${type} options=${[{ value: "", label: "all" }, ...types]} onChange=${(/** @type {string} */ v) => refine({ type: v })} />
      <${Field} label="consumer" value=${consumer} options=${[{ value: "", label: "any" }, ...consumers]} onChange=${(/** @type {string} */ v) => refine({ consumer: v })} />
      <label class="check"><input type="checkbox" checked=${!!failures} onChange=${(/** @type {any} */ e) => refine({ failures: e.target.checked ? "1" : "" })} /> only failures</label>
      <p class="quiet">${paused.value ? "The picture stands still; everything is counted all the same." : left.value ? `${left.value.toLocaleString("en")} records came too fast to be shown: this list samples, the numbers above do not.` : "The newest 300 are kept here. Times are UTC; the local one shows on hover."}</p></div>
    ${shown.length ? html`<${Rows} label="Newest records" items=${shown} row=${(/** @type {any} */ one) => html`<${ChangeRow} one=${one} consumers=${consumers} />`} />`
      : html`<${Empty}>${latest.value.length ? "None of the newest records is like that." : html`Nothing has been written since the start. Try <code>curl -H 'Authorization: Bearer ann' -H 'Content-Type: application/json' -d '{"title":"Call back"}' ${location.origin}/v1/tasks</code>`}<//>`}
    </section>`;
}
