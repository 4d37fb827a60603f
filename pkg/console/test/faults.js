// Faults on purpose and damage: what the console says of them, also where the code is wrong.
import assert from "node:assert/strict";
import path from "node:path";
import { engineOf } from "./parked.js";
import { planted } from "./planted.js";

/** @param {import("./browser.js").Tools} tools */
export function faultTests({ test, open, alone, short, pictures, started }) {
  test("each fault is shown with its proof", () => alone(async (own) => {
    const page = await open();
    await page.goto(`${own.url}/console/chaos?user=chaos`);
    for (const name of ["Kill a consumer", "Lose an answer", "Throttle", "Slow down", "Two workers", "Deliver ten times"]) {
      await page.locator(".story").filter({ has: page.getByText(name, { exact: true }) }).click();
      await page.getByRole("button", { name: "Show it" }).click();
      await page.getByText(/^. 20 writes, \d+ deliveries, 20 counted, 0 differences$/).waitFor();
      await page.locator(".verdict.good").waitFor();
      assert.deepEqual((await own.call("GET", "/dev/chaos")).json.items, [], "nothing stays armed");
    }
    await page.context().close();
  }));

  test("consumers are killed while it is written, everything comes ten more times, and nothing differs", () => alone(async (own) => {
    const writes = short ? 100 : 1000, kills = short ? 5 : 20, page = await open();
    await page.goto(`${own.url}/console/chaos?user=many`);
    await page.locator(".story", { hasText: "Kill, then deliver ten times" }).click();
    await page.locator(".field", { hasText: /^of/ }).locator("select").selectOption("each consumer in turn");
    await page.getByLabel("writes").fill(String(writes));
    await page.getByLabel("times", { exact: true }).fill(String(kills));
    const began = performance.now();
    await page.getByRole("button", { name: "Show it" }).click();
    await page.locator("p.verdict").waitFor({ timeout: 300_000 });
    const said = await page.locator("p.verdict").innerText(), hit = await page.getByText(/^The fault hit/).innerText();
    console.log(`chaos: ${said}. ${hit} (${Math.round(performance.now() - began)} ms)`);
    assert.match(said, new RegExp(`^✓ ${writes} writes, \\d+ deliveries, ${writes} counted, 0 differences$`));
    assert.match(hit, new RegExp(`^The fault hit ${kills} times. The digest is the same .* 0 differences, 0 remain.$`));
    const deliveries = Number(/(\d+) deliveries/.exec(said)?.[1]), consumers = (await own.call("GET", "/dev/capabilities")).json.consumers.length;
    assert.ok(deliveries >= 11 * writes * consumers, `${deliveries} deliveries to ${consumers} consumers`);
    const counted = page.locator("tr", { hasText: "tasks counted" }).locator("td");
    assert.deepEqual(await counted.allInnerTexts(), ["0", String(writes)]);
    assert.equal((await own.call("GET", "/v1/me/stats", undefined, "many")).json.totalTasks, writes);
    await page.getByText("not connected").waitFor({ state: "detached" });
    await page.screenshot({ path: path.join(pictures, "chaos-proof.png"), fullPage: true });
    await page.context().close();
  }, "--limit", "user=60000"));

  test("a mistake in the code is seen in the pane", async () => {
    const own = await started(await planted("ledger-not-asked"));
    try {
      const page = await open(), verdict = page.locator("p.verdict");
      await page.goto(`${own.url}/console/chaos?user=chaos`);
      await page.locator(".story").filter({ has: page.getByText("Deliver ten times", { exact: true }) }).click();
      await page.getByRole("button", { name: "Show it" }).click();
      await verdict.waitFor({ timeout: 60_000 });
      console.log(`chaos: with a planted mistake, ${await verdict.innerText()}`);
      assert.match(await verdict.innerText(), /^✕ 20 writes/);
      await page.locator(".verdict.bad").waitFor();
      await page.context().close();
    } finally { await own.stop(); }
  });

  test("armed faults are shown and disarmed", () => alone(async (own) => {
    const page = await open();
    await own.call("POST", "/dev/chaos", { fault: "kill", part: "stats", times: 3 });
    await page.goto(`${own.url}/console/chaos`);
    await page.getByText("Armed now: kill of stats (0 of 3)").waitFor();
    await page.getByRole("button", { name: "Disarm all" }).click();
    await page.getByText("Armed now").waitFor({ state: "detached" });
    assert.deepEqual((await own.call("GET", "/dev/chaos")).json.items, []);
    await page.context().close();
  }, "--store", "memory"));

  test("damaged rows of two users are found, and those of one are repaired", () => alone(async (own) => {
    const engine = await engineOf(own), page = await open(), users = ["ann", "ben"];
    for (const user of users) {
      const task = (await own.call("POST", "/v1/tasks", { title: "Linked" }, user)).json;
      await own.call("POST", "/v1/notes", { title: "Links", links: [{ targetType: "TASK", targetId: task.taskId }] }, user);
    }
    await own.settle();
    for (const user of users) {
      const { Items: rows } = await engine("Query", { KeyConditionExpression: "PK = :pk AND begins_with(SK, :sk)", ExpressionAttributeValues: { ":pk": { S: `USER#${user}` }, ":sk": { S: "LINK#" } } });
      assert.equal(rows.length, 1, "one link is derived");
      await engine("DeleteItem", { Key: { PK: rows[0].PK, SK: rows[0].SK } });
    }
    await page.goto(`${own.url}/console/verify`);
    await page.getByRole("button", { name: "Recount", exact: true }).click();
    const verdict = page.locator("p.verdict"), rows = page.getByRole("region", { name: "Differences" }).locator("tbody tr");
    await page.getByText(/2 differences found, 2 remain/).waitFor();
    assert.deepEqual((await rows.locator("td:nth-child(2)").allInnerTexts()).sort(), users);
    for (const text of await rows.locator("td:nth-child(4)").allInnerTexts()) assert.equal(text, "no row", "what is");
    await page.locator(".tile.bad", { hasText: "backlinks" }).getByRole("link", { name: /2 differ/ }).click();
    assert.match(page.url(), /kind=link/);
    await page.locator(".tile.bad").getByRole("link", { name: /2 shown/ }).click();
    await page.getByRole("button", { name: "Repair ann" }).click();
    await page.getByText(/1 difference found, 0 remain/).waitFor();
    await page.getByRole("button", { name: "Recount", exact: true }).click();
    await page.getByText(/1 difference found, 1 remain/).waitFor();
    assert.deepEqual(await rows.locator("td:nth-child(2)").allInnerTexts(), ["ben"], "the other user's is as it was");
    await page.getByRole("button", { name: "Recount and repair" }).click();
    await page.getByText(/1 difference found, 0 remain/).waitFor();
    await rows.getByText("repaired").waitFor();
    await page.getByRole("button", { name: "Recount", exact: true }).click();
    await page.getByText(/0 differences found, 0 remain/).waitFor();
    assert.match(await verdict.getAttribute("class") ?? "", /good/);
    await page.context().close();
  }, "--show-endpoint"));
}
