// @ts-check
import { html, useState, useMemo, Mark, Time, Empty, Field, Trouble, Copy, Diff, useAsked, durationText, shortID, counted } from "../ui.js";
import { api, route, go, refine, addressOf, users } from "../state.js";

/**
 * The axis of a waterfall: what happened is drawn to scale, and long waits between are cut short.
 * @param {any[]} spans
 */
export function axisOf(spans) {
  const busy = /** @type {number[][]} */ ([]);
  for (const s of [...spans].sort((a, b) => Date.parse(a.start) - Date.parse(b.start))) {
    const from = Date.parse(s.start), to = from + Math.max(s.milliseconds, 0.2), last = busy[busy.length - 1];
    if (last && from <= last[1] + 50) last[1] = Math.max(last[1], to);
    else busy.push([from, to]);
  }
  const gaps = Math.max(0, busy.length - 1), cut = Math.min(8, 40 / Math.max(1, gaps)), work = busy.reduce((n, [a, b]) => n + b - a, 0) || 1;
  const parts = /** @type {{from: number, to: number, left: number, width: number, gap?: number}[]} */ ([]);
  let left = 0;
  busy.forEach(([from, to], i) => {
    if (i) { parts.push({ from: busy[i - 1][1], to: from, left, width: cut, gap: from - busy[i - 1][1] }); left += cut; }
    const width = ((to - from) / work) * (100 - gaps * cut);
    parts.push({ from, to, left, width });
    left += width;
  });
  return {
    gaps: parts.filter((p) => p.gap),
    /** @param {number} at */
    place(at) {
      const part = parts.find((p) => at <= p.to) ?? parts[parts.length - 1];
      return part ? part.left + (Math.max(0, at - part.from) / Math.max(part.to - part.from, 0.001)) * part.width : 0;
    },
  };
}

/** The spans as a tree, each after its parent. @param {any[]} spans */
export function treeOf(spans) {
  const ids = new Set(spans.map((s) => s.spanId)), out = /** @type {any[]} */ ([]);
  /** @param {string | undefined} parent @param {number} depth */
  const add = (parent, depth) => {
    for (const s of spans) {
      if (parent ? s.parentId === parent : !s.parentId || !ids.has(s.parentId)) {
        if (out.some((o) => o.spanId === s.spanId)) continue;
        out.push({ ...s, depth });
        add(s.spanId, depth + 1);
      }
    }
  };
  add(undefined, 0);
  return out;
}

/** Repetitions are folded if they are more than this. */
const mostRepetitions = 8;

function Waterfall({ spans: all, chosen, choose }) {
  const [unfolded, unfold] = useState(false), repetitions = all.filter((/** @type {any} */ s) => s.links).length, fold = !unfolded && repetitions > mostRepetitions;
  const spans = useMemo(() => (fold ? all.filter((/** @type {any} */ s) => !s.links || s.spanId === chosen) : all), [all, fold, chosen]);
  const rows = useMemo(() => treeOf(spans), [spans]), axis = useMemo(() => axisOf(spans), [spans]);
  return html`<ol class="waterfall" aria-label="Spans">${rows.map((s) => {
    const at = Date.parse(s.start), left = Math.min(99.5, axis.place(at)), width = Math.max(0.5, axis.place(at + s.milliseconds) - left);
    return html`<li key=${s.spanId}><button type="button" class="span" aria-pressed=${chosen === s.spanId} onClick=${() => choose(s.spanId)}>
      <span class="name" style=${{ paddingLeft: `${s.depth * 1.2}rem` }}><${Mark} verdict=${s.outcome === "done" && Number(s.attributes?.["nexus.attempts"]) > 1 ? "retried" : s.outcome} /> ${s.name}${s.links && html` <small>again</small>`}</span>
      <span class="track" aria-hidden="true">${axis.gaps.map((g) => html`<i class="gap" style=${{ left: `${g.left}%`, width: `${g.width}%` }}></i>`)}
        <i class=${`bar ${s.part} ${s.outcome}`} style=${{ left: `${left}%`, width: `${width}%` }}></i></span>
      <span class="took">${durationText(s.milliseconds)}</span></button></li>`;
  })}</ol>
  ${repetitions > mostRepetitions && html`<button type="button" class="plain" onClick=${() => unfold(!unfolded)}>${fold ? `and ${repetitions} repetitions` : "without repetitions"}</button>`}
  ${axis.gaps.length > 0 && html`<p class="quiet">The hatched parts are waits that are cut short: ${axis.gaps.map((g) => durationText(g.gap ?? 0)).join(", ")}. The clock of the system may have moved further.</p>`}`;
}

