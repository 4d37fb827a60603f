// @ts-check
// The page around the panes: what each of them shows at its head, and where one goes from there.
import { html, render, useState, useEffect, useRef, Time, Trouble, durationText, parseOffset, counted } from "./ui.js";
import { route, addressOf, follow, refine, capabilities, users, connected, paused, notice, now, theme, find, start, loadUsers, user } from "./state.js";
import { Flow } from "./panes/flow.js";
import { Change } from "./panes/change.js";
import { Records } from "./panes/records.js";
import { Parked } from "./panes/parked.js";
import { Clock } from "./panes/clock.js";
import { Verify } from "./panes/verify.js";
import { Chaos } from "./panes/chaos.js";
import { Data } from "./panes/data.js";
import { Cost } from "./panes/cost.js";

/** Each pane with the capability that it needs, the word of the documents, and where they explain it. */
const panes = [
  { name: "flow", title: "Flow", needs: "flow", pane: Flow, says: "What is written, and what each consumer makes of it, as it happens." },
  { name: "change", title: "Change", needs: "trace", pane: Change, says: "One write followed, from the request to its last effect." },
  { name: "records", title: "Records", needs: "changes", pane: Records, says: "The records of the stream, with their outcome at each consumer." },
  { name: "parked", title: "Parked", needs: "parked", pane: Parked, says: "What consumers could not process: why, of whom, and what a delivery would do now." },
  { name: "clock", title: "Clock", needs: "clock", pane: Clock, says: "What waits for its time. Time moves forward only, and what falls due on the way happens in its order." },
  { name: "verify", title: "Verify", needs: "verify", pane: Verify, says: "Everything derived is recounted from the items, and what differs is named and repaired." },
  { name: "chaos", title: "Chaos", needs: "chaos", pane: Chaos, says: "A fault on purpose, and beside it the proof that what is derived is right all the same." },
  { name: "data", title: "Data", needs: "data", pane: Data, says: "What a user has, as the public API shows it." },
  { name: "cost", title: "Cost", needs: "cost", pane: Cost, says: "What was used of the table, the scheduler and the bus, priced as in a deployment." },
];

