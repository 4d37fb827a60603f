// @ts-check
import { html, useState, Empty, Field, Trouble, useAsked } from "../ui.js";
import { api, route, addressOf, consumers } from "../state.js";

/** @typedef {{name: string, says: string, fault?: string, ports?: boolean, again?: boolean}} Story */
/** @type {Story[]} */
const stories = [
  { name: "Kill a consumer", fault: "kill", says: "The reader dies when the effects are there and nothing is acknowledged. The whole batch comes again." },
  { name: "Lose an answer", fault: "loseAnswer", ports: true, says: "A write takes effect, and its answer is lost: the consumer cannot know." },
  { name: "Throttle", fault: "throttle", ports: true, says: "The table refuses for load; nothing is written." },
  { name: "Slow down", fault: "delay", ports: true, says: "A call takes 2 seconds longer." },
  { name: "Two workers", fault: "twoWorkers", says: "Two workers carry out the same batch at the same time." },
  { name: "Deliver ten times", again: true, says: "Every record since the start comes ten more times to every consumer." },
  { name: "Kill, then deliver ten times", fault: "kill", again: true, says: "Both: the reader dies while tasks are written, and then every record comes ten more times." },
];

/** @param {any} lines what is derived, by kind */
async function digestOf(lines) {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(lines)));
  return [...new Uint8Array(bytes)].slice(0, 8).map((b) => b.toString(16).padStart(2, "0")).join("");
}

/** What counts for the proof: numbers, deliveries, and a digest of everything derived. @param {string} user */
async function lookAt(user) {
  const state = await api.derived(user, "");
  let deliveries = 0, records = 0, retried = 0, after = "";
  do {
    const page = await api.changes({ user, limit: 1000, after });
    for (const one of page.items) {
      records++;
      for (const o of Object.values(one.outcomes)) { deliveries += /** @type {any} */ (o).deliveries; retried += Math.max(0, /** @type {any} */ (o).attempts - /** @type {any} */ (o).deliveries); }
    }
    after = page.next;
  } while (after);
  const total = Number(/totalTasks=(\d+)/.exec((state.stats ?? []).join(" "))?.[1] ?? 0);
  return { records, deliveries, retried, counted: total, digest: await digestOf(state) };
}