function Details({ one }) {
  if (!one) return html`<${Empty}>Choose a span.<//>`;
  const rows = [["part", one.part], ["outcome", one.outcome], ["took", durationText(one.milliseconds)], ["began", html`<${Time} at=${one.start} />`], ["by the system's clock", html`<${Time} at=${one.at} />`],
    ["span", html`<code>${one.spanId}</code>`], ...(one.links ? [["repeats", html`<code>${one.links.join(", ")}</code>`]] : []), ...Object.entries(one.attributes ?? {})];
  return html`<h2>${one.name}</h2><dl class="facts">${rows.map(([name, value]) => html`<dt key=${name}>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** Asks for a change by what names it. */
function Ask() {
  const [of, set] = useState({ user: route.value.query.user ?? "", item: "", version: "1", trace: "" });
  const [error, setError] = useState(/** @type {any} */ (null));
  const put = (/** @type {string} */ name) => (/** @type {string} */ v) => set((was) => ({ ...was, [name]: v }));
  const submit = async (/** @type {any} */ e) => {
    e.preventDefault();
    try {
      const trace = of.trace.trim() || (await api.traceOf(of.user, of.item.trim(), Number(of.version)));
      go("change", { trace });
    } catch (err) { setError(err); }
  };
  return html`<form class="ask" onSubmit=${submit}>
    <${Field} label="X-Trace-Id of an answer" value=${of.trace} placeholder="32 hexadecimal digits" onChange=${put("trace")} />
    <p class="quiet">or</p>
    <${Field} label="user" value=${of.user} list="users" onChange=${put("user")} />
    <${Field} label="item" value=${of.item} onChange=${put("item")} />
    <${Field} label="version" value=${of.version} inputmode="numeric" onChange=${put("version")} />
    <datalist id="users">${users.value.map((u) => html`<option key=${u} value=${u} />`)}</datalist>
    <button type="submit" class="main">Follow</button><${Trouble} error=${error} /></form>`;
}

/** A record, with what one can do with it. @param {{one: any, done: () => void}} p */
export function RecordCard({ one, done }) {
  const [consumer, setConsumer] = useState(""), [said, say] = useState(/** @type {any} */ (null)), [busy, setBusy] = useState(false);
  const text = JSON.stringify(one.record);
  const deliver = async () => {
    setBusy(true);
    try {
      const { consumers } = await api.deliver(text, consumer);
      say({ text: consumers.map((/** @type {any} */ c) => `${c.consumer}: ${c.parked ? "parked" : c.unfinished ? "not finished" : c.records ? "done" : "not for it"}`).join(" · ") });
      done();
    } catch (error) { say({ error }); }
    setBusy(false);
  };
  return html`<article class="card"><h2>${one.type} ${one.version ? `v${one.version}` : ""} <small>${one.kind}, sequence <code>${one.sequence}</code></small></h2>
    <ul class="verdicts">${Object.entries(one.outcomes).map(([name, o]) => html`<li key=${name}><${Mark} verdict=${verdict(o)} label=${name} />
      <small> ${/** @type {any} */ (o).deliveries > 1 ? `${/** @type {any} */ (o).deliveries} times` : ""} ${/** @type {any} */ (o).error ?? ""}</small></li>`)}</ul>
    ${one.record && html`<${Diff} record=${one.record} />
    <div class="actions"><${Field} label="to" value=${consumer} options=${[{ value: "", label: "all consumers" }, ...Object.keys(one.outcomes)]} onChange=${setConsumer} />
      <button type="button" onClick=${deliver} disabled=${busy}>Deliver this record again</button><${Copy} text=${text} label="Copy as a fixture" /></div>`}
    ${said?.text && html`<p role="status">${said.text}</p>`}<${Trouble} error=${said?.error} /></article>`;
}
const verdict = (/** @type {any} */ o) => (o.verdict === "done" && o.attempts > o.deliveries ? "retried" : o.verdict);

export function Change() {
  const { trace, span } = route.value.query;
  const asked = useAsked(async () => {
    if (!trace) return null;
    const [told, changes] = await Promise.all([api.trace(trace), api.changes({ trace, records: true, limit: 50 })]);
    const records = changes.items.reverse(), first = records.find((/** @type {any} */ r) => r.version);
    const newest = first && (await api.changes({ user: first.user, item: first.item, limit: 1 })).items[0];
    return { ...told, records, first, last: newest?.version ?? 0 };
  }, [trace], { every: trace ? 3000 : 0 });
  if (!trace) return html`<${Empty}>Every write has a trace id, which its answer names in <code>X-Trace-Id</code>. It is made of the user, the item and the version, so it can be made again at any time.<//><${Ask} />`;
  if (!asked.value) return html`<${Trouble} error=${asked.error} />${asked.error ? html`<${Ask} />` : html`<p class="quiet">Reading…</p>`}`;
  const { spans, records, truncated, first, last } = asked.value;
  const chosen = spans.find((/** @type {any} */ s) => s.spanId === span) ?? spans[0];
  const neighbour = async (/** @type {number} */ by) => go("change", { trace: await api.traceOf(first.user, first.item, first.version + by) });
  const end = Math.max(...spans.map((/** @type {any} */ s) => Date.parse(s.start) + s.milliseconds)) - Date.parse(spans[0].start);
  return html`<div class="summary">
      ${first && html`<h2>${first.title || first.type}</h2><p><a href=${addressOf("records", { user: first.user, item: first.item })}>${first.type} ${shortID(first.item)}</a> of <strong>${first.user}</strong>, version ${first.version}</p>`}
      <p><code>${trace}</code> · ${counted(spans.length, "span")} in ${durationText(end)}${truncated ? " · older ones have left" : ""}</p>
      ${first && html`<p class="actions">${first.version > 1 && html`<button type="button" onClick=${() => neighbour(-1)}>← version ${first.version - 1}</button>`}
        ${first.version < last && html`<button type="button" onClick=${() => neighbour(1)}>version ${first.version + 1} →</button>`}</p>`}</div>
    <div class="split"><section aria-label="Waterfall"><${Waterfall} spans=${spans} chosen=${chosen?.spanId} choose=${(/** @type {string} */ id) => refine({ span: id })} /></section>
      <section class="side" aria-label="Chosen span"><${Details} one=${chosen} /></section></div>
    <section aria-label="What the records say"><h2>What the records say</h2>${records.length ? records.map((/** @type {any} */ one) => html`<${RecordCard} key=${one.position} one=${one} done=${asked.reload} />`) : html`<${Empty}>The records have left the memory of this page.<//>`}</section>`;
}
