// Reminders in a real browser: the service worker of the example shows what the system sends, and takes the user's action to the
// API. The browser has no push service here. What the system's own one got is given to it by the DevTools protocol, as a push
// service's connection would. The arguments are the programs, nexus and the browser. NEXUS_SHOTS names a folder for pictures.
import assert from "node:assert/strict";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { serve } from "../example/serve.js";
import { start } from "./nexus.js";

const [nexus, browserPath] = process.argv.slice(2);
const files = await serve(0);
const origin = `http://127.0.0.1:${files.address().port}`;
const system = await start(nexus, ["--cors", origin]);
const { api, dev } = system;
const browser = await chromium.launch({ executablePath: browserPath, args: process.getuid() === 0 ? ["--no-sandbox"] : [] });
const started = Date.now();
const log = (text) => console.log(`${((Date.now() - started) / 1000).toFixed(1).padStart(6)} s  ${text}`);

const device = "3f0c1c5e-6a52-4c39-9a0e-0d1b6c2f7a11";
const pushes = async () => (await (await fetch(`${api}/dev/pushes`)).json()).items;

/** until asks until the answer is right, or a minute is over. */
async function until(what, ask) {
  for (let n = 0; n < 600; n++) {
    const answer = await ask();
    if (answer) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`it does not come that ${what}`);
}

try {
  const context = await browser.newContext({ viewport: { width: 1000, height: 640 } });
  await context.grantPermissions(["notifications"], { origin });
  const page = await context.newPage();
  await page.goto(`${origin}/example/?api=${api}&user=ann`);
  await page.waitForFunction(() => window.nexus);
  const worker = context.serviceWorkers()[0] ?? await context.waitForEvent("serviceworker");
  await page.evaluate(() => navigator.serviceWorker.ready);
  assert.equal(await page.evaluate(() => Notification.permission), "granted");

  const cdp = await context.newCDPSession(page);
  const registered = new Promise((resolve) => cdp.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
    const found = registrations.find(({ scopeURL }) => scopeURL.startsWith(origin));
    if (found) resolve(found.registrationId);
  }));
  await cdp.send("ServiceWorker.enable");
  const registrationId = await registered;
  const push = (text) => cdp.send("ServiceWorker.deliverPushMessage", { origin, registrationId, data: text });
  const shown = () => page.evaluate(async () => (await (await navigator.serviceWorker.ready).getNotifications())
    .map(({ tag, title, silent, actions }) => ({ tag, title, silent, actions: actions?.map(({ action }) => action) })));
  const choose = (tag, action) => worker.evaluate(async ([tag, action]) => {
    const [notification] = await self.registration.getNotifications({ tag });
    const event = new NotificationEvent("notificationclick", { notification, action });
    let done;
    event.waitUntil = (work) => { done = work; }; // which is for events of the browser alone
    self.dispatchEvent(event);
    await done;
  }, [tag, action]);

  // What register() keeps of a subscription, with one of the system's own push service.
  const { user } = await system.get("/v1/me/devices/key", "ann");
  await page.evaluate(async ([user, api]) => {
    const { memory } = await import("/example/push.js");
    await memory(caches).set("user", user);
    await memory(caches).set("api", api);
  }, [user, api]);
  const { endpoint, keys } = await dev("pushes", {});
  const put = await fetch(`${api}/v1/me/devices/${device}`, {
    method: "PUT", headers: { Authorization: "Bearer ann", "Content-Type": "application/json" },
    body: JSON.stringify({ endpoint, keys, name: "Chromium" }),
  });
  assert.equal(put.status, 200);

  const due = new Date(Math.ceil(await system.now() / 60_000) * 60_000 + 3_600_000).toISOString().replace(/\.\d+/, "");
  const task = await page.evaluate((due) => window.nexus.create("TASK",
    { title: "Water the plants", dueUtc: due, dueTzid: "Europe/Paris", reminderMinutes: [0] }), due);
  const reminder = await page.evaluate((due) => window.nexus.create("REMINDER",
    { title: "Call the dentist", triggerUtc: due, tzid: "Europe/Paris" }), due);
  await page.evaluate(() => window.nexus.sync());
  await dev("settle", {});
  await dev("clock", { advance: "62m" });
  const messages = await until("both are told", async () => {
    const all = (await pushes()).map(({ text }) => ({ text, ...JSON.parse(text) }));
    return all.length === 2 && all;
  });
  const of = (id) => messages.find(({ itemId }) => itemId === id);
  log(`Chromium ${browser.version()}: two reminders are due`);

  for (let n = 0; n < 10; n++) await push(of(reminder).text);
  await push(of(task).text);
  const both = await until("two notifications are shown", async () => {
    const all = await shown();
    return all.length === 2 && all;
  });
  assert.deepEqual(both.map(({ title }) => title).sort(), ["Call the dentist", "Water the plants"]);
  assert.deepEqual(both.find(({ tag }) => tag === of(reminder).deliveryId).actions, ["snooze", "complete"]);
  assert.deepEqual(both.find(({ tag }) => tag === of(task).deliveryId).actions, ["complete"]);
  assert.equal(both.find(({ tag }) => tag === of(reminder).deliveryId).silent, true, "the last of ten makes no sound");
  assert.equal(both.find(({ tag }) => tag === of(task).deliveryId).silent, false);
  log("ten repetitions are one notification");

  const shot = async (name) => process.env.NEXUS_SHOTS && page.screenshot({ path: join(process.env.NEXUS_SHOTS, `${name}.png`) });
  await shot("push-before");
  await choose(of(task).deliveryId, "complete");
  await until("the task is completed", async () => (await system.get(`/v1/tasks/${task}`, "ann")).status === "COMPLETED");
  await choose(of(reminder).deliveryId, "snooze");
  const snoozed = await until("the reminder is snoozed", async () => {
    const got = await system.get(`/v1/reminders/${reminder}`, "ann");
    return got.status === "SNOOZED" && got;
  });
  assert.ok(Date.parse(snoozed.snoozeState.untilUtc) > Date.parse(due));
  assert.deepEqual(await shown(), [], "what was acted on is gone");
  await page.evaluate(() => window.nexus.sync());
  await page.waitForSelector(`#tasks li.done[data-id="${task}"]`);
  await shot("push-after");
  log("the actions have reached the API, and the page shows it");

  await page.evaluate(async () => (await import("/example/push.js")).memory(caches).set("user", "another"));
  await push(of(task).text);
  await page.evaluate((user) => import("/example/push.js").then(({ memory }) => memory(caches).set("user", user)), user);
  await push(JSON.stringify({ ...of(task), text: undefined, deliveryId: "last" }));
  await until("the last is shown", async () => (await shown()).length === 1);
  assert.deepEqual((await shown()).map(({ tag }) => tag), ["last"], "nothing is shown of another user");
  log("nothing is shown of another user");
} catch (error) {
  console.error(system.said());
  throw error;
} finally {
  await browser.close();
  await system.stop();
  files.close();
  files.closeAllConnections();
}
