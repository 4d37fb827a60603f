// @ts-check
// The small parts that the panes share.
import { h, render, Fragment } from "./vendored/preact.js";
import * as hooks from "./vendored/hooks.js";
import * as signals from "./vendored/signals.js";
import htm from "./vendored/htm.js";

/** @type {(strings: TemplateStringsArray, ...values: any[]) => any} */
export const html = /** @type {any} */ (htm).bind(h);
export { h, render, Fragment };

// The vendored modules have no types of their own.
/** @template T @typedef {{value: T, peek(): T}} Signal */
export const { signal, computed, effect, batch } = /** @type {{signal: <T>(of: T) => Signal<T>, computed: <T>(make: () => T) => Signal<T>, effect: (does: () => void) => () => void, batch: (does: () => void) => void}} */ (/** @type {any} */ (signals));
export const useState = /** @type {<T>(first: T) => [T, (next: T | ((before: T) => T)) => void]} */ (/** @type {any} */ (hooks.useState));
export const useEffect = /** @type {(does: () => void | (() => void), on?: any[]) => void} */ (/** @type {any} */ (hooks.useEffect));
export const useRef = /** @type {<T>(first: T) => {current: T}} */ (/** @type {any} */ (hooks.useRef));
export const useMemo = /** @type {<T>(make: () => T, on: any[]) => T} */ (/** @type {any} */ (hooks.useMemo));
export const useCallback = /** @type {<T>(of: T, on: any[]) => T} */ (/** @type {any} */ (hooks.useCallback));

/** The marks of verdicts: never a colour alone. */
export const marks = {
  done: { mark: "✓", word: "done" },
  already: { mark: "·", word: "already done" },
  retried: { mark: "↻", word: "done after a retry" },
  parked: { mark: "●", word: "parked" },
  unfinished: { mark: "…", word: "not finished, delivered again" },
  failed: { mark: "✕", word: "failed" },
  none: { mark: "–", word: "not for it, or not yet there" },
};

/** @param {any} outcome */
export function verdictOf(outcome) {
  if (!outcome) return "none";
  if (outcome.verdict === "done" && outcome.attempts > outcome.deliveries) return "retried";
  return outcome.verdict;
}

/** @param {{verdict: string, label?: string}} p */
export function Mark({ verdict, label }) {
  const { mark, word } = marks[/** @type {keyof typeof marks} */ (verdict)] ?? marks.none;
  return html`<span class="mark ${verdict}" title=${word}><span aria-hidden="true">${mark}</span><span class="unseen">${word}</span>${label && html` ${label}`}</span>`;
}

/** @param {string | number | Date | undefined} at */
export function clockText(at) { return at ? new Date(at).toISOString().slice(11, 23) : ""; }
/** @param {string | number | Date | undefined} at */
export function instantText(at) { return at ? new Date(at).toISOString().replace("T", " ").slice(0, 19) + "Z" : ""; }

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** An instant in UTC, with the local time on hover. @param {{at?: string, short?: boolean}} p */
export function Time({ at, short }) {
  if (!at) return null;
  return html`<time datetime=${at} title=${`${instantText(at)}, here ${new Date(at).toLocaleString()} (${zone})`}>${short ? html`${clockText(at).slice(0, 8)}<span class="fine">${clockText(at).slice(8)}</span>` : instantText(at)}</time>`;
}

/** A number of things. @param {number} n @param {string} thing */
export const counted = (n, thing) => `${n.toLocaleString("en")} ${thing}${n === 1 ? "" : "s"}`;

