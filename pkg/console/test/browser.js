// Uses the console as a person would. The arguments are the programs, nexus and the browser, and a folder for pictures. With
// NEXUS_ONLY it runs only the tests whose names match that regular expression.
import assert from "node:assert/strict";
import path from "node:path";
import { poisoned } from "./parked.js";
import { started, browsing, writers, accessible, held, localTimes } from "./system.js";
import { clockTests } from "./clock.js";
import { faultTests } from "./faults.js";
import { keyboardTests } from "./keyboard.js";
import { memoryTests } from "./memory.js";
import { manyTests } from "./many.js";

const [nexus, chromium, pictures] = process.argv.slice(2);
const system = await started(nexus);
const { browser, open: openIn, problems, buttons } = await browsing(chromium);
const zones = ["Europe/Paris", "America/Sao_Paulo"];
/** Where the person sits who uses the next page; each test is in the other zone than the one before it. */
let zone = zones[0];
const open = (/** @type {import("playwright-core").BrowserContextOptions} */ options = {}) => openIn({ timezoneId: zone, ...options });
const tests = /** @type {[string, () => Promise<void>][]} */ ([]);
const test = (/** @type {string} */ name, /** @type {() => Promise<void>} */ run) => tests.push([name, run]);

const short = Boolean(process.env.NEXUS_SHORT);
/** Runs a test with a system of its own. @param {(system: Awaited<ReturnType<typeof started>>) => Promise<void>} run @param {string[]} more */
const alone = async (run, ...more) => {
  const own = await started(nexus, ...more);
  try { await run(own); } finally { await own.stop(); }
};

const hostile = '<img src=x onerror="alert(1)">';
const task = (await system.call("POST", "/v1/tasks", { title: "Call the dentist", dueUtc: "2031-03-02T09:00:00Z", dueTzid: "Europe/Paris", reminderMinutes: [30] })).json;
await system.call("POST", "/v1/notes", { title: hostile, body: "b" });
const note = (await system.call("POST", "/v1/notes", { title: "Invoices", body: "March", links: [{ targetType: "TASK", targetId: task.taskId }] })).json;
await system.call("PATCH", `/v1/tasks/${task.taskId}`, { title: "Call the dentist again" }, "ann", { "If-Match": '"1"' });
await system.call("POST", "/v1/tasks", { title: "Water the plants" }, "ben");
const day = (await system.call("GET", "/dev/clock")).json.now.slice(0, 10);
/** @param {string} kind @param {number} n */
const idOf = (kind, n) => `${kind}_00000000-0000-4000-8000-00000000000${n}`;
await system.call("POST", "/v1/values/revisions", {
  message: "review", source: "weekly_review",
  nodes: [{ nodeId: idOf("drv", 1), nodeType: "DRIVER", title: "Health" }, { nodeId: idOf("mil", 2), nodeType: "MILESTONE", title: "Run 10 km" }, { nodeId: idOf("act", 3), nodeType: "ACTION", title: "Buy shoes", driverId: idOf("drv", 1) }],
  edges: [{ parentNodeId: idOf("drv", 1), order: 1, childNodeId: idOf("mil", 2) }, { parentNodeId: idOf("mil", 2), order: 1, childNodeId: idOf("act", 3) }],
});
await system.call("POST", `/v1/plans/${day}/revisions`, {
  reason: "morning_plan", todos: [{ actionId: idOf("act", 3), classification: "important", estimatedPomodoros: 2 }],
  blocks: [{ blockId: idOf("blk", 4), blockType: "POMODORO", actionId: idOf("act", 3), pomodoroIndex: 1, startTimeIso: `${day}T09:00:00Z`, endTimeIso: `${day}T09:25:00Z` }],
});
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
/** So many of them, a line each. @param {number} count */
const brokenRecords = (count) => Array.from({ length: count }, (_, i) => broken(i)).join("\n");
await system.call("POST", "/dev/replay?consumer=stats,links", brokenRecords(parked), "ann", { "Content-Type": "application/x-ndjson" });

const clients = writers(system, 8);
const tools = { test, system, open, alone, started, zones, short, pictures, hostile, ring, brokenRecords };
/** @typedef {typeof tools} Tools */

/** @type {[string, string][]} */
const panes = [["flow", ""], ["change", `?trace=${ring}`], ["change", ""], ["records", "?user=ann"], ["records", `?item=${task.taskId}`],
  ["parked", ""], ["clock", ""], ["verify", ""], ["chaos", ""], ["data", `?user=ann&day=${day}`], ["cost", ""], ["nothing", ""]];

