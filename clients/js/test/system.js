// Two devices of a user against a running `nexus dev` on the real engine: random edits of every type, without a network for a
// while, with the clock moved over reminders and archived tasks. At the end both hold what the server's check says, and what a
// new device gets. The arguments are the program nexus, how many users are played, and the seed of the first.
import assert from "node:assert/strict";
import { start } from "./nexus.js";
import { randomOf } from "./server.js";
import { source } from "./setup.js";

const { open } = await source("client.js");
const { memoryStore } = await source("memory.js");
const { digest, stateOf } = await source("sync.js");
const { isServed } = await source("copy.js");

const [nexus, users = "10", first = "1"] = process.argv.slice(2);
const system = await start(nexus);
const { api } = system;

class Device {
  constructor(user) {
    this.user = user;
    this.store = memoryStore();
    this.offline = this.losing = false;
  }
  async open() {
    this.client = await open({
      api, issuer: api, user: this.user, token: () => this.user, store: this.store, locks: null, channel: null, agenda: true,
      fetch: async (...request) => {
        if (this.offline) throw new TypeError("offline");
        const answer = await fetch(...request);
        if (this.losing && this.losing.is(0.2)) throw new TypeError("the answer was lost");
        return answer;
      },
    });
    return this;
  }
  async sync() {
    await this.client.sync().catch((error) => {
      if (error.state !== "offline") throw error;
    });
  }
  async copy() {
    return this.store.read(async (tx) => tx.all("items", (await stateOf(tx)).generation));
  }
}

/** @param {number} days from the system's present */
const inDays = (now, days) => new Date(Math.round(now / 1000) * 1000 + days * 86_400_000).toISOString().replace(".000", "");

const counts = {};
/** edit makes one random edit on a device. */
async function edit(device, random, now, n) {
  const { client } = device, all = (await client.items()).filter(({ type }) => type !== "USER_META");
  const create = {
    NOTE: () => ({ title: `n${n}`, body: "" }),
    TASK: () => ({ title: `t${n}`, dueUtc: inDays(now, 3), dueTzid: "UTC" }),
    REMINDER: () => ({ title: `r${n}`, triggerUtc: inDays(now, random.pick([1, 2])), tzid: "Europe/Paris", ...(random.is(0.5) && { rrule: "FREQ=DAILY" }) }),
    EVENT: () => ({ title: `e${n}`, startUtc: inDays(now, 1), endUtc: inDays(now, 1.1), startTzid: "Europe/Paris" }),
    MASTER: () => ({ title: `m${n}`, startUtc: inDays(now, 1), endUtc: inDays(now, 1.1), startTzid: "UTC", rrule: "FREQ=DAILY;COUNT=9" }),
  };
  if (random.is(0.05)) {
    const me = (await client.items("USER_META"))[0];
    return client.edit(me.id, random.is(0.5) ? { defaultTzid: random.pick(["Europe/Paris", "UTC"]) } : { preferences: { theme: random.pick(["dark", "light"]) } });
  }
  if (!all.length || random.is(0.3)) {
    const type = random.pick(Object.keys(create));
    return client.create(type, create[type]());
  }
  const { id, type, item } = random.pick(all), dice = random.next();
  if (type === "MASTER" && dice < 0.6) {
    const date = inDays(Date.parse(item.startUtc), random.under(5)).slice(0, 10).replaceAll("-", "");
    return client.occurrence(id, date, random.pick([{ title: `o${n}` }, { location: `l${n}` }, {}, null]));
  }
  if (type === "INSTANCE") return client.occurrence(item.masterId, id.split("_")[1], random.pick([{ title: `o${n}` }, {}, null]));
  if (dice < 0.1) return client.remove(id);
  if (dice < 0.2 && type === "REMINDER") return client.act("CompleteReminder", id, {}, {});
  if (dice < 0.3 && type === "REMINDER") return client.act("SnoozeReminder", id, { untilUtc: inDays(now, 200) });
  if (dice < 0.3 && type === "TASK") return client.edit(id, { status: "COMPLETED" });
  if (dice < 0.4 && type === "NOTE") {
    const target = random.pick(all.filter((other) => other.id !== id && other.type !== "INSTANCE"));
    if (!target) return undefined;
    return client.act("AddNoteLink", id, { targetType: target.type, targetId: target.id });
  }
  if (dice < 0.6) return client.edit(id, { tags: [...(item.tags ?? []), `g${n}`] });
  return client.edit(id, random.is(0.5) || type === "REMINDER" ? { title: `x${n}` } : { color: "#112233" });
}

/** shown is what a device shows. Settings without a change are made when they are asked for. */
const shown = async (device) => (await device.client.items()).map((one) => {
  const { createdAt, updatedAt, ...item } = one.item;
  return one.type === "USER_META" && !one.version ? { ...one, item } : one;
});

async function play(seed) {
  const random = randomOf(seed), user = `user-${seed}`;
  const devices = [await new Device(user).open(), await new Device(user).open()];
  let now = (await system.now()), n = 0;
  for (const device of devices) await device.sync();
  for (let step = 0; step < 60; step++) {
    const device = random.pick(devices), dice = random.next();
    if (dice < 0.6) await edit(device, random, now, ++n);
    else if (dice < 0.85) {
      device.losing = random.is(0.3) ? random : false;
      await device.sync();
      device.losing = false;
    } else if (dice < 0.92) device.offline = !device.offline;
    else if (dice < 0.96) {
      await system.dev("clock", { advance: random.pick(["5h", "30h", "200h"]) });
      now = await system.now();
    } else await device.open(); // the app is started again
  }
  for (const device of devices) device.offline = false;
  for (let i = 0; i < 3; i++) for (const device of devices) await device.sync();
  await system.dev("settle", {});
  for (const device of devices) await device.sync();
  const another = await new Device(user).open();
  await another.sync();
  const { count, digest: sum } = await system.get("/v1/changes/check", user);
  now = await system.now();
  for (const [i, device] of [...devices, another].entries()) {
    const served = (await device.copy()).filter((held) => isServed(held, now)), name = `user ${seed}, device ${i}`;
    assert.deepEqual(await device.client.waiting(), [], `${name}: something waits still`);
    assert.deepEqual(await digest(served), { count, digest: sum }, `${name}: ${JSON.stringify(served.map(({ type, id, version }) => [type, id, version]))}`);
    assert.deepEqual(await shown(device), await shown(another), name);
    for (const { problem, type } of await device.client.refused()) {
      assert([404, 409, 410, 412].includes(problem.status), `${name}: refused for nothing: ${type} ${JSON.stringify(problem)}`);
      counts[`${type} ${problem.status}`] = (counts[`${type} ${problem.status}`] ?? 0) + 1;
    }
  }
}

try {
  for (let seed = Number(first); seed < Number(first) + Number(users); seed++) await play(seed);
  console.log(`system: ${users} users with two devices each hold what the server holds; refused: ${JSON.stringify(counts)}`);
} catch (error) {
  console.error(system.said());
  throw error;
} finally {
  await system.stop();
}
