// Takes the picture of README.md: a system in which the demo's story has been told, with something going on. The arguments are
// the programs, nexus and the browser, and the file.
import assert from "node:assert/strict";
import { started, browsing } from "./system.js";

const [nexus, chromium, file] = process.argv.slice(2);
const system = await started(nexus, "--demo");
const { browser, open, problems } = await browsing(chromium);
await system.heard(/the demo's story is told/);
const titles = ["Call the dentist", "Water the plants", "Write the report", "Book the train", "Read chapter 4", "Pay the rent", "Plan the week", "Answer the letter"];
const page = await open({ viewport: { width: 1280, height: 800 }, colorScheme: "light" });
await page.goto(`${system.url}/console/flow`);
await system.call("POST", "/dev/chaos", { fault: "kill", part: "stats", times: 2 });
for (let i = 0; i < 40; i++) await system.call("POST", "/v1/tasks", { title: titles[i % titles.length], dueUtc: "2031-03-02T09:00:00Z", dueTzid: "Europe/Paris", reminderMinutes: [30] }, ["ann", "ben", "demo"][i % 3]);
await system.call("POST", "/dev/redeliver", { consumer: "links", from: "start" });
await page.locator(".record", { hasText: titles[0] }).first().waitFor();
await page.evaluate(() => new Promise((done) => setTimeout(done, 1500)));
await page.screenshot({ path: file, type: "jpeg", quality: 72 });
for (const pane of ["change", "records", "parked", "clock", "verify", "chaos", "data?user=demo", "cost"]) {
  await page.goto(`${system.url}/console/${pane}`);
  await page.locator("main h1").waitFor();
  await page.locator("main > :nth-child(2)").waitFor();
}
assert.deepEqual(problems, []);
await browser.close();
await system.stop();
