// Random histories of two devices of one user, each with two tabs that no lock keeps apart: edits, lost requests and answers,
// throttling, deaths before and after each call of the store, writes of the system, resets, months without a network. What is
// held at the end says nothing of how a client merges: the devices have what the server has; each edit was carried out once, or
// its user is shown that it was not; no edit was written over by a user who had not seen it.
import "fake-indexeddb/auto";
import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { randomOf, Server } from "./server.js";
import { source } from "./setup.js";

const { open } = await source("client.js");
const { memoryStore } = await source("memory.js");
const { indexedDBStore } = await source("store.js");
const { isServed } = await source("copy.js");
const { digest, stateOf } = await source("sync.js");

const hour = 3_600_000;
class Death extends Error {}

/** A device: a store that stays, tabs that come and go, a network with faults. */
class Device {
  constructor(world, name, kept) {
    this.world = world;
    this.name = name;
    this.kept = kept;
    this.deadly = Infinity; // calls of the store until it dies
    this.network = undefined; // what happens to the next requests
  }
  store() {
    const mine = {};
    this.alive = mine;
    const call = (kind) => async (run) => {
      if (this.alive !== mine) throw new Death("a former tab");
      if (--this.deadly === 0) throw this.die();
      const result = await this.kept[kind](run);
      if (--this.deadly === 0) throw this.die();
      return result;
    };
    return { write: call("write"), read: call("read"), close() {} };
  }
  die() {
    this.deadly = Infinity;
    this.alive = undefined;
    return new Death("the tab is gone");
  }
  options(store, fetch) {
    const { server } = this.world;
    return {
      api: "http://model", issuer: "i", user: "ann", token: () => "ann", store, fetch, locks: null, channel: null,
      now: () => server.now + (this.name === "a" ? 0 : 5 * hour), // a clock that is wrong
    };
  }
  async client() {
    while (!this.alive) {
      try {
        this.open = await open(this.options(this.store(), (url, init) => this.fetch(url, init)));
      } catch (error) {
        if (!(error instanceof Death)) throw error;
      }
    }
    return this.open;
  }
  async fetch(url, init) {
    const { server } = this.world, fault = this.network;
    if (++this.requests > 500) this.world.endless ??= `${init.method} ${url} ${init.body}`;
    if (this.requests > 500) throw new TypeError("too many requests");
    if (!fault) return server.fetch(url, init);
    if (fault.is(0.06)) throw new TypeError("the request was lost");
    if (fault.is(0.04)) {
      await server.fetch(url, init, fault.under(3));
      throw new TypeError("the process died");
    }
    const answer = await server.fetch(url, init);
    if (fault.is(0.12)) {
      this.network = undefined;
      server.system(fault);
      server.append(fault.under(4), fault);
      // Another tab comes in between.
      const other = await open(this.options(this.kept, (u, i) => server.fetch(u, i)));
      await other.sync().catch(() => {});
      server.append(fault.under(2), fault);
      this.network = fault;
    }
    if (fault.is(0.12)) throw new TypeError("the answer was lost");
    return answer;
  }
  /** @param {(client: any) => Promise<any>} run */
  async use(run) {
    this.requests = 0;
    try {
      return await run(await this.client());
    } catch (error) {
      if (!(error instanceof Death) && error.constructor.name !== "Failure") throw error;
      if (error.state === "error") throw error;
      return undefined;
    }
  }
}

// Ids are random in an app. Here the same history has the same ids, and so the same order of items, each time.
let ids = 0;
globalThis.crypto.randomUUID = () => `00000000-0000-4000-8000-${String(++ids).padStart(12, "0")}`;

class World {
  server = new Server();
  made = new Map(); // the value of an edit -> what is known of it
  count = 0;
  constructor(a, b) {
    this.devices = [new Device(this, "a", a), new Device(this, "b", b)];
  }

