// The clock and what a write costs, while other clients write.
import assert from "node:assert/strict";
import { held, localTimes } from "./system.js";

const day = 86400e3;

/** When the zone's clocks go forward next, to the second. @param {string} zone @param {number} from */
function summerAfter(zone, from) {
  const offset = (/** @type {number} */ at) => Date.parse(`${new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "medium" }).format(at).replace(" ", "T")}Z`) - at;
  let before = Math.floor(from / 1000) * 1000;
  while (offset(before + day) <= offset(before)) before += day;
  for (let after = before + day; after - before > 1000;) {
    const middle = before + Math.floor((after - before) / 2000) * 1000;
    if (offset(middle) === offset(before)) before = middle; else after = middle;
    if (after - before <= 1000) return after;
  }
  return before;
}

/** @param {import("./browser.js").Tools} tools */
export function clockTests({ test, system, open, alone, zones }) {
  test("time moves while clients write, says what it waits for, and shows what happened on the way", async () => {
    const page = await open(), told = page.getByText(/^It is .* Time stopped \d+ times?;/);
    const now = (await system.call("GET", "/dev/clock")).json.now, at = new Date(Date.parse(now) + 90 * 60e3).toISOString().slice(0, 19) + "Z";
    const made = (await system.call("POST", "/v1/reminders", { title: "Ring on the way", triggerUtc: at, tzid: "UTC" })).json;
    await page.goto(`${system.url}/console/clock`);
    await page.locator(".due", { hasText: made.reminderId.slice(0, 12) }).waitFor();
    const move = await held(page, (url) => url.pathname === "/dev/clock", "POST");
    await page.getByRole("button", { name: /^To the next: schedule/ }).click();
    await move.asked;
    await page.getByText(/^It waits for \d+ records? in flight. In the last second there (was 1 write|were [\d,]+ writes).$/).waitFor();
    move.free();
    await told.waitFor();
    await page.locator(".plainlist li", { hasText: made.reminderId.slice(0, 12) }).getByText("ReminderDue").waitFor();
    assert.ok(Date.parse((await system.call("GET", "/dev/clock")).json.now) >= Date.parse(at));
    for (const [button, by] of /** @type {[string, number][]} */ ([["By 1 hour", day / 24], ["By 1 day", day], ["By 1 week", 7 * day]])) {
      const before = Date.parse((await system.call("GET", "/dev/clock")).json.now);
      await page.getByRole("button", { name: button }).click();
      await told.waitFor({ state: "detached" });
      await told.waitFor({ timeout: 120_000 });
      assert.ok(Date.parse((await system.call("GET", "/dev/clock")).json.now) >= before + by, button);
    }
    await page.context().close();
  });

  test("series ring by their zones' clocks before and after a change to summer time", () => alone(async (own) => {
    const change = summerAfter(zones[0], Date.parse((await own.call("GET", "/dev/clock")).json.now)), eve = change - 3 * day;
    await own.call("POST", "/dev/clock", { set: new Date(eve).toISOString().slice(0, 19) + "Z" });
    const ids = new Map();
    for (const zone of zones) {
      const start = new Date(change - 2 * day), of = start.toISOString().slice(0, 10), offset = zone === zones[0] ? "+01:00" : "-03:00";
      const startUtc = new Date(`${of}T09:00:00${offset}`).toISOString().slice(0, 19) + "Z";
      const made = (await own.call("POST", "/v1/series", { title: `Daily in ${zone}`, rrule: "FREQ=DAILY;COUNT=4", startUtc, startTzid: zone, reminderMinutes: [30] })).json;
      ids.set(zone, made.masterId);
    }
    const page = await open({ timezoneId: zones[0] });
    await page.goto(`${own.url}/console/clock`);
    await page.getByLabel("to an instant").fill(new Date(change + 3 * day).toISOString().slice(0, 19) + "Z");
    await page.getByRole("button", { name: "Move there" }).click();
    await page.getByText(/Time stopped/).waitFor({ timeout: 60_000 });
    const clocks = async (/** @type {string} */ zone) => {
      const rang = page.getByRole("region", { name: "On the way" }).locator("li", { hasText: "ReminderDue" }).filter({ hasText: ids.get(zone).slice(0, 12) }).locator("time");
      await rang.nth(3).waitFor();
      return rang.evaluateAll((times) => times.map((time) => time.textContent?.slice(11, 16)));
    };
    assert.deepEqual(await clocks(zones[0]), ["07:30", "07:30", "06:30", "06:30"], "half past eight on the clocks of Paris, in UTC");
    assert.deepEqual(await clocks(zones[1]), ["11:30", "11:30", "11:30", "11:30"], "half past eight on those of São Paulo");
    assert.ok(await localTimes(page, zones[0], "on the way") >= 8);
    await page.context().close();
  }));

  test("a measurement says what the writes of all clients cost", async () => {
    const page = await open(), mean = page.getByText(/^The mean of [\d,]+ writes? over HTTP/);
    const shown = async () => Number((await mean.innerText()).match(/of ([\d,]+) /)?.[1].replaceAll(",", "")), counted = async () => (await system.call("GET", "/dev/cost")).json.writes;
    await page.goto(`${system.url}/console/cost`);
    const least = await counted();
    await page.getByRole("button", { name: "Begin a measurement now" }).click();
    await page.getByText("Since the measurement began.").waitFor();
    const most = await counted();
    await system.call("POST", "/v1/tasks", { title: "Priced" });
    const after = await counted();
    await page.waitForFunction((n) => Number(/The mean of ([\d,]+) /.exec(document.body.innerText)?.[1].replaceAll(",", "")) >= n, after - most);
    const now = await shown();
    assert.ok(now >= after - most && now <= await counted() - least, `${now} writes are shown`);
    const stats = page.getByRole("row").filter({ has: page.getByRole("cell", { name: "stats", exact: true }) }).first();
    assert.ok(parseFloat(await stats.locator("td").nth(5).innerText()) > 0, "the price of what follows a write");
    await page.getByRole("button", { name: "Since the start", exact: true }).click();
    await page.getByText("Since the start of the process.").waitFor();
    await page.waitForFunction((n) => Number(/The mean of ([\d,]+) /.exec(document.body.innerText)?.[1].replaceAll(",", "")) >= n, after);
    await page.context().close();
  });
}
