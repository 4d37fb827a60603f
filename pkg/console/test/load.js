// Measures the console under load. The arguments are the programs, nexus and the browser, and the seconds of the load.
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
assert.deepEqual(problems, []);
await browser.close();
await system.stop();
