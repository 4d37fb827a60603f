// Large numbers: many parked objects, and more records than the page holds.
import assert from "node:assert/strict";

/** @param {import("./browser.js").Tools} tools */
export function manyTests({ test, open, alone, short, brokenRecords }) {
  test("of many parked objects a dry run tells, and a redrive that is stopped goes on where it was", () => alone(async (own) => {
    const all = short ? 1000 : 10_000, page = await open(), verdict = page.locator("p.verdict");
    await own.call("POST", "/dev/replay?consumer=stats", brokenRecords(all), "ann", { "Content-Type": "application/x-ndjson" });
    await page.goto(`${own.url}/console/parked`);
    let began = performance.now();
    await page.getByRole("button", { name: `Dry run of ${all}` }).click();
    await page.getByText(`${all} would be parked. ${all} in all.`).waitFor({ timeout: 120_000 });
    console.log(`many: dry run of ${all} (${Math.round(performance.now() - began)} ms)`);
    assert.ok(await page.getByRole("group", { name: "Outcomes" }).locator("li").count() < 60, "what does not show is not made");
    began = performance.now();
    await page.getByRole("button", { name: `Redrive all ${all} that match` }).click();
    await page.waitForFunction(() => { const bar = document.querySelector("progress"); return bar && bar.value > 0 && bar.value < bar.max; });
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("It was stopped; the next one goes on.").waitFor();
    const done = Number(/^\d+/.exec(await verdict.innerText())?.[0]);
    assert.ok(done > 0 && done < all, `${done} were redriven before the stop`);
    assert.equal((await own.call("GET", "/dev/parked?groups=true")).json.items.reduce((/** @type {number} */ n, /** @type {any} */ g) => n + g.count, 0), all, "each is there once");
    await page.getByRole("button", { name: `Redrive all ${all} that match` }).click();
    await page.getByText(`${all} parked. ${all} in all.`).waitFor({ timeout: 240_000 });
    console.log(`many: ${done} redriven, stopped, then ${all} (${Math.round(performance.now() - began)} ms)`);
    await page.context().close();
  }, "--store", "memory"));

  test("a list of many records is read to its end, and only what shows is made", () => alone(async (own) => {
    const all = short ? 2000 : 20_000, inOne = 100, page = await open();
    for (let n = 0; n < all; n += inOne) {
      const commands = Array.from({ length: inOne }, (_, i) => ({ id: crypto.randomUUID(), type: "CreateNote", data: { title: `Row ${n + i + 1}` } }));
      await own.call("POST", "/v1/commands", { commands }, `user${n % 1000}`);
    }
    await own.settle();
    await page.goto(`${own.url}/console/records?type=NOTE`);
    const list = page.getByRole("group", { name: "Records", exact: true });
    await list.locator("li").first().waitFor();
    for (let last = -1, shown = 0; shown < all && shown !== last;) {
      last = shown;
      await list.evaluate((box) => { box.scrollTop = box.scrollHeight; });
      await page.waitForFunction((n) => Number(document.querySelector("main .rows li")?.getAttribute("aria-setsize")) > n, last);
      shown = Number(await list.locator("li").first().getAttribute("aria-setsize"));
      assert.ok(await list.locator("li").count() < 60, "what does not show is not made");
    }
    await list.evaluate((box) => { box.scrollTop = box.scrollHeight; });
    await list.getByText("Row 1", { exact: true }).waitFor();
    await page.getByText(new RegExp(`^${all.toLocaleString("en")} records`)).waitFor();
    await page.context().close();
  }, "--store", "memory", "--limit", "user=600000"));
}
