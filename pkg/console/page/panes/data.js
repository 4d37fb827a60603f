// @ts-check
import { html, Empty, Trouble, Field, useAsked, shortID, Time } from "../ui.js";
import { api, route, refine, addressOf, users } from "../state.js";

/** @param {any} one */
const idOf = (one) => one[`${one.entityType?.toLowerCase()}Id`] ?? one.eventId ?? one.taskId ?? one.noteId ?? one.reminderId ?? one.masterId ?? one.instanceId;

/** @param {{one: any, user: string}} p */
function Item({ one, user }) {
  const id = idOf(one);
  return html`<a class="thing" href=${addressOf("records", { user, item: id })}><strong>${one.title ?? one.entityType}</strong><small> ${one.entityType} ${one.status ?? ""} <code>${shortID(id ?? "")}</code></small></a>`;
}

const mostNodes = 300;

/** The values tree, each node below its parent, in order. @param {{tree: any}} p */
function Tree({ tree }) {
  const byID = new Map(tree.nodes.map((/** @type {any} */ n) => [n.nodeId, n])), below = new Map(), under = new Set();
  for (const edge of [...tree.edges].sort((a, b) => a.order - b.order)) {
    below.set(edge.parentNodeId, [...(below.get(edge.parentNodeId) ?? []), edge.childNodeId]);
    under.add(edge.childNodeId);
  }
  const rows = /** @type {{node: any, depth: number}[]} */ ([]);
  const add = (/** @type {string[]} */ ids, /** @type {number} */ depth) => {
    for (const id of ids) {
      if (rows.length >= mostNodes) return;
      rows.push({ node: byID.get(id) ?? { title: shortID(id) }, depth });
      add(below.get(id) ?? [], depth + 1);
    }
  };
  add([...byID.keys()].filter((id) => !under.has(id)), 0);
  return html`<ul class="plainlist">${rows.map(({ node, depth }, i) => html`<li key=${i} style=${{ paddingLeft: `${Math.min(depth, 8) * 1.2}rem` }}><strong>${node.title ?? shortID(node.nodeId)}</strong><small> ${node.nodeType ?? ""} ${node.deletedAt ? "deleted" : ""} ${node.completedAt ? "completed" : ""} ${node.archived ? "archived" : ""}</small></li>`)}</ul>
    ${tree.nodes.length > rows.length && html`<p class="quiet">${tree.nodes.length} nodes; the first ${rows.length} are shown.</p>`}`;
}

/** A plan of a day: its actions by their titles in the tree, and its blocks. @param {{plan: any, tree: any}} p */
function Plan({ plan, tree }) {
  const titleOf = (/** @type {string} */ id) => tree?.nodes.find((/** @type {any} */ n) => n.nodeId === id)?.title ?? shortID(id);
  return html`<ul class="plainlist">${plan.todos.map((/** @type {any} */ t) => html`<li key=${t.actionId}><strong>${titleOf(t.actionId)}</strong><small> ${t.classification} ${t.estimatedPomodoros ? `${t.estimatedPomodoros} pomodoros` : ""} ${t.completedAt ? "completed" : ""}</small></li>`)}
    ${plan.blocks.map((/** @type {any} */ b) => html`<li key=${b.blockId}><${Time} at=${b.startTimeIso} /> <strong>${b.actionId ? titleOf(b.actionId) : b.title ?? b.blockType}</strong><small> ${b.blockType}</small></li>`)}</ul>`;
}

export function Data() {
  const { user: chosen, day } = route.value.query, user = chosen || users.value[0] || "";
  const asked = useAsked(async () => (user ? api.dataOf(user, day) : null), [user, day]);
  if (!user) return html`<${Empty}>There is no user yet.<//>`;
  const v = asked.value;
  return html`<form class="filters" onSubmit=${(/** @type {any} */ e) => e.preventDefault()}><${Field} label="user" value=${user} options=${users.value.length ? users.value : [user]} onChange=${(/** @type {string} */ u) => refine({ user: u })} />
      <${Field} label="week of" type="date" value=${day ?? v?.day} onChange=${(/** @type {string} */ d) => refine({ day: d })} />
      <p class="quiet">Read with ${user}'s own token, through the public API.</p></form>
    <${Trouble} error=${asked.error} />
    ${v && html`<div class="columns">
      <section class="card"><h2>Agenda of the week</h2>${v.agenda.length ? html`<ul class="plainlist">${v.agenda.map((/** @type {any} */ one, /** @type {number} */ i) => html`<li key=${i}><${Time} at=${one.startUtc ?? one.occurrenceUtc ?? one.dueUtc ?? one.triggerUtc} /> <${Item} one=${one} user=${user} /></li>`)}</ul>` : html`<${Empty}>Nothing this week.<//>`}</section>
      <section class="card"><h2>Board</h2>${v.board.map((/** @type {any} */ lane) => html`<h3 key=${lane.status}>${lane.status} <small>${lane.items.length}</small></h3><ul class="plainlist">${lane.items.map((/** @type {any} */ t) => html`<li key=${t.taskId}><${Item} one=${t} user=${user} /></li>`)}</ul>`)}</section>
      <section class="card"><h2>Notes</h2>${v.notes.length ? html`<ul class="plainlist">${v.notes.map((/** @type {any} */ n) => html`<li key=${n.noteId}><${Item} one=${n} user=${user} />${n.backlinks?.length ? html`<small> linked from ${n.backlinks.length}</small>` : ""}</li>`)}</ul>` : html`<${Empty}>No notes.<//>`}</section>
      <section class="card"><h2>Values tree</h2>${v.tree ? html`<p class="quiet">revision <code>${v.tree.revId}</code></p><${Tree} tree=${v.tree} />` : html`<${Empty}>No tree.<//>`}</section>
      <section class="card"><h2>Plan of ${v.day}</h2>${v.plan ? html`<p class="quiet">revision <code>${v.plan.revId}</code></p><${Plan} plan=${v.plan} tree=${v.tree} />` : html`<${Empty}>No plan.<//>`}</section>
      <section class="card"><h2>Statistics and settings</h2><dl class="facts">${Object.entries({ ...v.stats, ...v.settings, ...v.settings.preferences }).filter(([, x]) => typeof x !== "object" || Array.isArray(x)).map(([k, x]) => html`<dt key=${k}>${k}</dt><dd>${String(x)}</dd>`)}</dl></section>
    </div>`}`;
}
