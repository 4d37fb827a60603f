// The contents: their filter, and what is current. The address of this system in the samples. Without it the page is complete.
"use strict";
document.getElementById("address").textContent = location.origin;
document.getElementById("contents").open = !matchMedia("(max-width: 52rem)").matches;

const filter = document.getElementById("filter"), nothing = document.getElementById("nothing");
const entries = [...document.querySelectorAll("nav li")].map((item) => ({ item, link: item.querySelector("a") }));

/** What the filter searches: of an operation or a guide its title, path, id and paragraphs. */
function wordsOf(entry) {
  const shown = document.querySelectorAll(`article[id="${entry.link.hash.slice(1)}"] > :is(h3, p)`);
  return entry.words ??= [entry.item, ...shown].map((part) => part.textContent).join(" ").toLowerCase();
}

filter.hidden = false;
filter.addEventListener("input", () => {
  const wanted = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const entry of entries) entry.item.hidden = !wanted.every((word) => wordsOf(entry).includes(word));
  for (const list of document.querySelectorAll("nav ul")) {
    list.hidden = list.previousElementSibling.hidden = [...list.children].every((item) => item.hidden);
  }
  nothing.textContent = entries.every((entry) => entry.item.hidden) ? "Nothing found" : "";
});

function mark() {
  for (const { link } of entries) {
    if (link.hash && link.hash === location.hash) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}
addEventListener("hashchange", mark);
mark();
