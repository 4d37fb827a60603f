// Tasks and notes on one page, in step with the user's other devices, with or without a network. The address has the API and
// the user: ?api=http://127.0.0.1:8080&user=ann. They are remembered, so the page opens again without them.
import { open } from "../src/client.js";
import { memory, register } from "./push.js";

/** @typedef {import("../src/outbox.js").Shown} Shown */
/** @template {HTMLElement} T @param {string} selector @param {new () => T} [type] @returns {T} */
const $ = (selector, type) => {
  const found = document.querySelector(selector);
  if (!(found instanceof (type ?? HTMLElement))) throw new Error(`there is no ${selector}`);
  return /** @type {T} */ (found);
};
/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Partial<HTMLElementTagNameMap[T]>} [properties] @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

const query = new URLSearchParams(location.search);
/** @param {string} name @param {string} standard */
const setting = (name, standard) => {
  const value = query.get(name) ?? localStorage.getItem(name) ?? standard;
  localStorage.setItem(name, value);
  return value;
};
const api = setting("api", "http://127.0.0.1:8080"), user = setting("user", "ann");
$("#user").textContent = user;
navigator.serviceWorker?.register("sw.js", { type: "module" });

// Locally the bearer token is the user's id. A deployed page takes it from its sign-in.
const client = await open({ api, issuer: api, user, token: () => user });

const states = {
  new: "Starting", syncing: "In step", synced: "In step", offline: "Offline", busy: "Trying again", unauthorized: "Sign in again",
  leaving: "Account is closed", error: "Something is wrong",
};
/** @param {import("../src/client.js").Status} status */
function showState({ state, isLive, waiting, message }) {
  const calm = state === "synced" || state === "syncing";
  const chip = $("#state");
  const edits = waiting ? ` · ${waiting} ${waiting === 1 ? "edit waits" : "edits wait"}` : "";
  chip.textContent = (calm && isLive ? "Live" : states[state]) + edits;
  chip.dataset.state = calm && isLive ? "live" : state;
  chip.title = message ?? "";
}

/**
 * textOf keeps a text field in step. While its user types, what arrives does not replace the text: the entity as it was shown at
 * first is what the edit is made on.
 * @param {HTMLInputElement | HTMLTextAreaElement} input @param {string} field
 */
function textOf(input, field) {
  /** @type {Shown | undefined} */
  let shown;
  /** @type {Shown | undefined} */
  let saw;
  input.addEventListener("focus", () => { saw = shown; });
  input.addEventListener("change", async () => {
    const on = saw ?? shown;
    if (!on || input.value === (on.item[field] ?? "") || (field === "title" && !input.value.trim())) return input.blur();
    saw = undefined;
    await client.edit(on.id, { [field]: input.value }, on);
  });
  input.addEventListener("blur", () => {
    saw = undefined;
    if (shown) input.value = shown.item[field] ?? "";
  });
  input.addEventListener("keydown", (event) => {
    if (/** @type {KeyboardEvent} */ (event).key === "Enter" && input instanceof HTMLInputElement) input.blur();
  });
  return (/** @type {Shown} */ next) => {
    shown = next;
    if (document.activeElement !== input || !saw) input.value = next.item[field] ?? "";
  };
}

/** @typedef {{node: HTMLLIElement, show(next: Shown): void, last?: Shown}} Line */
/** @type {Map<string, Line>} */
const lines = new Map();

/** @param {Shown} first @returns {Line} */
function line(first) {
  const isTask = first.type === "TASK";
  const title = element("input", { type: "text", ariaLabel: "Title", maxLength: 500 });
  const remove = element("button", { className: "remove", ariaLabel: "Delete", textContent: "×", type: "button" });
  const wait = element("span", { className: "wait", title: "Not sent yet" });
  const shows = [textOf(title, "title")];
  /** @type {Line} */
  const made = { node: element("li"), show: () => {} };
  remove.onclick = () => client.remove(first.id, made.last);
  if (isTask) {
    const box = element("input", { type: "checkbox", ariaLabel: "Done" });
    box.onchange = () => client.edit(first.id, { status: box.checked ? "COMPLETED" : "BACKLOG" }, made.last);
    shows.push(({ item }) => {
      box.checked = item.status === "COMPLETED";
      made.node.classList.toggle("done", box.checked);
    });
    made.node.append(box, title, wait, remove);
  } else {
    const body = element("textarea", { ariaLabel: "Text", placeholder: "Write…", rows: 2 });
    shows.push(textOf(body, "body"));
    made.node.append(element("div", { className: "row" }, title, wait, remove), body);
  }
  made.show = (next) => {
    made.last = next;
    made.node.dataset.id = next.id;
    made.node.classList.toggle("waiting", next.waiting);
    shows.forEach((show) => show(next));
  };
  return made;
}

