// Large numbers: many parked objects, and more records than the page holds.
import assert from "node:assert/strict";

/** @param {import("./browser.js").Tools} tools */
export function manyTests({ test, open, alone, brokenRecords }) {
  test("of many parked objects a dry run tells, and a redrive that is stopped goes on where it was", () => alone(async (own) => {
    const all = 10_000, page = await open(), verdict = page.locator("p.verdict");
    await own.call("POST", "/dev/replay?consumer=stats", brokenRecords(all), "ann", { "Content-Type": "application/x-ndjson" });
    await page.goto(`${own.url}/console/parked`);
    let began = performance.now();
    await page.getByRole("button", { name: `Dry run of ${all}` }).click();
    await page.getByText(`${all} would be parked. ${all} in all.`).waitFor({ timeout: 120_000 });
    console.log(`many: dry run of ${all} (${Math.round(performance.now() - began)} ms)`);
    assert.ok(await page.getByRole("group", { name: "Outcomes" }).locator("li").count() < 60, "what does not show is not made");
    began = performance.now();
    await page.getByRole("button", { name: `Redrive all ${all} that match` }).click();
    // In the page: from here the click may come when all is done. The bar moves every 300 ms, so a tenth of these would be done too soon.
    await page.waitForFunction(() => {
      const bar = document.querySelector("progress"), stop = [...document.querySelectorAll("button")].find((b) => b.textContent === "Stop");
      if (!bar || !stop || !(bar.value > 0 && bar.value < bar.max)) return false;
      stop.click();
      return true;
    });
    await page.getByText("It was stopped; the next one goes on.").waitFor();
    const done = Number(/^\d+/.exec(await verdict.innerText())?.[0]);
    assert.ok(done > 0 && done < all, `${done} were redriven before the stop`);
    assert.equal((await own.call("GET", "/dev/parked?groups=true")).json.items.reduce((/** @type {number} */ n, /** @type {any} */ g) => n + g.count, 0), all, "each is there once");
    await page.getByRole("button", { name: `Redrive all ${all} that match` }).click();
    await page.getByText(`${all} parked. ${all} in all.`).waitFor({ timeout: 240_000 });
    console.log(`many: ${done} redriven, stopped, then ${all} (${Math.round(performance.now() - began)} ms)`);
    await page.context().close();
  }, "--store", "memory"));
}
