// The filter of the contents, and the address of this system in the samples. Without it the page is complete.
"use strict";
document.getElementById("address").textContent = location.origin;
const filter = document.getElementById("filter");
filter.hidden = false;
filter.addEventListener("input", () => {
  const wanted = filter.value.trim().toLowerCase();
  for (const entry of document.querySelectorAll("nav li[data-words]")) {
    entry.hidden = !entry.dataset.words.toLowerCase().includes(wanted);
  }
});