test("flow shows what has come, a title as a text, and a write as it happens", async () => {
  const page = await open();
  await page.goto(`${system.url}/console/flow?type=NOTE&user=ann`);
  await system.call("POST", "/v1/notes", { title: hostile, body: "b" });
  await page.getByText(hostile).first().waitFor();
  await page.goto(`${system.url}/console?user=ann`);
  const { readers } = (await system.call("GET", "/dev/lag")).json;
  for (const { consumer } of readers.flatMap((/** @type {any} */ r) => r.consumers)) await page.locator(".consumers").getByText(consumer, { exact: true }).waitFor();
  await system.call("POST", "/v1/tasks", { title: "Live" });
  await page.locator(".record", { hasText: "Live" }).waitFor();
  const other = await open();
  await other.goto(`${system.url}/console?user=ann`);
  await page.getByRole("button", { name: "pause" }).click();
  for (const title of ["Unseen", "After it"]) {
    await system.call("POST", "/v1/tasks", { title });
    await other.locator(".record", { hasText: title }).waitFor();
  }
  await other.context().close();
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
  const users = await held(page, /\/dev\/users/);
  await page.goto(`${system.url}/console/change`);
  const form = page.locator("form.ask");
  await form.getByLabel("user", { exact: true }).fill("ann");
  await form.getByLabel("item").fill(task.taskId);
  users.free();
  await page.locator("datalist option[value=ben]").waitFor({ state: "attached" });
  assert.equal(await form.getByLabel("item").inputValue(), task.taskId, "an answer that comes late leaves what is typed");
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
  const all = await held(page, /\/dev\/changes\?limit=500$/);
  await page.goto(`${system.url}/console/records`);
  await all.asked;
  await page.getByLabel("Search: a user, an item, a trace id or a sequence number").fill(note.noteId);
  await page.keyboard.press("Enter");
  await page.locator(".derived").getByText(task.taskId).first().waitFor();
  all.free();
  await all.answered;
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

test("records of three kinds stay parked until their causes are mended, and then all are done", () => alone(async (own) => {
  const all = short ? 60 : 500, began = performance.now();
  const { kinds, mend } = await poisoned(own, all);
  console.log(`parked: ${all} records of ${kinds.length} kinds were made and parked in ${Math.round(performance.now() - began)} ms`);
  const page = await open(), verdict = page.locator("p.verdict");
  await page.goto(`${own.url}/console/parked`);
  for (const { consumer, count, says } of kinds) {
    const groups = page.getByRole("region", { name: "By consumer and reason" }).locator("tbody tr"), row = groups.filter({ hasText: says });
    await row.waitFor();
    assert.equal(await groups.count(), kinds.length, "one group for each kind");
    assert.equal(await row.locator("td").nth(0).innerText(), String(count));
    assert.equal(await row.locator("td").nth(1).innerText(), consumer);
    await row.getByRole("link").click();
    await page.getByRole("button", { name: `Dry run of ${count}` }).click();
    await page.getByText(`${count} would be done. ${count} in all.`).waitFor({ timeout: 120_000 });
    await page.getByRole("button", { name: "All", exact: true }).click();
    await page.getByRole("button", { name: `Dry run of ${all}` }).waitFor();
  }
  const redriven = async (/** @type {string} */ outcome) => {
    const start = performance.now();
    await page.getByRole("button", { name: `Redrive all ${all} that match` }).click();
    await page.getByText(`${all} ${outcome}. ${all} in all.`, { exact: true }).waitFor({ timeout: 180_000 });
    const took = performance.now() - start, shown = new Map();
    const list = page.getByRole("group", { name: "Outcomes" });
    await list.evaluate((box) => { box.scrollTop = 0; });
    for (let last = -1; shown.size < all && shown.size !== last;) {
      last = shown.size;
      for (const [name, mark] of await list.locator(".outcome").evaluateAll((rows) => rows.map((row) => [row.querySelector("code")?.textContent, row.querySelector(".mark")?.className]))) shown.set(name, mark);
      await list.evaluate((box) => new Promise((done) => { box.scrollTop += box.clientHeight; requestAnimationFrame(() => requestAnimationFrame(done)); }));
    }
    assert.equal(shown.size, all, "the outcome of each object is shown");
    assert.deepEqual([...new Set(shown.values())], [`mark ${outcome}`]);
    console.log(`parked: redriven, ${await verdict.innerText()} (${Math.round(took)} ms)`);
  };
  await redriven("parked");
  await mend();
  const start = performance.now();
  await page.getByRole("button", { name: `Dry run of ${all}` }).click();
  await page.getByText(`${all} would be done. ${all} in all.`).waitFor({ timeout: 180_000 });
  console.log(`parked: dry run, ${await verdict.innerText()} (${Math.round(performance.now() - start)} ms)`);
  await redriven("done");
  await page.locator("p.verdict.good").waitFor();
  await page.getByText("Nothing is parked: every record").waitFor();
  await page.screenshot({ path: path.join(pictures, "parked-redriven.png") });
  assert.deepEqual((await own.call("GET", "/dev/parked")).json.items, []);
  await own.settle();
  await page.goto(`${own.url}/console/verify`);
  await page.getByRole("button", { name: "Recount", exact: true }).click();
  await page.getByText(/0 differences found, 0 remain/).waitFor({ timeout: 60_000 });
  await page.context().close();
}, "--show-endpoint", "--limit", "user=60000"));

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

clockTests(tools);
faultTests(tools);
memoryTests(tools);
manyTests(tools);
keyboardTests(tools);

test("data is what the public API says, and leads to the records", async () => {
  const page = await open();
  await page.goto(`${system.url}/console/data?user=ann`);
  await page.locator(".thing", { hasText: "Invoices" }).waitFor();
  const card = (/** @type {string} */ heading) => page.locator(".card", { has: page.getByRole("heading", { name: heading, exact: true }) }), tree = card("Values tree").locator("li");
  assert.deepEqual(await tree.locator("strong").allInnerTexts(), ["Health", "Run 10 km", "Buy shoes"], "each below its parent");
  const indents = await tree.evaluateAll((items) => items.map((item) => parseFloat(getComputedStyle(item).paddingLeft)));
  assert.ok(indents[0] < indents[1] && indents[1] < indents[2], String(indents));
  const { revId } = (await system.call("GET", "/v1/values")).json;
  await card("Values tree").getByText(revId).waitFor();
  await page.getByLabel("week of").fill(day);
  await card(`Plan of ${day}`).getByText("2 pomodoros").waitFor();
  assert.deepEqual(await card(`Plan of ${day}`).locator("li strong").allInnerTexts(), ["Buy shoes", "Buy shoes"], "the action and its block");
  await system.call("POST", `/v1/plans/${day}/complete`, { actionId: idOf("act", 3) });
  await page.reload();
  await card(`Plan of ${day}`).getByText("completed").waitFor();
  await card("Values tree").getByText("completed").waitFor();
  await page.locator(".thing", { hasText: "Call the dentist again" }).first().click();
  await page.locator(".record", { hasText: "Call the dentist again" }).first().waitFor();
  await page.context().close();
});

test("each pane is readable by everybody, in both themes and widths, and pictured", async () => {
  let pictured = 0, times = 0;
  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    for (const width of [1280, 400]) {
      if (short && (colorScheme === "light") !== (width === 1280)) continue;
      const zone = zones[pictured++ % zones.length], page = await open({ timezoneId: zone, colorScheme, viewport: { width, height: 860 }, reducedMotion: "reduce" });
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
        times += await localTimes(page, zone, name);
        if (width === 400) {
          const small = await page.evaluate(() => [...document.querySelectorAll("button, select, input:not([type=checkbox], [type=radio]), .story, nav a, .record, a.button")].filter((e) => { const b = e.getBoundingClientRect(); return b.width && b.height && b.height < 43; }).map((e) => `${e.className} ${e.textContent?.slice(0, 30)} ${e.getBoundingClientRect().height}`));
          assert.deepEqual(small.filter((s) => !s.startsWith("plain ")), [], `${name}: targets`);
        }
      }
      await page.context().close();
    }
  }
  assert.ok(times > 100, `${times} times are shown`);
});

let failed = 0;
const chosen = tests.filter(([name]) => new RegExp(process.env.NEXUS_ONLY ?? "").test(name));
for (const [name, run] of chosen) {
  zone = zones[tests.findIndex(([one]) => one === name) % zones.length];
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
if (!process.env.NEXUS_ONLY) {
  const unused = [...buttons].filter(([, used]) => !used).map(([name]) => name);
  failed += unused.length ? 1 : 0;
  console.log(unused.length ? `FAIL no test uses a button: ${unused.join(" | ")}` : `ok   each of ${buttons.size} kinds of buttons was used`);
}
await browser.close();
console.log(`console: 8 clients wrote ${await clients.stop()} times`);
await system.stop();
console.log(failed ? `console: ${failed} of ${chosen.length} failed` : `console: ${chosen.length} hold; pictures in ${pictures}`);
process.exitCode = failed ? 1 : 0;