  async make(device, random) {
    const shown = await device.use((client) => client.items());
    if (!shown) return;
    const entities = shown.filter((one) => one.type !== "USER_META");
    const value = `L${++this.count}`, dice = random.next();
    const note = (id, field, saw, more) => this.made.set(value, { device, id, field, saw, ...more });
    if (!entities.length || dice < 0.15) {
      const type = random.pick(["NOTE", "REMINDER"]);
      note(undefined, "create", undefined);
      await device.use((client) => client.create(type, { title: value, body: "" }));
      return;
    }
    const never = () => this.made.delete(value); // the app learns that there is nothing to act on
    const opened = device.form && random.is(0.5) ? device.form : undefined;
    device.form = undefined;
    const saw = opened ?? random.pick(entities), { id, type } = saw;
    if (dice < 0.6) {
      const field = random.pick(["title", "body"]);
      note(id, field, saw.item[field], { opened });
      await device.use((client) => client.edit(id, { [field]: value }, opened));
    } else if (dice < 0.7) {
      note(id, "tags", saw.item.tags ?? [], { opened });
      await device.use((client) => client.edit(id, { tags: [...(saw.item.tags ?? []), value] }, opened));
    } else if (dice < 0.78) {
      note(id, "links", undefined, {});
      const data = { targetType: "NOTE", targetId: value };
      await device.use((client) => client.act(`Add${type === "NOTE" ? "Note" : "Reminder"}Link`, id, data, {}, opened)).catch(never);
    } else if (dice < 0.9 && type === "REMINDER") {
      note(id, "snooze", undefined, {});
      await device.use((client) => client.act("SnoozeReminder", id, { untilUtc: value }, { snooze: value }, opened)).catch(never);
    } else {
      await device.use((client) => client.remove(id, opened));
    }
  }

  async step([kind, seed]) {
    const { server } = this, random = randomOf(seed), device = random.pick(this.devices);
    server.random = randomOf(seed + 1);
    if (kind < 26) await this.make(device, random);
    else if (kind < 30) device.form = random.pick((await device.use((client) => client.items()))?.filter((one) => one.type !== "USER_META") ?? []);
    else if (kind < 55) {
      if (random.is(0.7)) device.network = random;
      if (random.is(0.25)) device.deadly = 1 + random.under(30);
      server.throttle = random.is(0.4) ? 0.15 : 0;
      server.omit = random.is(0.3) ? 0.3 : 0;
      await device.use((client) => client.sync());
      device.network = undefined;
      device.deadly = Infinity;
      server.throttle = server.omit = 0;
    } else if (kind < 70) server.system(random);
    else if (kind < 74) server.restore(random);
    else if (kind < 94) server.append(1 + random.under(3), random);
    else if (kind < 95) await device.use((client) => client.check());
    else if (kind < 98) {
      server.now += random.pick([0.1, 1, 7, 25, 40]) * hour;
      server.history = [];
    } else if (kind < 99) server.form += random.is(0.5) ? 1 : 0;
    else if (random.is(0.3)) {
      server.now += random.pick([30, 100]) * 24 * hour;
      server.history = [];
      server.forgetRows();
    }
  }

  async settle() {
    const { server } = this;
    const round = async () => {
      while (server.pending.length) server.append(10);
      for (const device of this.devices) await device.use((client) => client.sync());
    };
    for (let i = 0; i < 30; i++) {
      await round();
      const waiting = await Promise.all(this.devices.map((device) => device.use((client) => client.waiting())));
      if (waiting.every((rows) => rows.length === 0)) break;
    }
    server.now += 200 * hour;
    server.history = [];
    server.sweep();
    await round();
    await round();
  }

