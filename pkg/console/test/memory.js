// Each pane on the store in memory: what it shows is held against the API's own answer, and what the other tests leave out is used.
import assert from "node:assert/strict";

/** @param {import("./browser.js").Tools} tools */
export function memoryTests({ test, open, alone, hostile, brokenRecords }) {
  const onMemory = (/** @type {string} */ name, /** @type {(own: any, page: import("playwright-core").Page, at: (pane: string) => Promise<void>) => Promise<void>} */ run) => test(`on the store in memory, ${name}`, () => alone(async (own) => {
    const page = await open();
    await run(own, page, async (pane) => { await page.goto(`${own.url}/console/${pane}`); });
    await page.context().close();
  }, "--store", "memory"));

  onMemory("flow has the consumers' counts, its filters, and the notice of a page that was away", async (own, page, at) => {
    await own.call("POST", "/v1/tasks", { title: "Counted" });
    await own.call("POST", "/dev/replay?consumer=stats", brokenRecords(7), "ann", { "Content-Type": "application/x-ndjson" });
    await own.settle();
    await at("flow");
    const { readers } = (await own.call("GET", "/dev/lag")).json;
    for (const { consumer, parked, retried } of readers.flatMap((/** @type {any} */ r) => r.consumers)) {
      const row = page.locator(".consumers a").filter({ has: page.getByText(consumer, { exact: true }) });
      await row.locator(".count[title^=parked]", { hasText: new RegExp(` ${parked}$`) }).waitFor();
      await row.locator(".count[title^=failed]", { hasText: new RegExp(` ${retried}$`) }).waitFor();
    }
    const all = (await own.call("GET", "/dev/changes?limit=100")).json.items;
    await page.locator(".record").nth(all.length - 1).waitFor();
    assert.equal(await page.locator(".record").count(), all.length);
    await page.getByLabel("only failures").check();
    await page.waitForFunction((n) => document.querySelectorAll(".record").length === n, all.filter((/** @type {any} */ one) => Object.values(one.outcomes).some((o) => o.verdict === "parked")).length);
    await page.getByLabel("only failures").uncheck();
    const theme = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor), before = await theme();
    await page.getByRole("button", { name: "Light or dark" }).click();
    assert.notEqual(await theme(), before);
    await page.reload();
    assert.notEqual(await theme(), before, "the choice is kept");
    await page.route(/\/dev\/stream/, (route) => route.fulfill({ contentType: "text/event-stream", body: "event: gap\ndata: {}\n\n" }));
    await page.reload();
    await page.getByText("The page was away").waitFor();
    await page.getByRole("button", { name: "Dismiss" }).click();
    await page.getByText("The page was away").waitFor({ state: "detached" });
  });

  onMemory("a change has the spans, the record and its repetitions, and no version after the last", async (own, page, at) => {
    const made = await own.call("POST", "/v1/tasks", { title: hostile }), task = made.json, first = made.headers.get("x-trace-id");
    const last = (await own.call("PATCH", `/v1/tasks/${task.taskId}`, { title: "Changed" }, "ann", { "If-Match": '"1"' })).headers.get("x-trace-id");
    await own.settle();
    await own.call("POST", "/dev/redeliver", { from: "start", times: 10 });
    await own.settle();
    await at(`change?trace=${first}`);
    const { spans } = (await own.call("GET", `/dev/traces/${first}`)).json, repeated = spans.filter((/** @type {any} */ s) => s.links).length, rows = page.locator(".waterfall li");
    await rows.nth(spans.length - repeated - 1).waitFor();
    assert.equal(await rows.count(), spans.length - repeated, "repetitions are folded");
    await page.getByRole("button", { name: `and ${repeated} repetitions` }).click();
    await rows.nth(spans.length - 1).waitFor();
    await page.getByRole("button", { name: "without repetitions" }).click();
    await rows.nth(spans.length - repeated).waitFor({ state: "detached" });
    await page.getByRole("heading", { name: hostile }).waitFor();
    await page.getByRole("button", { name: "version 2 →" }).click();
    await page.getByRole("heading", { name: "Changed" }).waitFor();
    await page.getByText(String(last)).waitFor();
    await page.getByRole("button", { name: "← version 1" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "version 3 →" }).count(), 0, "there is no later one");
    const image = (await own.call("GET", `/dev/changes?trace=${last}&records=true`)).json.items[0].record.dynamodb.NewImage, attributes = page.locator(".diff tbody th");
    const changed = await attributes.count();
    await page.getByRole("button", { name: /^and \d+ attributes that did not change/ }).click();
    assert.deepEqual(await attributes.allInnerTexts(), Object.keys(image).sort());
    await page.getByRole("button", { name: "only what changed" }).click();
    assert.equal(await attributes.count(), changed);
    await page.getByRole("button", { name: "Deliver this record again" }).click();
    await page.getByText(/^stats: done · /).or(page.getByText(/ · stats: done/)).waitFor();
  });

  onMemory("records are opened, copied and followed", async (own, page, at) => {
    const task = (await own.call("POST", "/v1/tasks", { title: hostile })).json;
    await own.call("POST", "/v1/notes", { title: "Other" });
    await own.settle();
    await at("records");
    const list = page.getByRole("region", { name: "Records", exact: true }), all = (await own.call("GET", "/dev/changes")).json.items;
    await list.getByText(`${all.length} records`).waitFor();
    await own.call("POST", "/v1/notes", { title: "One more" });
    await own.settle();
    const now = (await own.call("GET", "/dev/changes")).json.items;
    await page.getByRole("button", { name: "Look again" }).click();
    await list.getByText(`${now.length} records`).waitFor();
    await page.getByRole("button", { name: "Copy as a fixture" }).first().click();
    await page.getByRole("button", { name: "copied" }).waitFor();
    const records = (await own.call("GET", "/dev/changes?records=true")).json.items.reverse().map((/** @type {any} */ one) => one.record);
    assert.deepEqual((await page.evaluate(() => navigator.clipboard.readText())).split("\n").map((line) => JSON.parse(line)), records, "the oldest first");
    await page.getByRole("button", { name: `Show TASK ${task.taskId} version 1` }).click();
    await page.locator(".side").getByText(hostile).first().waitFor();
    await page.locator(".side").getByRole("link", { name: "All of this item" }).click();
    await page.waitForFunction((item) => location.search.includes(item), task.taskId);
    const derived = (await own.call("GET", `/dev/derived?user=ann&item=${task.taskId}`)).json.state;
    for (const lines of Object.values(derived)) for (const line of lines ?? []) await page.locator(".derived").getByText(line, { exact: true }).waitFor();
    await page.getByRole("button", { name: /^Show TASK/ }).click();
    await page.locator(".side").getByRole("link", { name: "Follow this change" }).click();
    await page.locator(".span", { hasText: "POST /v1/tasks" }).waitFor();
  });

  onMemory("one parked object is copied and found among the records", async (own, page, at) => {
    await own.call("POST", "/dev/replay?consumer=stats,links", brokenRecords(3), "ann", { "Content-Type": "application/x-ndjson" });
    await at("parked");
    const groups = (await own.call("GET", "/dev/parked?groups=true")).json.items, rows = page.getByRole("region", { name: "By consumer and reason" }).locator("tbody tr");
    await rows.nth(groups.length - 1).waitFor();
    assert.deepEqual((await rows.locator("td:nth-child(3)").allInnerTexts()).sort(), groups.map((/** @type {any} */ g) => g.reason).sort());
    const [one] = (await own.call("GET", "/dev/parked")).json.items, shown = page.locator("details.card").first();
    await shown.getByRole("button", { name: "Copy as a fixture" }).click();
    assert.deepEqual(JSON.parse(await page.evaluate(() => navigator.clipboard.readText())), one.body.record);
    await page.getByText("consumer", { exact: true }).first().waitFor();
    await page.getByRole("button", { name: "All", exact: true }).click();
    await shown.getByRole("link", { name: "The record elsewhere" }).click();
    await page.waitForURL(new RegExp(`sequence=${one.body.record.dynamodb.SequenceNumber}`));
  });

  onMemory("what is due, data, cost and a recount are what the API says, and a recount is stopped", async (own, page, at) => {
    for (const [i, title] of [hostile, "Second"].entries()) await own.call("POST", "/v1/reminders", { title, triggerUtc: new Date(Date.now() + (i + 1) * 3600e3).toISOString().slice(0, 19) + "Z", tzid: "UTC" });
    await own.call("POST", "/v1/tasks", { title: hostile });
    await own.settle();
    await at("clock");
    const due = (await own.call("GET", "/dev/due?limit=300")).json.items;
    await page.locator(".due").nth(due.length - 1).waitFor();
    assert.deepEqual(await page.locator(".due time").evaluateAll((times) => times.map((time) => Date.parse(time.getAttribute("datetime") ?? ""))), due.map((/** @type {any} */ d) => Date.parse(d.at)));
    const told = page.waitForResponse(/\/v1\/me\/stats$/); // the page's own answer: another one has a later asOf
    await at("data?user=ann");
    await page.locator(".thing", { hasText: hostile }).first().waitFor();
    const stats = await (await told).json();
    for (const [name, value] of Object.entries(stats)) if (typeof value !== "object") assert.equal(await page.locator(".facts dt", { hasText: new RegExp(`^${name}$`) }).locator("+ dd").innerText(), String(value), name);
    await at("cost");
    const lines = (await own.call("GET", "/dev/cost")).json.lines;
    await page.locator("tbody tr").nth(lines.length - 1).waitFor();
    const cells = await page.locator("tbody tr").evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll("td")].slice(0, 2).map((cell) => cell.textContent).join(" ")));
    for (const { part, operation } of lines) assert.ok(cells.includes(`${part} ${operation}`), `${part} ${operation}`);
    await at("verify");
    await page.route(/\/dev\/verify/, (route) => setTimeout(() => route.abort().catch(() => {}), 5000));
    await page.getByRole("button", { name: "Recount", exact: true }).click();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("It was stopped.").waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.getByRole("button", { name: "Recount", exact: true }).click();
    const users = (await own.call("GET", "/dev/users")).json.items.length;
    await page.getByText(new RegExp(`^${users} users?, .* 0 differences found, 0 remain`)).waitFor();
  });
}