/** @param {HTMLElement} list @param {Shown[]} all */
function showList(list, all) {
  all.forEach((one, i) => {
    const made = lines.get(one.id) ?? line(one);
    lines.set(one.id, made);
    made.show(one);
    if (list.children[i] !== made.node) list.insertBefore(made.node, list.children[i] ?? null);
  });
  for (const node of [...list.children].slice(all.length)) {
    lines.delete(/** @type {HTMLElement} */ (node).dataset.id ?? "");
    node.remove();
  }
}

const words = /** @type {Record<string, string>} */ ({ title: "the title", body: "the text", status: "whether it is done" });
const values = /** @type {Record<string, string>} */ ({ COMPLETED: "done", BACKLOG: "to do" });
/** @param {any} value */
const quoted = (value) => (value === undefined || value === null || value === "" ? "empty" : `“${values[value] ?? value}”`);

/** @param {import("../src/answers.js").Refused} refused */
function notice(refused) {
  const { n, id, of, kind, patch, current, problem } = refused;
  const isMerged = problem.status === 412, isGone = problem.status === 410, noun = of === "TASK" ? "task" : "note";
  const mine = Object.entries(patch).filter(([field]) => field in words);
  /** @param {string} field */
  const which = (field) => (field !== "title" && current?.title ? `${words[field]} of ${quoted(current.title)}` : words[field]);
  const text = kind === "delete" ? `You deleted ${quoted(current?.title)}. It was changed elsewhere, so it stays.`
    : isGone ? `A ${noun} that you edited was deleted elsewhere. ` +
      mine.map(([field, value]) => `You had changed ${words[field]} to ${quoted(value)}.`).join(" ")
    : isMerged ? mine.map(([field, value]) =>
      `You changed ${which(field)} to ${quoted(value)}. Elsewhere it became ${quoted(current?.[field])}.`).join(" ")
    : `Not carried out: ${problem.detail ?? problem.title ?? `status ${problem.status}`}`;
  /** @param {string} textContent @param {() => Promise<unknown>} [edit] */
  const button = (textContent, edit) => element("button", {
    textContent, type: "button", async onclick() {
      await edit?.();
      await client.dismiss(n);
    },
  });
  const buttons = kind === "delete" ? [button("Delete it", () => client.remove(id)), button("Keep it")]
    : isMerged ? [button("Use mine", () => client.edit(id, patch)), button("Keep theirs")]
    : isGone ? [button(`Make a new ${noun}`, () => client.create(of, { title: `Edited ${noun}`, ...patch })), button("Let it go")]
    : [button("All right")];
  return element("article", {}, element("p", {}, element("b", { textContent: isMerged || isGone ? "Conflict " : "Refused " }), text), ...buttons);
}

/** @param {(a: Shown) => string} key */
const by = (key) => (/** @type {Shown} */ a, /** @type {Shown} */ b) => (key(a) < key(b) ? -1 : 1);
let drawing = false, again = false;
async function show() {
  if (drawing) {
    again = true;
    return;
  }
  drawing = true;
  do {
    again = false;
    const [items, refused] = [await client.items(), await client.refused()];
    const tasks = items.filter(({ type, item }) => type === "TASK" && item.status !== "ARCHIVED")
      .sort(by(({ id, item }) => `${item.status === "COMPLETED" ? 1 : 0} ${item.createdAt ?? "9"} ${id}`));
    const notes = items.filter(({ type }) => type === "NOTE").sort(by(({ id, item }) => `${item.createdAt ?? "9"} ${id}`));
    showList($("#tasks"), tasks);
    showList($("#notes"), notes);
    const open = tasks.filter(({ item }) => item.status !== "COMPLETED").length;
    $("#open").textContent = open ? `${open} open` : "";
    $("#no-tasks").hidden = tasks.length > 0;
    $("#no-notes").hidden = notes.length > 0;
    $("#refused").replaceChildren(...refused.map(notice));
    $("#refused").hidden = !refused.length;
  } while (again);
  drawing = false;
}

for (const [form, type] of [["#new-task", "TASK"], ["#new-note", "NOTE"]]) {
  $(form).addEventListener("submit", async (event) => {
    event.preventDefault();
    const input = $(`${form} input`, HTMLInputElement), title = input.value.trim();
    input.value = "";
    if (!title) return;
    await client.create(type, { title });
  });
}
/** remind registers this browser for reminders: at first when its user asks for it, and then at each start. */
async function remind() {
  const registration = await navigator.serviceWorker.ready, id = setting("device", crypto.randomUUID());
  await register({ api, token: user, name: navigator.userAgent.slice(0, 100), id, kept: memory(caches), registration });
  $("#remind").hidden = true;
}
if ("PushManager" in window) {
  $("#remind").hidden = Notification.permission !== "default";
  $("#remind").onclick = async () => {
    if (await Notification.requestPermission() === "granted") await remind();
  };
  if (Notification.permission === "granted") remind().catch((reason) => console.warn(reason));
}
client.listen((status) => {
  showState(status);
  show();
});
await show();
client.start();
Object.assign(window, { nexus: client });
