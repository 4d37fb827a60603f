// The keyboard alone, what has the focus, and what a screen reader is told.
import assert from "node:assert/strict";

/** @param {import("./browser.js").Tools} tools */
export function keyboardTests({ test, system, open, alone, ring, brokenRecords }) {
  test("the keyboard alone reaches every pane and follows a change", async () => {
    const page = await open();
    await page.goto(`${system.url}/console/flow`);
    await page.locator(".record").first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type(String(ring));
    await page.keyboard.press("Enter");
    await page.locator(".waterfall").waitFor();
    for (const key of ["9", "5", "3"]) { await page.locator("body").press(key); await page.locator(`nav a[aria-current]`).waitFor(); }
    assert.match(page.url(), /console\/records/);
    await page.goto(`${system.url}/console/flow`);
    await page.locator(".record").first().waitFor();
    const reached = new Set();
    for (let i = 0; i < 80; i++) {
      await page.keyboard.press("Tab");
      reached.add(await page.evaluate(() => document.activeElement?.textContent?.trim().slice(0, 12) ?? ""));
      if (await page.evaluate(() => document.activeElement?.classList.contains("record"))) break;
    }
    assert.equal(await page.evaluate(() => document.activeElement?.classList.contains("record")), true, "the list is reached");
    await page.keyboard.press("Enter");
    await page.locator(".waterfall").waitFor();
    await page.context().close();
  });

  /** Goes on by Tab to what such a selector names, and finds that each stop on the way shows its focus. @param {import("playwright-core").Page} page @param {string} selector */
  const tabTo = async (page, selector) => {
    const most = 150;
    for (let i = 0; i < most; i++) {
      await page.keyboard.press("Tab");
      const { there, hidden } = await page.evaluate((wanted) => {
        const on = /** @type {HTMLElement} */ (document.activeElement), style = getComputedStyle(on);
        return { there: on.matches(wanted), hidden: on !== document.body && (style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 1) && on.outerHTML.slice(0, 120) };
      }, selector);
      assert.equal(hidden, false, "the focus shows");
      if (there) return;
    }
    assert.fail(`${selector} is not reached in ${most} stops`);
  };

  test("the keyboard alone parks no less than a pointer: a filter, a dry run, a redrive, a move of time, a recount, a fault", () => alone(async (own) => {
    const page = await open(), buttons = (/** @type {string} */ text) => page.getByRole("button", { name: text });
    const pressButton = async (/** @type {string} */ text) => {
      await buttons(text).first().waitFor();
      await buttons(text).first().evaluate((button) => button.setAttribute("data-wanted", ""));
      await tabTo(page, "[data-wanted]");
      await page.keyboard.press("Enter");
      await page.evaluate(() => document.querySelector("[data-wanted]")?.removeAttribute("data-wanted"));
    };
    await own.call("POST", "/dev/replay?consumer=stats,links", brokenRecords(3), "ann", { "Content-Type": "application/x-ndjson" });
    await own.call("POST", "/v1/reminders", { title: "Ring", triggerUtc: new Date(Date.now() + 3600e3).toISOString().slice(0, 19) + "Z", tzid: "UTC" });
    await own.settle();
    await page.goto(`${own.url}/console/parked`);
    await buttons("Dry run of 6").waitFor();
    await tabTo(page, ".filters input");
    await page.keyboard.type("stats");
    await page.keyboard.press("Tab");
    await pressButton("Dry run of 3");
    await page.getByText("3 would be parked. 3 in all.").waitFor();
    await pressButton("Redrive all 3 that match");
    await page.getByText("3 parked. 3 in all.", { exact: true }).waitFor();
    await page.locator("body").press("5");
    await pressButton("To the next: schedule");
    await page.getByText(/Time stopped/).waitFor();
    await page.locator("body").press("6");
    await pressButton("Recount and repair");
    await page.getByText(/0 remain/).waitFor();
    await page.locator("body").press("7");
    await page.locator(".story").first().waitFor();
    await tabTo(page, ".story input");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    await pressButton("Show it");
    await page.locator(".verdict.good").waitFor();
    await page.context().close();
  }, "--store", "memory"));

  test("a screen reader is told at most one line in five seconds", async () => {
    const page = await open();
    await page.clock.install();
    await page.goto(`${system.url}/console/flow`);
    const spoken = page.locator(".unseen[role=status]");
    await spoken.waitFor({ state: "attached" });
    await page.evaluate(() => {
      const told = /** @type {any} */ (globalThis).told = /** @type {number[]} */ ([]);
      new MutationObserver(() => told.push(Date.now())).observe(/** @type {Node} */ (document.querySelector(".unseen[role=status]")), { subtree: true, childList: true, characterData: true });
    });
    await page.waitForFunction(() => document.querySelectorAll("header .state").length >= 2);
    await page.clock.runFor(60_000);
    const told = /** @type {number[]} */ (await page.evaluate(() => /** @type {any} */ (globalThis).told));
    assert.match(await spoken.innerText(), /settled|records are in flight|parked/);
    assert.ok(told.length >= 1, "something is told");
    assert.ok(told.every((at, i) => !i || at - told[i - 1] >= 5000), String(told));
    await page.context().close();
  });
}