export function Chaos() {
  const asked = useAsked(() => api.faults(), [], { every: 2000 });
  const [of, set] = useState({ story: 0, part: "stats", operation: "", times: "1", writes: "20", user: route.value.query.user || "chaos" });
  const [log, setLog] = useState(/** @type {string[]} */ ([])), [proof, setProof] = useState(/** @type {any} */ (null)), [error, setError] = useState(/** @type {any} */ (null)), [busy, setBusy] = useState(false);
  const story = stories[of.story], parts = (asked.value?.parts ?? []).filter((/** @type {string} */ p) => story.ports || !["api", "notify", "walk", "scheduler", "bus"].includes(p));
  const run = async () => {
    const said = /** @type {string[]} */ ([]), say = (/** @type {string} */ text) => { if (text.startsWith("Wrote") && said[said.length - 1].startsWith("Wrote")) said.pop(); said.push(text); setLog([...said]); };
    setBusy(true); setError(null); setProof(null);
    try {
      await api.settle();
      const before = await lookAt(of.user), writes = Number(of.writes), times = Number(of.times);
      say(`Settled. Before: ${before.counted} tasks counted, digest ${before.digest}.`);
      const mine = /** @type {Map<number, any>} */ (new Map());
      let armed = 0;
      const look = async () => { // a fault that is gone before its time has hit as often as it could
        const items = (await api.faults()).items;
        for (const f of mine.values()) f.fired = items.find((/** @type {any} */ one) => one.id === f.id)?.fired ?? (Date.now() < Date.parse(f.until) ? f.times : f.fired);
        return [...mine.values()].reduce((n, f) => n + f.fired, 0);
      };
      const made = await api.writeTasks(of.user, writes, async (written, portion) => {
        const until = story.fault ? Math.ceil((times * Math.min(written + portion, writes)) / writes) : 0;
        while (armed < until) {
          const one = await api.arm({ fault: story.fault, part: of.part || consumers.value[armed % consumers.value.length], times: of.part ? until - armed : 1, ...(of.operation && story.ports ? { operation: of.operation } : {}) });
          mine.set(one.id, one);
          armed += one.times;
        }
        say(`Wrote ${written} of ${writes} tasks.${story.fault ? ` The fault was armed ${armed} times, and hit ${await look()}.` : ""}`);
      });
      await api.settle();
      say("Settled.");
      const middle = await lookAt(of.user);
      if (story.again) {
        await api.redeliver("start", 10);
        await api.settle();
        say("Everything was delivered ten more times.");
      }
      const hits = await look();
      await api.disarm();
      const after = await lookAt(of.user);
      let summary = /** @type {any} */ (null);
      await api.verify({ user: of.user }, (l) => { if (l.summary) summary = l.summary; else if (l.error) throw new Error(l.error); });
      say("Recounted.");
      const same = story.again ? middle.digest === after.digest : null;
      setProof({ writes: made, before, middle, after, summary, hits: story.fault ? hits : null, same, good: after.counted - before.counted === made && summary.found === 0 && same !== false });
    } catch (e) { setError(e); await api.disarm().catch(() => {}); }
    setBusy(false);
  };
  const put = (/** @type {string} */ name) => (/** @type {any} */ v) => set((was) => ({ ...was, [name]: v }));
  return html`<div class="columns">
    <section class="card"><h2>The fault</h2><fieldset class="stories"><legend class="unseen">Which</legend>${stories.map((s, i) => html`<label key=${s.name} class="story"><input type="radio" name="story" checked=${of.story === i} onChange=${() => set({ ...of, story: i, part: s.ports && !of.part || s.fault && !s.ports && of.part && !parts.includes(of.part) ? "stats" : of.part })} /><span><strong>${s.name}</strong><br /><small>${s.says}</small></span></label>`)}</fieldset>
      <form class="actions" onSubmit=${(/** @type {any} */ e) => { e.preventDefault(); run(); }}>
        ${story.fault && html`<${Field} label="of" value=${of.part} options=${[...(story.ports ? [] : [{ value: "", label: "each consumer in turn" }]), ...(parts.length ? parts : [of.part])]} onChange=${put("part")} /><${Field} label="times" value=${of.times} inputmode="numeric" onChange=${put("times")} />`}
        ${story.ports && html`<${Field} label="operation" value=${of.operation} options=${[{ value: "", label: "any" }, ...(asked.value?.operations ?? [])]} onChange=${put("operation")} />`}
        <${Field} label="writes" value=${of.writes} inputmode="numeric" onChange=${put("writes")} /><${Field} label="as user" value=${of.user} onChange=${put("user")} />
        <button type="submit" class="main" disabled=${busy}>${busy ? "It runs…" : "Show it"}</button></form>
      ${asked.value?.items.length > 0 && html`<p class="quiet" role="status">Armed now: ${asked.value.items.map((/** @type {any} */ f) => `${f.fault} of ${f.part} (${f.fired} of ${f.times})`).join(", ")} <button type="button" class="plain" onClick=${async () => { await api.disarm(); asked.reload(); }}>Disarm all</button></p>`}
      <${Trouble} error=${error ?? asked.error} /></section>
    <section class="card" aria-live="polite"><h2>The proof</h2>
      ${log.length ? html`<ol class="plainlist">${log.map((l, i) => html`<li key=${i}>${l}</li>`)}</ol>` : html`<${Empty}>Each run settles the system, makes the fault happen while tasks are written, settles again, and recounts everything that is derived of the user.<//>`}
      ${proof && html`<p class=${`verdict ${proof.good ? "good" : "bad"}`}>${proof.good ? "✓" : "✕"} ${proof.writes} writes, ${proof.after.deliveries - proof.before.deliveries} deliveries, ${proof.after.counted - proof.before.counted} counted, ${proof.summary.found} differences</p>
        <table><thead><tr><th scope="col"></th><th scope="col" class="num">before</th><th scope="col" class="num">after</th></tr></thead><tbody>
        ${[["tasks counted", "counted"], ["records", "records"], ["deliveries to consumers", "deliveries"], ["attempts that failed", "retried"], ["digest of everything derived", "digest"]].map(([word, name]) => html`<tr key=${name}><th scope="row">${word}</th><td class="num" data-label="before">${proof.before[name]}</td><td class="num" data-label="after">${proof.after[name]}</td></tr>`)}</tbody></table>
        <p>${proof.hits === null ? "" : `The fault hit ${proof.hits} times. `}${proof.same === null ? "" : proof.same ? `The digest is the same as before the ten deliveries: ${proof.middle.digest}.` : "The digest has changed."} Recounted: ${proof.summary.items} items, ${proof.summary.found} differences, ${proof.summary.remaining} remain.</p>
        <p><a href=${addressOf("records", { user: of.user })}>The records of ${of.user}</a></p>`}</section></div>`;
}
