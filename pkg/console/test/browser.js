// Uses the console as a person would. The arguments are the programs, nexus and the browser, and a folder for pictures.
import assert from "node:assert/strict";
import path from "node:path";
import { started, browsing, accessible } from "./system.js";

const [nexus, chromium, pictures] = process.argv.slice(2);
const system = await started(nexus);
const { browser, open, problems } = await browsing(chromium);
const tests = /** @type {[string, () => Promise<void>][]} */ ([]);
const test = (/** @type {string} */ name, /** @type {() => Promise<void>} */ run) => tests.push([name, run]);

const hostile = '<img src=x onerror="alert(1)">';
const task = (await system.call("POST", "/v1/tasks", { title: "Call the dentist", dueUtc: "2031-03-02T09:00:00Z", dueTzid: "Europe/Paris", reminderMinutes: [30] })).json;
await system.call("POST", "/v1/notes", { title: hostile, body: "b" });
const note = (await system.call("POST", "/v1/notes", { title: "Invoices", body: "March", links: [{ targetType: "TASK", targetId: task.taskId }] })).json;
await system.call("PATCH", `/v1/tasks/${task.taskId}`, { title: "Call the dentist again" }, "ann", { "If-Match": '"1"' });
await system.call("POST", "/v1/tasks", { title: "Water the plants" }, "ben");
await system.settle();
const ring = (await system.call("POST", "/v1/reminders", { title: "Ring", triggerUtc: new Date(Date.now() + 3600e3).toISOString().slice(0, 19) + "Z", tzid: "UTC" })).headers.get("x-trace-id");
await system.call("POST", "/dev/clock", { advance: "2h" });

// Records that cannot be processed, of three kinds, as a redrive of another release may bring them.
const parked = 30;
const broken = (/** @type {number} */ i) => JSON.stringify({
  eventID: `e${i}`, eventName: i % 3 === 0 ? "MODIFY" : "INSERT", eventVersion: "1.1", eventSource: "aws:dynamodb", awsRegion: "local",
  dynamodb: {
    SequenceNumber: String(900000 + i), SizeBytes: 1, StreamViewType: "NEW_AND_OLD_IMAGES", ApproximateCreationDateTime: 1700000000,
    Keys: { PK: { S: "USER#ann" }, SK: { S: `TASK#task_bad${i}` } },
    NewImage: { PK: { S: "USER#ann" }, SK: { S: `TASK#task_bad${i}` }, entityType: { S: i % 3 === 1 ? "NOTE" : "TASK" }, ...(i % 3 === 2 ? {} : { version: { N: "1" } }) },
  },
});
await system.call("POST", "/dev/replay?consumer=stats,links", Array.from({ length: parked }, (_, i) => broken(i)).join("\n"), "ann", { "Content-Type": "application/x-ndjson" });

/** @type {[string, string][]} */
const panes = [["flow", ""], ["change", `?trace=${ring}`], ["change", ""], ["records", "?user=ann"], ["records", `?item=${task.taskId}`],
  ["parked", ""], ["clock", ""], ["verify", ""], ["chaos", ""], ["data", "?user=ann"], ["cost", ""], ["nothing", ""]];

test("flow shows what has come, a title as a text, and a write as it happens", async () => {
  const page = await open();
  await page.goto(`${system.url}/console/flow?type=NOTE`);
  await page.getByText(hostile).waitFor();
  await page.goto(`${system.url}/console`);
  const { readers } = (await system.call("GET", "/dev/lag")).json;
  for (const { consumer } of readers.flatMap((/** @type {any} */ r) => r.consumers)) await page.locator(".consumers").getByText(consumer, { exact: true }).waitFor();
  await system.call("POST", "/v1/tasks", { title: "Live" });
  await page.locator(".record", { hasText: "Live" }).waitFor();
  await page.getByRole("button", { name: "pause" }).click();
  await system.call("POST", "/v1/tasks", { title: "Unseen" });
  await system.settle();
  assert.equal(await page.locator(".record", { hasText: "Unseen" }).count(), 0, "the picture stands still");
  await page.getByRole("button", { name: "go on" }).click();
  await page.locator(".record", { hasText: "Unseen" }).waitFor();
  await page.getByLabel("type").selectOption("NOTE");
  await page.locator(".record", { hasText: "Unseen" }).waitFor({ state: "detached" });
  assert.match(page.url(), /type=NOTE/);
  await page.context().close();
});

