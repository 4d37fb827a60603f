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

/** @type {[string, string][]} */
const panes = [["flow", ""], ["change", `?trace=${ring}`], ["change", ""], ["records", "?user=ann"], ["records", `?item=${task.taskId}`]];

test("flow shows what has come, a title as a text, and a write as it happens", async () => {
  const page = await open();
  await page.goto(`${system.url}/console`);
  await page.getByText(hostile).waitFor();
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

test("the keyboard alone reaches every pane and follows a change", async () => {
  const page = await open();
  await page.goto(`${system.url}/console/flow`);
  await page.locator(".record").first().waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type(String(ring));
  await page.keyboard.press("Enter");
  await page.locator(".waterfall").waitFor();
  for (const key of ["1", "2", "3"]) { await page.locator("body").press(key); await page.locator(`nav a[aria-current]`).waitFor(); }
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
      const page = await open({ colorScheme, viewport: { width, height: 860 }, reducedMotion: "reduce" });
      for (const [i, [pane, query]] of panes.entries()) {
        await page.goto(`${system.url}/console/${pane}${query}`);
        await page.locator("main h1").waitFor();
        await page.waitForLoadState("load");
        await page.evaluate(() => new Promise((done) => setTimeout(done, 700)));
        const name = `${pane}${panes.findIndex(([p]) => p === pane) === i ? "" : `-${i}`}-${colorScheme}-${width}`;
        await page.screenshot({ path: path.join(pictures, `${name}.png`), fullPage: width === 400 });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${name} scrolls sideways by ${wide}`);
        assert.deepEqual(await accessible(page), [], name);
        if (width === 400) {
          const small = await page.evaluate(() => [...document.querySelectorAll("button, select, input:not([type=checkbox]), nav a, .record, a.button")].filter((e) => { const b = e.getBoundingClientRect(); return b.width && b.height && b.height < 43; }).map((e) => `${e.className} ${e.textContent?.slice(0, 30)} ${e.getBoundingClientRect().height}`));
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
