// Measures the console under load, and shows 1,000 writes under kills and ten deliveries. The arguments are the programs, nexus
// and the browser, and the seconds of the load.
import assert from "node:assert/strict";
import { started, browsing } from "./system.js";

const [nexus, chromium, seconds = "30"] = process.argv.slice(2);
const system = await started(nexus, "--store", "memory");
const { browser, open, problems } = await browsing(chromium);
const page = await open();
const debug = await page.context().newCDPSession(page);
await debug.send("Performance.enable");
/** @param {string} name */
const metric = async (name) => (await debug.send("Performance.getMetrics")).metrics.find((m) => m.name === name)?.value ?? 0;

await page.goto(`${system.url}/console/flow`);
await page.locator(".curves").waitFor();
const began = performance.now(), busy = await metric("TaskDuration"), each = 20, pause = 120; // 10,000 a minute
let written = 0, most = 0;
while (performance.now() - began < Number(seconds) * 1000) {
  const start = performance.now();
  const user = `load${written % 40}`;
  const commands = Array.from({ length: each }, () => ({ id: crypto.randomUUID(), type: "CreateTask", data: { title: "Load" } }));
  await system.call("POST", "/v1/commands", { commands }, user + Math.floor(written / 200));
  written += each;
  most = Math.max(most, await metric("JSHeapUsedSize"));
  const rest = pause - (performance.now() - start);
  if (rest > 0) await new Promise((done) => setTimeout(done, rest));
}
const took = (performance.now() - began) / 1000;
console.log(`${Math.round((written / took) * 60)} changes a minute: the page has ${Math.round((100 * (await metric("TaskDuration") - busy)) / took)} % of a core, at most ${Math.round(most / 1e6)} MB of heap`);

await page.goto(`${system.url}/console/chaos?user=many`);
for (const [story, times] of [["Kill a consumer", "20"], ["Deliver ten times", ""]]) {
  await page.locator(".story", { hasText: story }).click();
  await page.getByLabel("writes").fill("1000");
  if (times) await page.getByLabel("times", { exact: true }).fill(times);
  await page.getByRole("button", { name: "Show it" }).click();
  await page.locator("p.verdict").waitFor({ timeout: 180_000 });
  console.log(`${story}: ${await page.locator("p.verdict").innerText()}. ${await page.getByText(/^The fault hit/).innerText()}`);
  assert.match(await page.locator("p.verdict").innerText(), /1000 writes, \d+ deliveries, 1000 counted, 0 differences/);
}
assert.deepEqual(problems, []);
await browser.close();
await system.stop();
