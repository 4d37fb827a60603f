// The filter of the contents. Without it the page is complete.
"use strict";
const filter = document.getElementById("filter");
filter.hidden = false;
filter.addEventListener("input", () => {
  const wanted = filter.value.trim().toLowerCase();
  for (const entry of document.querySelectorAll("nav li[data-words]")) {
    entry.hidden = !entry.dataset.words.toLowerCase().includes(wanted);
  }
});