test("a change is one tree from the request to the event, and its record can be delivered again", async () => {
  const page = await open();
  await page.goto(`${system.url}/console/change?trace=${ring}`);
  const told = (await system.call("GET", `/dev/traces/${ring}`)).json;
  await page.locator(".waterfall li").nth(told.spans.length - 1).waitFor();
  for (const name of ["POST /v1/reminders", "put schedule", "notify", "publish ReminderDue"]) await page.locator(".span", { hasText: name }).first().waitFor();
  await page.locator(".span", { hasText: "notify" }).first().click();
  await page.locator(".side").getByText("faas.trigger").waitFor();
  await page.locator(".card select").first().selectOption("stats");
  await page.getByRole("button", { name: "Deliver this record again" }).first().click();
  await page.getByText("stats: done").waitFor();
  await page.locator(".span", { hasText: "stats again" }).waitFor();
  await page.getByRole("button", { name: "Copy as a fixture" }).first().click();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /"eventName":"INSERT"/);
  await page.context().close();
});

test("a change is found by user, item and version, and leads to its neighbours", async () => {
  const page = await open();
  await page.goto(`${system.url}/console/change`);
  const form = page.locator("form.ask");
  await form.getByLabel("user", { exact: true }).fill("ann");
  await form.getByLabel("item").fill(task.taskId);
  await form.getByLabel("version").fill("2");
  await form.getByRole("button", { name: "Follow" }).click();
  await page.locator("ins", { hasText: "Call the dentist again" }).waitFor();
  await page.getByRole("button", { name: "← version 1" }).click();
  await page.locator(".span", { hasText: "POST /v1/tasks" }).waitFor();
  await page.goBack();
  await page.locator("ins", { hasText: "Call the dentist again" }).waitFor();
  await page.context().close();
});

test("records are filtered, opened, and what is derived of an item is shown", async () => {
  const page = await open();
  await page.goto(`${system.url}/console/records`);
  await page.getByLabel("Search: a user, an item, a trace id or a sequence number").fill(note.noteId);
  await page.keyboard.press("Enter");
  await page.locator(".derived").getByText(task.taskId).first().waitFor();
  const shown = await page.locator(".rows .record").count();
  assert.equal(shown, (await system.call("GET", `/dev/changes?item=${note.noteId}`)).json.items.length);
  await page.getByLabel("outcome").selectOption("parked");
  await page.getByText("No record since the start is like that.").waitFor();
  await page.context().close();
});

test("what is parked is grouped, tried, redriven with each outcome, and discarded by its count", async () => {
  const page = await open();
  await page.goto(`${system.url}/console/parked`);
  const groups = (await system.call("GET", "/dev/parked?groups=true")).json.items, all = groups.reduce((/** @type {number} */ n, /** @type {any} */ g) => n + g.count, 0);
  assert.equal(all, 2 * parked);
  assert.ok(groups.length >= 6, "three kinds at two consumers");
  await page.locator("tbody tr").nth(groups.length - 1).waitFor();
  await page.getByLabel("consumer", { exact: true }).fill("links");
  await page.keyboard.press("Tab");
  await page.getByRole("button", { name: `Dry run of ${parked}` }).click();
  await page.getByText(`${parked} would be parked. ${parked} in all.`).waitFor();
  await page.getByRole("button", { name: `Redrive all ${parked} that match` }).click();
  await page.getByText(`${parked} parked. ${parked} in all.`).waitFor();
  assert.equal((await system.call("GET", "/dev/parked?consumer=links&groups=true")).json.items.reduce((/** @type {number} */ n, /** @type {any} */ g) => n + g.count, 0), parked);
  const discard = page.getByRole("button", { name: "Discard for good" });
  await page.getByLabel(`type ${parked} to discard them`).fill(String(parked - 1));
  assert.equal(await discard.isDisabled(), true, "the count is wrong");
  await page.getByLabel(`type ${parked} to discard them`).fill(String(parked));
  await discard.click();
  await page.getByText(`${parked} discarded. ${parked} in all.`).waitFor();
  await page.getByText("Nothing that is parked is like that.").waitFor();
  assert.deepEqual((await system.call("GET", "/dev/parked?consumer=links")).json.items, []);
  await page.context().close();
});

test("time moves over a change to summer time, and what happened on the way is shown", async () => {
  for (const zone of ["Europe/Paris", "America/Sao_Paulo"]) {
    const page = await open({ timezoneId: zone });
    const now = (await system.call("GET", "/dev/clock")).json.now, at = new Date(Date.parse(now) + 90 * 60e3).toISOString().slice(0, 19) + "Z";
    const made = (await system.call("POST", "/v1/reminders", { title: `Ring in ${zone}`, triggerUtc: at, tzid: zone })).json;
    await system.settle();
    await page.goto(`${system.url}/console/clock`);
    await page.locator(".due", { hasText: made.reminderId.slice(0, 12) }).waitFor();
    await page.getByRole("button", { name: /^To the next: schedule/ }).click();
    await page.getByText(/Time stopped/).waitFor();
    await page.locator(".plainlist", { hasText: "ReminderDue" }).waitFor();
    assert.ok(Date.parse((await system.call("GET", "/dev/clock")).json.now) >= Date.parse(at));
    await page.getByRole("button", { name: "By 1 day" }).click();
    await page.getByText(/Time stopped/).waitFor();
    await page.context().close();
  }
});