/** @param {number} ms */
export function durationText(ms) {
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  const s = ms / 1000;
  if (s < 60) return `${s.toFixed(1)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

/** Milliseconds of a duration as Go writes it, such as 25h0m1.5s. @param {string} text */
export function parseOffset(text) {
  let ms = 0;
  for (const [, n, unit] of text.matchAll(/([\d.]+)(h|ms|m|s|µs)/g)) ms += Number(n) * { h: 3600e3, m: 60e3, s: 1e3, ms: 1, "µs": 1e-3 }[/** @type {"h"} */ (unit)];
  return ms;
}

/** The shortest part of an id that people tell apart. @param {string} id */
export function shortID(id) {
  const at = id.indexOf("_");
  return id.length > at + 9 && at > 0 ? id.slice(0, at + 9) + "…" : id;
}

/** @param {{children?: any, action?: any}} p */
export function Empty({ children, action }) { return html`<div class="empty"><p>${children}</p>${action}</div>`; }

/** @param {{error?: any}} p */
export function Trouble({ error }) { return error ? html`<p class="trouble" role="alert">${error.message ?? String(error)}</p>` : null; }

/** A text that can be copied. @param {{text: string, label: string}} p */
export function Copy({ text, label }) {
  const [done, setDone] = useState(false);
  const copy = async () => { await navigator.clipboard.writeText(text); setDone(true); };
  return html`<button type="button" onClick=${copy}>${done ? "copied" : label}</button>`;
}

/** A labelled input. What is being typed stays, whatever is drawn again before the change is made. @param {any} p */
export function Field({ label, value, onChange, onInput, options, list, ...rest }) {
  const [draft, setDraft] = useState(/** @type {string | null} */ (null));
  const type = (/** @type {any} */ e) => { setDraft(e.target.value); onInput?.(e); };
  const change = (/** @type {any} */ e) => { setDraft(null); onChange(e.target.value); };
  return html`<label class="field"><span>${label}</span>${options
    ? html`<select value=${value ?? ""} onChange=${change}>${options.map((/** @type {any} */ o) => html`<option value=${o.value ?? o}>${o.label ?? o}</option>`)}</select>`
    : html`<input value=${draft ?? value ?? ""} onInput=${type} onChange=${change} onBlur=${() => setDraft(null)} list=${list} autocomplete="off" spellcheck=${false} ...${rest} />`}</label>`;
}

const rowHeight = 44;

/**
 * A long list of which only what shows is made. Each row is a link or a button of the same height.
 * @param {{items: any[], row: (item: any, index: number) => any, label: string, onEnd?: () => void, height?: number}} p
 */
export function Rows({ items, row, label, onEnd, height = rowHeight }) {
  const box = useRef(/** @type {any} */ (null));
  const [view, setView] = useState({ top: 0, tall: 600 });
  useEffect(() => {
    const el = box.current;
    const look = () => {
      if (!box.current) return;
      setView({ top: el.scrollTop, tall: el.clientHeight });
      if (onEnd && el.scrollTop + el.clientHeight > el.scrollHeight - 400) onEnd();
    };
    look();
    el.addEventListener("scroll", look, { passive: true });
    const watch = new ResizeObserver(look);
    watch.observe(el);
    return () => { el.removeEventListener("scroll", look); watch.disconnect(); };
  }, [onEnd]);
  const from = Math.max(0, Math.floor(view.top / height) - 5), to = Math.min(items.length, from + Math.ceil(view.tall / height) + 10);
  return html`<div class="rows" ref=${box} tabindex="0" role="group" aria-label=${label}>
    <ul style=${{ paddingTop: `${from * height}px`, paddingBottom: `${(items.length - to) * height}px` }}>
      ${items.slice(from, to).map((item, i) => html`<li key=${item.key ?? from + i} aria-setsize=${items.length} aria-posinset=${from + i + 1}>${row(item, from + i)}</li>`)}
    </ul></div>`;
}

/** What of DynamoDB's form of a value it is. @param {any} v @returns {any} */
function plain(v) {
  if (v === undefined || v === null) return undefined;
  const [kind, of] = Object.entries(v)[0] ?? [];
  switch (kind) {
    case "S": return of;
    case "N": return Number(of);
    case "BOOL": return of;
    case "NULL": return null;
    case "M": return Object.fromEntries(Object.entries(/** @type {any} */ (of)).map(([k, x]) => [k, plain(x)]));
    case "L": return /** @type {any[]} */ (of).map(plain);
    case "SS": case "NS": return of;
    default: return String(of);
  }
}

/** @param {any} v */
const shown = (v) => (v === undefined ? "" : typeof v === "string" ? v : JSON.stringify(v));

/** The images of a record, attribute by attribute; what did not change is folded. @param {{record: any}} p */
export function Diff({ record }) {
  const [all, setAll] = useState(false);
  const before = record?.dynamodb?.OldImage ?? {}, after = record?.dynamodb?.NewImage ?? {};
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  const rows = names.map((name) => ({ name, was: shown(plain(before[name])), is: shown(plain(after[name])) }));
  const changed = rows.filter((r) => r.was !== r.is), kept = rows.length - changed.length;
  return html`<div class="diff"><table><thead><tr><th scope="col">attribute</th><th scope="col">before</th><th scope="col">after</th></tr></thead>
    <tbody>${(all ? rows : changed).map((r) => html`<tr key=${r.name} class=${r.was === r.is ? "" : "changed"}><th scope="row">${r.name}</th>
      <td data-label="before">${r.was === "" ? html`<span class="quiet">–</span>` : r.was === r.is ? r.was : html`<del>${r.was}</del>`}</td>
      <td data-label="after">${r.is === "" ? html`<span class="quiet">–</span>` : r.was === r.is ? r.is : html`<ins>${r.is}</ins>`}</td></tr>`)}</tbody></table>
    ${kept > 0 && html`<button type="button" class="plain" onClick=${() => setAll(!all)}>${all ? "only what changed" : `and ${kept} attributes that did not change`}</button>`}</div>`;
}

/**
 * Asks for something when what the answer is of changes, when `also` changes, and `every` so many milliseconds after an answer. The last
 * answer is kept until the next one, but not beside another question.
 * @param {() => Promise<any>} ask @param {any[]} of @param {{also?: any, every?: number}} when
 */
export function useAsked(ask, of, { also, every } = {}) {
  const question = JSON.stringify(of);
  const [state, setState] = useState(/** @type {{question: string, value?: any, error?: any, busy: boolean}} */ ({ question, busy: true }));
  const [again, setAgain] = useState(0), reload = useCallback(() => setAgain((n) => n + 1), []);
  useEffect(() => {
    let current = true, timer = 0;
    const answered = (/** @type {any} */ part) => {
      if (!current) return;
      setState((s) => ({ ...s, error: undefined, ...part, busy: false }));
      if (every) timer = setTimeout(reload, every);
    };
    setState((s) => (s.question === question ? { ...s, busy: true } : { question, busy: true }));
    ask().then((value) => answered({ value }), (error) => answered({ error }));
    return () => { current = false; clearTimeout(timer); };
  }, [question, also, again, every]);
  const known = state.question === question ? state : { value: undefined, error: undefined, busy: true };
  return { ...known, reload };
}