function Search() {
  const box = useRef(/** @type {any} */ (null));
  useEffect(() => {
    const key = (/** @type {KeyboardEvent} */ e) => {
      const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(/** @type {HTMLElement} */ (e.target).tagName);
      if ((e.key === "k" && (e.metaKey || e.ctrlKey)) || (e.key === "/" && !typing)) { e.preventDefault(); box.current.focus(); }
      if (e.key === "p" && !typing && !e.metaKey && !e.ctrlKey) paused.value = !paused.value;
      if (/^[1-9]$/.test(e.key) && !typing && !e.metaKey && !e.ctrlKey && !e.altKey) {
        const one = panes[Number(e.key) - 1];
        if (one) /** @type {HTMLElement | null} */ (document.querySelector(`nav a[data-pane=${one.name}]`))?.click();
      }
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, []);
  return html`<form class="search" role="search" onSubmit=${(/** @type {any} */ e) => { e.preventDefault(); find(box.current.value); box.current.value = ""; document.getElementById("main")?.focus(); }}>
    <input ref=${box} type="search" aria-label="Search: a user, an item, a trace id or a sequence number" placeholder="user, item, trace, sequence  ( / )" autocomplete="off" spellcheck=${false} /></form>`;
}

function Header() {
  const second = now.value;
  const moved = second && second.offset !== "0s";
  return html`<header>
    <a class="brand" href="/console/flow"><img src="/console/files/icon.svg" alt="" width="20" height="20" /> nexus</a>
    <label class="who"><span class="unseen">User</span><select value=${user.value} onFocus=${loadUsers} onChange=${(/** @type {any} */ e) => refine({ user: e.target.value })}>
      <option value="">all users</option>${[...new Set([...users.value, ...(user.value ? [user.value] : [])])].map((u) => html`<option key=${u} value=${u}>${u}</option>`)}</select></label>
    ${second && html`<a class="now" href=${addressOf("clock")}><${Time} at=${second.now} />${moved && html` <span class="moved">moved ${durationText(parseOffset(second.offset))}</span>`}</a>
      <span class=${second.settled ? "state good" : "state busy"}>${second.settled ? "● settled" : `◌ ${second.inFlight} in flight`}</span>
      <a class=${second.parked ? "state bad" : "state"} href=${addressOf("parked")}>● ${second.parked} parked</a>`}
    ${!connected.value && html`<span class="state bad" role="status">✕ not connected; it tries again</span>`}
    <${Search} />
    <button type="button" class="icon" aria-pressed=${paused.value} title="Stop the picture; everything is counted all the same (p)" onClick=${() => { paused.value = !paused.value; }}>${paused.value ? "▸ go on" : "‖ pause"}</button>
    <button type="button" class="icon" title="Light or dark" aria-label="Light or dark" onClick=${() => {
      const dark = theme.value ? theme.value === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      theme.value = dark ? "light" : "dark";
    }}>◐</button>
  </header>`;
}

function Nav() {
  const at = route.value.pane, bar = useRef(/** @type {any} */ (null));
  useEffect(() => { bar.current.scrollLeft = (bar.current.querySelector("[aria-current]")?.offsetLeft ?? 0) - bar.current.clientWidth / 2; }, [at]); // on a phone
  return html`<nav aria-label="Panes" ref=${bar}>${panes.map((one) => html`<a key=${one.name} data-pane=${one.name} href=${addressOf(one.name)} aria-current=${one.name === at ? "page" : undefined}>
    ${one.title}${one.name === "parked" && now.value?.parked ? html` <span class="count">${now.value.parked}</span>` : ""}</a>`)}
    <a class="out" href="/docs">API docs</a></nav>`;
}

function Missing({ title, can }) {
  return html`<div class="empty"><h2>${title} is not there</h2><p>${can?.reason ?? "This system has no such capability."}</p>
    ${can?.command && html`<p>Instead: <code>${can.command}</code></p>`}</div>`;
}

function App() {
  const [error, setError] = useState(/** @type {any} */ (null));
  const main = useRef(/** @type {any} */ (null));
  useEffect(() => { start().catch(setError); }, []);
  const one = panes.find((p) => p.name === route.value.pane);
  useEffect(() => { document.title = `${one?.title ?? "Console"} · nexus`; }, [one]);
  const can = capabilities.value;
  return html`<div class="page" onClick=${follow}>
    <a class="skip" href="#main">To the pane</a>
    <${Header} /><${Nav} />
    <main id="main" tabindex="-1" ref=${main}>
      ${notice.value && html`<p class="notice" role="status">${notice.value} <button type="button" class="plain" onClick=${() => { notice.value = ""; }}>Dismiss</button></p>`}
      <${Trouble} error=${error} />
      ${one && html`<div class="title"><h1>${one.title}</h1><p>${one.says}</p></div>`}
      ${!one ? html`<h1>No such pane</h1><div class="empty"><p>The address names none.</p><a href="/console/flow">To Flow</a></div>`
        : !can ? !error && html`<p class="quiet">Asking the system what it can do…</p>`
        : can.get(one.needs)?.available ? html`<${one.pane} key=${one.name} />` : html`<${Missing} title=${one.title} can=${can.get(one.needs)} />`}
    </main>
    <div class="unseen" role="status" aria-live="polite"><${Spoken} /></div>
  </div>`;
}

/** What a screen reader is told: at most one line in five seconds, and only when it differs. */
function Spoken() {
  const [said, say] = useState("");
  useEffect(() => {
    const timer = setInterval(() => {
      const s = now.peek();
      if (s) say(s.parked ? `${counted(s.parked, "object")} parked` : s.settled ? "settled" : "records are in flight");
    }, 5000);
    return () => clearInterval(timer);
  }, []);
  return said;
}

render(html`<${App} />`, document.body);
