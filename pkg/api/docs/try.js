// Makes requests from the page: a form at each operation, built when it is first opened. Without it the page is complete.
"use strict";

const user = document.getElementById("user");
user.value = sessionStorage.getItem("user") ?? user.value;
user.addEventListener("input", () => sessionStorage.setItem("user", user.value));
const etags = new Map(); // by path: what the next If-Match names
let consoleThere;

const make = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

/** The console, if this system has one. */
const hasConsole = () => (consoleThere ??= fetch("/console", { method: "HEAD" }).then((answer) => answer.ok, () => false));

/** A field for a value: a choice if there are few. */
function inputOf(values, properties, placeholder) {
  if (!values) return make("input", { ...properties, placeholder, autocomplete: "off", spellcheck: false });
  const choice = make("select", {}, ...["", ...values.split(" ")].map((value) => make("option", { value, textContent: value })));
  return Object.assign(choice, properties);
}

function fieldsOf(article) {
  return [...article.querySelectorAll("tr[data-name]")].map((row) => {
    const { name, value } = row.dataset, placed = row.dataset.in;
    const isHidden = placed === "header" && ["Authorization", "Content-Type"].includes(name);
    const known = value !== undefined && !/^[A-Z_]+$/.test(value) ? value : "";
    return { name, placed, isHidden, required: value !== undefined, input: inputOf(row.dataset.values, {
      value: placed === "header" && name === "If-Match" ? "" : known, required: placed === "path",
    }, value ?? "") };
  }).filter((field) => !field.isHidden);
}

function formOf(article) {
  const { method, path, media } = article.dataset, fields = fieldsOf(article), isRead = method === "GET";
  const example = article.querySelector(".example"), body = example && make("textarea", { value: example.textContent, rows: 8, spellcheck: false });
  const send = make("button", { type: "submit", textContent: "Send" }), answer = make("div", { className: "answer" });
  answer.setAttribute("aria-live", "polite");
  const form = make("form", { className: "try" },
    ...fields.map((f) => make("label", {}, make("span", { textContent: `${f.name}${f.required ? " (required)" : ""}` }), f.input)),
    ...(body ? [make("label", { className: "wide" }, make("span", { textContent: `body, ${media.split(",")[0]}` }), body)] : []),
    send, answer);

  const address = () => {
    const query = new URLSearchParams();
    let at = path;
    for (const f of fields) {
      if (f.placed === "path") at = at.replace(`{${f.name}}`, encodeURIComponent(f.input.value.trim()));
      if (f.placed === "query" && f.input.value !== "") query.set(f.name, f.input.value);
    }
    return at + (query.size ? `?${query}` : "");
  };
  const match = fields.find((f) => f.name === "If-Match");
  const source = make("small", {}); // says that the tag is not the reader's own
  match?.input.previousElementSibling.append(source);
  let isOwn = false;
  const offer = () => {
    if (!match || isOwn) return;
    match.input.value = etags.get(address()) ?? "";
    source.textContent = match.input.value && ", from an earlier answer";
  };
  form.addEventListener("input", (event) => {
    send.textContent = "Send";
    if (match && event.target === match.input) {
      isOwn = true;
      source.textContent = "";
    } else offer();
    answer.replaceChildren();
  });

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (send.ariaDisabled) return; // the second of two clicks in a row
    if (!isRead && send.textContent === "Send") { // what writes asks
      send.textContent = method === "DELETE" ? `Send it: ${article.querySelector("h3").textContent}` : "Send it: it writes";
      send.ariaDisabled = "true";
      setTimeout(() => { send.ariaDisabled = null; }, 500);
      return;
    }
    const headers = new Headers(), to = address();
    if (!("open" in article.dataset)) headers.set("Authorization", `Bearer ${user.value}`);
    for (const f of fields) if (f.placed === "header" && f.input.value) headers.set(f.name, f.input.value);
    if (body) headers.set("Content-Type", media.split(",")[0]);
    send.disabled = true;
    const began = performance.now();
    try {
      const got = await fetch(to, { method, headers, ...(body && { body: body.value }), redirect: "manual" });
      await show(answer, got, performance.now() - began, to);
    } catch (error) { answer.replaceChildren(make("p", { className: "failed", textContent: String(error) })); }
    send.disabled = false;
    send.textContent = "Send";
  });
  return form;
}

/** Shows an answer: its status, its headers, its body, and where its change can be followed. */
async function show(place, got, took, path) {
  const type = got.headers.get("Content-Type") ?? "", text = await got.text(), tag = got.headers.get("ETag"), trace = got.headers.get("X-Trace-Id");
  if (tag && got.ok) etags.set(got.headers.get("Location") ?? path, tag);
  let shown = text;
  if (/json/.test(type)) try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { /* as it came */ }
  const follow = trace && got.ok && await hasConsole() ? [make("p", {}, make("a", { href: `/console/change?trace=${trace}`, target: "_blank", rel: "noopener", textContent: "Follow this change" }))] : [];
  place.replaceChildren(
    make("p", { className: got.ok || got.status === 304 ? "good" : "failed", textContent: `${got.status} ${got.statusText}, ${Math.round(took)} ms` }), ...follow,
    make("details", {}, make("summary", { textContent: "headers" }), make("pre", { textContent: [...got.headers].map(([name, value]) => `${name}: ${value}`).join("\n"), tabIndex: 0 })),
    ...(shown ? [make("pre", { textContent: shown, tabIndex: 0 })] : []));
}

document.getElementById("as").hidden = false;
for (const article of document.querySelectorAll("article.operation")) {
  const open = make("button", { type: "button", className: "opens", textContent: "Try it" });
  open.setAttribute("aria-expanded", "false");
  article.querySelector(".route").append(" ", open);
  let form;
  open.addEventListener("click", () => {
    if (!form) article.querySelector(".route").after(form = formOf(article));
    else form.hidden = !form.hidden;
    open.setAttribute("aria-expanded", String(!form.hidden));
  });
}