test("a recount shows each kind, and a repair puts right what differs", async () => {
  const page = await open();
  await page.goto(`${system.url}/console/verify?user=ann`);
  await page.getByRole("button", { name: "Recount", exact: true }).click();
  await page.getByText(/0 differences found, 0 remain/).waitFor();
  assert.equal(await page.locator(".tile.good").count(), await page.locator(".tile").count());
  await page.getByRole("button", { name: "Recount and repair" }).click();
  await page.getByText(/0 differences found, 0 remain/).waitFor();
  await page.context().close();
});

test("each fault is shown with its proof", async () => {
  const page = await open();
  await page.goto(`${system.url}/console/chaos?user=chaos`);
  for (const name of ["Kill a consumer", "Lose an answer", "Throttle", "Slow down", "Two workers", "Deliver ten times"]) {
    await page.locator(".story", { hasText: name }).click();
    await page.getByRole("button", { name: "Show it" }).click();
    await page.getByText(/^. 20 writes, \d+ deliveries, 20 counted, 0 differences$/).waitFor();
    await page.locator(".verdict.good").waitFor();
    assert.deepEqual((await system.call("GET", "/dev/chaos")).json.items, [], "nothing stays armed");
  }
  await page.context().close();
});

test("data is what the public API says, and leads to the records", async () => {
  const page = await open();
  await page.goto(`${system.url}/console/data?user=ann`);
  await page.locator(".thing", { hasText: "Invoices" }).waitFor();
  await page.locator(".thing", { hasText: "Call the dentist again" }).first().click();
  await page.locator(".record", { hasText: "Call the dentist again" }).first().waitFor();
  await page.context().close();
});

test("a measurement says what a write costs", async () => {
  const page = await open();
  await page.goto(`${system.url}/console/cost`);
  await page.getByRole("button", { name: "Begin a measurement now" }).click();
  await page.getByText("Since the measurement began.").waitFor();
  await system.call("POST", "/v1/tasks", { title: "Priced" });
  await page.getByText("1 writes over HTTP").waitFor();
  await page.getByRole("cell", { name: "stats" }).first().waitFor();
  await page.context().close();
});

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

test("each pane is readable by everybody, in both themes and widths, and pictured", async () => {
  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    for (const width of [1280, 400]) {
      if (process.env.NEXUS_SHORT && (colorScheme === "light") !== (width === 1280)) continue;
      const page = await open({ colorScheme, viewport: { width, height: 860 }, reducedMotion: "reduce" });
      for (const [i, [pane, query]] of panes.entries()) {
        await page.goto(`${system.url}/console/${pane}${query}`);
        await page.locator("main h1, main .empty").first().waitFor();
        await page.waitForLoadState("load");
        await page.evaluate(() => new Promise((done) => setTimeout(done, 700)));
        const name = `${pane}${panes.findIndex(([p]) => p === pane) === i ? "" : `-${i}`}-${colorScheme}-${width}`;
        await page.screenshot({ path: path.join(pictures, `${name}.png`), fullPage: width === 400 });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${name} scrolls sideways by ${wide}`);
        assert.deepEqual(await accessible(page), [], name);
        if (width === 400) {
          const small = await page.evaluate(() => [...document.querySelectorAll("button, select, input:not([type=checkbox], [type=radio]), .story, nav a, .record, a.button")].filter((e) => { const b = e.getBoundingClientRect(); return b.width && b.height && b.height < 43; }).map((e) => `${e.className} ${e.textContent?.slice(0, 30)} ${e.getBoundingClientRect().height}`));
          assert.deepEqual(small.filter((s) => !s.startsWith("plain ")), [], `${name}: targets`);
        }
      }
      await page.context().close();
    }
  }
});

let failed = 0;
for (const [name, run] of tests) {
  const began = performance.now(), before = problems.length;
  try {
    await run();
    assert.deepEqual(problems.slice(before), [], "no complaint of the browser");
    console.log(`ok   ${name} (${Math.round(performance.now() - began)} ms)`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}\n${/** @type {any} */ (error).stack}`);
    for (const [i, context] of browser.contexts().entries()) for (const page of context.pages()) {
      await page.screenshot({ path: path.join(pictures, `failed-${failed}-${i}.png`) }).catch(() => {});
      await context.close();
    }
  }
}
await browser.close();
await system.stop();
console.log(failed ? `console: ${failed} of ${tests.length} failed` : `console: ${tests.length} hold; pictures in ${pictures}`);
process.exitCode = failed ? 1 : 0;