  async hold() {
    const { server } = this;
    assert.equal(this.endless, undefined, "a sync asks without end");
    const served = Object.fromEntries(server.served().map(([id, it]) => [id, server.entity(id, it)]));
    /** @type {Map<string, any[]>} */
    const refusals = new Map();
    for (const device of this.devices) {
      const client = await device.client();
      assert.deepEqual(await client.waiting(), [], `${device.name}: the outbox is stuck`);
      const shown = Object.fromEntries((await client.items()).filter((one) => one.type !== "USER_META").map((one) => [one.id, one.item]));
      assert.deepEqual(shown, served, `${device.name}: has something else than the server`);
      const copy = await device.kept.read(async (tx) => tx.all("items", (await stateOf(tx)).generation));
      const { count, digest: sum } = server.check();
      assert.deepEqual(await digest(copy.filter((held) => isServed(held, server.now))), { count, digest: sum }, "the digest");
      for (const refused of await client.refused()) {
        const { status } = refused.problem;
        assert([0, 404, 409, 410, 412].includes(status), `refused for nothing: ${status} ${JSON.stringify(refused)}`);
        for (const value of Object.values(refused.kind === "act" ? refused.data : refused.patch).flat()) {
          if (this.made.has(value) && !refused.base.tags?.includes(value)) refusals.set(value, [...(refusals.get(value) ?? []), refused]);
        }
        if (refused.kind === "delete") assert.notEqual(status, 410, "a deletion of what is gone is done");
      }
    }
    const carried = new Map();
    for (const { field, value, over, kind } of server.writes) {
      const lost = (Array.isArray(over) ? over : []).filter((one) => !JSON.stringify(value).includes(JSON.stringify(one)));
      assert.deepEqual(lost, [], `written over: an element of ${field}`);
      const values = Array.isArray(value) ? value.filter((v) => !over?.some((o) => JSON.stringify(o) === JSON.stringify(v))) : [value];
      for (const one of values.map((v) => v?.targetId ?? v)) {
        const made = this.made.get(one);
        if (!made) continue;
        carried.set(one, (carried.get(one) ?? 0) + 1);
        if (kind === "Update" && !Array.isArray(value)) assert.equal(over, made.saw, `${one} was written over a value that its user had not seen: ${over}, not ${made.saw}`);
      }
    }
    for (const [value, made] of this.made) {
      const times = carried.get(value) ?? 0, refused = refusals.get(value) ?? [];
      assert(times <= 1, `${value} was carried out ${times} times`);
      const isUnknown = refused.some(({ problem }) => problem.status === 0);
      assert(!(times && refused.length) || isUnknown, `${value} was carried out and is shown as refused: ${JSON.stringify(refused)}`);
      assert(times || refused.length, `${value} is lost: ${JSON.stringify({ ...made, device: made.device.name })}`);
      for (const { problem, kind, patch } of refused) {
        if (problem.status !== 412 || kind === "delete") continue;
        assert(made.field !== "links", "sets merge by element");
        if (made.field !== "title" && made.field !== "body") continue;
        assert(patch.tags === undefined, "sets merge by element");
        if (made.opened && refusals.has(made.saw)) continue; // the form showed an edit that was refused since
        const other = [...this.made].some(([v, m]) => v !== value && v !== made.saw && m.id === made.id && m.field === made.field &&
          (made.opened || m.device !== made.device));
        assert(other, `${value} was refused, but no other device changed that field`);
      }
    }
  }
}

const runs = Number(process.env.NEXUS_HISTORIES ?? 400);
const seed = Number(process.env.NEXUS_SEED ?? 20261123);
const step = fc.tuple(fc.integer({ min: 0, max: 99 }), fc.integer({ min: 0, max: 2 ** 30 }));
// Every fourth history is calm: the log and the devices keep up.
const history = fc.tuple(fc.array(step, { minLength: 30, maxLength: 120, size: "max" }), fc.integer({ min: 0, max: 3 }));

let databases = 0;
const stores = { memory: [runs, async () => memoryStore()], IndexedDB: [Math.ceil(runs / 20), () => indexedDBStore(`${++databases}`)] };

for (const [name, [numRuns, make]] of Object.entries(stores)) {
  test(`${numRuns} histories of two devices on ${name}`, { timeout: 3_600_000 }, async () => {
    await fc.assert(fc.asyncProperty(history, async ([steps, kind]) => {
      ids = 0;
      const world = new World(await make(), await make());
      for (const one of steps) {
        await world.step(one);
        if (kind) continue;
        while (world.server.pending.length) world.server.append(10);
        for (const device of world.devices) await device.use((client) => client.sync());
      }
      await world.settle();
      await world.hold();
      for (const device of world.devices) device.kept.close();
    }), { numRuns, seed, ...(process.env.NEXUS_PATH && { path: process.env.NEXUS_PATH }), endOnFailure: !process.env.NEXUS_SHRINK, includeErrorInReport: true });
  });
}
