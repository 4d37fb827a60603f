// What a client does in single cases, against answers that each test writes down.
import assert from "node:assert/strict";
import test from "node:test";
import { Server } from "./server.js";
import { source } from "./setup.js";

const { open } = await source("client.js");
const { memoryStore } = await source("memory.js");
const { digest, stateOf } = await source("sync.js");

const start = Date.parse("2026-11-23T08:00:00Z"), hour = 3_600_000, day = 24 * hour;

/**
 * A client and a list of what it asked. `answers` are functions of the request by "METHOD /path"; the first whose key the
 * request begins with answers. Without one, nothing has changed, and there is no user.
 */
async function device(answers = {}, options = {}) {
  const asked = [], store = options.store ?? memoryStore(), clock = { now: start };
  const defaults = {
    "GET /v1/changes?since": () => ({ changes: [], next: "t", more: false }),
    "GET /v1/changes": () => ({ items: [{ type: "USER_META", id: "ann", version: 0, item: { defaultTzid: "UTC" } }], next: "t" }),
  };
  const fetch = async (url, { method, body, headers }) => {
    const path = url.slice("http://api".length), request = { method, path, headers, body: body && JSON.parse(body) };
    asked.push(request);
    const all = { ...answers, ...defaults, ...answers };
    const key = Object.keys(all).filter((key) => `${method} ${path}`.startsWith(key)).sort((a, b) => b.length - a.length)[0];
    const answer = key ? await all[key](request) : { status: 404 };
    const { status = 200, type, header = {}, ...json } = answer;
    return new Response(status === 304 || status === 204 ? null : JSON.stringify({ status, ...(type && { type }), ...json }), {
      status, headers: { Date: new Date(clock.now).toUTCString(), ...header },
    });
  };
  let keys = 0;
  const client = await open({
    api: "http://api", issuer: "i", user: "ann", token: () => "secret", store, fetch, locks: null, channel: null,
    now: () => clock.now, newKey: () => `k${++keys}`, ...options,
  });
  return { client, asked, store, clock, answers };
}
/** holding is a device whose copy has these changes. */
const holding = (changes, answers, options) =>
  device({ "GET /v1/changes": () => ({ items: changes, next: "t" }), "GET /v1/changes?since": () => ({ changes: [], next: "t", more: false }), ...answers }, options);
const task = (version, more = {}) => ({ entityType: "TASK", taskId: "task_1", title: "a", status: "TODO", version, ...more });
const taskChange = (version, more) => ({ type: "TASK", id: "task_1", version, item: task(version, more) });
const commands = (asked) => asked.filter(({ path }) => path === "/v1/commands").map(({ body }) => body.commands);
/** results answers each command of a batch by a function of it. */
const results = (run) => ({ body }) => ({ results: body.commands.map((command, i) => ({ id: command.id, ...run(command, i) })) });

test("the first sync takes a snapshot; each request names the user", async () => {
  const { client, asked } = await holding([taskChange(3)]);
  await client.sync();
  assert.deepEqual((await client.items("TASK")).map(({ id, version, item }) => [id, version, item.title]), [["task_1", 3, "a"]]);
  assert(asked.every(({ headers }) => headers.Authorization === "Bearer secret"));
  assert.equal(client.status().state, "synced");
});

test("a patch has the fields that its user changed, no others, under the version that was seen", async () => {
  const { client, asked } = await holding([taskChange(3, { priority: "HIGH" })], {
    "POST /v1/commands": results(() => ({ status: 200, version: 4, entity: task(4, { title: "b", priority: "HIGH" }) })),
  });
  await client.sync();
  await client.edit("task_1", { title: "b" });
  assert.deepEqual([(await client.get("task_1")).item.title, (await client.get("task_1")).waiting], ["b", true], "it is shown at once");
  await client.sync();
  assert.deepEqual(commands(asked), [[{ id: "k1", type: "UpdateTask", data: { taskId: "task_1", title: "b" }, expectedVersion: 3 }]]);
  assert.deepEqual([(await client.get("task_1")).version, await client.waiting()], [4, []]);
});

test("commands on one entity are a chain, and the next batch names the number", async () => {
  let throttled = true;
  const { client, asked } = await holding([], {
    "POST /v1/commands": results(({ type }, i) => throttled && i === 2 ? { status: 503, problem: { status: 503 } }
      : { status: 200, version: 10 + i, entity: task(99) }),
  });
  await client.sync();
  const id = await client.create("TASK", { title: "a" });
  await client.edit(id, { title: "b" });
  await client.edit(id, { title: "c" });
  await client.sync();
  throttled = false;
  await client.sync();
  const [first, second] = commands(asked);
  assert.deepEqual(first.map(({ id, expectedAfter, expectedVersion }) => [id, expectedAfter, expectedVersion]),
    [["k1", undefined, undefined], ["k2", "k1", undefined], ["k3", "k2", undefined]]);
  assert.deepEqual(second.map(({ id, expectedVersion }) => [id, expectedVersion]), [["k3", 11]],
    "the version that the command made, not that of the entity in its answer");
});

test("what was sent is sent again unchanged until it is answered", async () => {
  let lost = true;
  const { client, asked } = await holding([taskChange(3)], {
    "POST /v1/commands": async (request) => {
      if (lost) throw new TypeError("lost");
      return results((_, i) => ({ status: 200, version: 4 + i, entity: task(4 + i) }))(request);
    },
  });
  await client.sync();
  await client.edit("task_1", { title: "b" });
  await assert.rejects(client.sync(), { state: "offline" });
  lost = false;
  await client.edit("task_1", { title: "c" });
  await client.sync();
  const [first, second] = commands(asked);
  assert.deepEqual(second[0], first[0]);
  assert.equal(second.length, 2);
});

test("a 412 merges all that waits on the entity; what is left goes out with new keys", async () => {
  let calls = 0;
  const { client, asked } = await holding([taskChange(3, { priority: "LOW" })], {
    "POST /v1/commands": results((_, i) => calls++ < 3 ? (i ? { status: 424, problem: { status: 424 } }
      : { status: 412, problem: { status: 412, currentVersion: 7, current: task(7, { title: "theirs", priority: "LOW" }) } })
      : { status: 200, version: 8 + i, entity: task(8 + i, { title: "theirs" }) }),
  });
  await client.sync();
  await client.edit("task_1", { title: "mine", color: "amber" });
  await client.edit("task_1", { priority: "HIGH" });
  await client.edit("task_1", { title: "mine again" });
  await client.sync();
  assert.deepEqual(commands(asked)[1].map(({ id, data, expectedVersion, expectedAfter }) => [id, data, expectedVersion, expectedAfter]), [
    ["k4", { color: "amber", taskId: "task_1" }, 7, undefined],
    ["k5", { priority: "HIGH", taskId: "task_1" }, undefined, "k4"],
  ]);
  assert.deepEqual((await client.refused()).map(({ patch, current }) => [patch, current.title]),
    [[{ title: "mine" }, "theirs"], [{ title: "mine again" }, "theirs"]]);
});

test("what was received since the edit is no base of it", async () => {
  let changes = [], refuse = true;
  const { client } = await holding([taskChange(3)], {
    "GET /v1/changes?since": () => ({ changes, next: "t2", more: false }),
    "POST /v1/commands": results(() => refuse ? { status: 503, problem: { status: 503 } }
      : { status: 412, problem: { status: 412, currentVersion: 5, current: task(5, { title: "theirs" }) } }),
  });
  await client.sync();
  await client.edit("task_1", { title: "mine" });
  changes = [taskChange(5, { title: "theirs" })];
  await client.sync();
  refuse = false;
  await client.sync();
  assert.deepEqual((await client.refused()).map(({ patch }) => patch), [{ title: "mine" }]);
  assert.equal((await client.get("task_1")).item.title, "theirs");
});

test("an edit of a form that was opened earlier is merged with what came since", async () => {
  let changes = [];
  const { client } = await holding([taskChange(3)], { "GET /v1/changes?since": () => ({ changes, next: "t2", more: false }) });
  await client.sync();
  const saw = await client.get("task_1");
  changes = [taskChange(4, { title: "theirs", tags: ["x"] })];
  await client.sync();
  await client.edit("task_1", { title: "mine", tags: ["y"], priority: "HIGH" }, saw);
  const { item } = await client.get("task_1");
  assert.deepEqual([item.title, item.tags, item.priority], ["theirs", ["x", "y"], "HIGH"]);
  assert.deepEqual((await client.refused()).map(({ patch }) => patch), [{ title: "mine" }]);
});

test("edited there, deleted here: it stays, and the deletion is shown", async () => {
  const { client, asked } = await holding([taskChange(3)], {
    "POST /v1/commands": results(() => ({ status: 412, problem: { status: 412, currentVersion: 4, current: task(4, { title: "b" }) } })),
  });
  await client.sync();
  await client.remove("task_1");
  assert.equal(await client.get("task_1"), undefined);
  await client.sync();
  assert.equal((await client.get("task_1")).item.title, "b");
  assert.deepEqual((await client.refused()).map(({ kind, problem }) => [kind, problem.status]), [["delete", 412]]);
  assert.equal(commands(asked).length, 1);
});

test("deleted there, edited here: the edits are shown; deleted on both sides: nothing is", async () => {
  const { client } = await holding([taskChange(3)], {
    "POST /v1/commands": results(() => ({ status: 410, problem: { status: 410, reason: "deleted" } })),
  });
  await client.sync();
  await client.edit("task_1", { title: "b" });
  await client.edit("task_1", { priority: "LOW" });
  await client.remove("task_1");
  await client.sync();
  assert.deepEqual((await client.refused()).map(({ patch, problem }) => [patch, problem.reason]),
    [[{ title: "b" }, "deleted"], [{ priority: "LOW" }, "deleted"]]);
  assert.deepEqual(await client.waiting(), []);
});

for (const [status, state] of [[401, "unauthorized"], [408, "busy"], [429, "busy"], [503, "busy"], [500, "busy"]]) {
  test(`a ${status} leaves the outbox as it is`, async () => {
    const whole = await holding([taskChange(3)], { "POST /v1/commands": () => ({ status, header: { "Retry-After": "7" } }) });
    await whole.client.sync();
    await whole.client.edit("task_1", { title: "b" });
    await assert.rejects(whole.client.sync(), { state, retryAfter: 7 });
    assert.deepEqual([(await whole.client.waiting()).length, await whole.client.refused()], [1, []]);

    const one = await holding([taskChange(3)], { "POST /v1/commands": results(() => ({ status, problem: { status } })) });
    await one.client.sync();
    await one.client.edit("task_1", { title: "b" });
    await one.client.sync();
    assert.deepEqual([(await one.client.waiting()).length, await one.client.refused()], [1, []]);
  });
}

for (const type of ["/problems/quota-reached", "/problems/history-full"]) {
  test(`${type} is shown as refused, also of a create that was sent before`, async () => {
    let lost = true;
    const { client } = await holding([], {
      "POST /v1/commands": async (request) => {
        if (lost) throw new TypeError("lost");
        return results(() => ({ status: 409, problem: { status: 409, type, quota: "notes", limit: 10, used: 10 } }))(request);
      },
    });
    await client.sync();
    await client.create("NOTE", { title: "n" });
    await assert.rejects(client.sync(), { state: "offline" });
    lost = false;
    await client.sync();
    assert.deepEqual(await client.waiting(), []);
    assert.deepEqual((await client.refused()).map(({ problem }) => [problem.type, problem.quota, problem.limit, problem.used]),
      [[type, "notes", 10, 10]]);
  });
}

for (const status of [424, 428]) {
  test(`a ${status} of one command leaves it where it is`, async () => {
    const { client } = await holding([taskChange(3)], { "POST /v1/commands": results(() => ({ status, problem: { status } })) });
    await client.sync();
    await client.edit("task_1", { title: "b" });
    await client.sync();
    assert.deepEqual([(await client.waiting()).length, await client.refused()], [1, []]);
  });
}

for (const type of ["/problems/account-leaving", "/problems/account-erased"]) {
  test(`${type} keeps the copy and the outbox`, async () => {
    const problem = { status: 403, type, detail: "It is to be erased at 2027-01-08T09:00:00Z." };
    for (const answer of [() => problem, results(() => ({ status: 403, problem }))]) {
      const { client } = await holding([taskChange(3)], { "POST /v1/commands": answer });
      await client.sync();
      await client.edit("task_1", { title: "b" });
      await assert.rejects(client.sync(), { state: "leaving", message: problem.detail });
      assert.match(client.status().message, /2027-01-08/);
      assert.deepEqual([(await client.waiting()).length, await client.refused()], [1, []]);
      assert.equal((await client.get("task_1")).item.title, "b");
    }
  });
}

test("a stuck command stops what depends on it, nothing else", async () => {
  const note = { type: "NOTE", id: "note_1", version: 1, item: { entityType: "NOTE", noteId: "note_1", title: "n", version: 1 } };
  const { client } = await holding([taskChange(3), note], {
    "POST /v1/commands": results(({ type, data }) => type === "UpdateTask" ? { status: 500, problem: { status: 500 } }
      : { status: 200, version: 2, entity: { ...note.item, title: data.title, version: 2 } }),
  });
  await client.sync();
  await client.edit("task_1", { title: "b" });
  await client.edit("note_1", { title: "m" });
  await client.sync();
  assert.deepEqual((await client.waiting()).map(({ id }) => id), ["task_1"]);
  assert.equal((await client.get("note_1")).version, 2);
});

test("a body that is too large is cut; one command that is too large is refused", async () => {
  const { client, asked } = await holding([], {
    "POST /v1/commands": (request) => request.body.commands.length > 2 ? { status: 413 }
      : request.body.commands.some(({ data }) => data.title === "huge") && request.body.commands.length > 1 ? { status: 413 }
      : request.body.commands[0].data.title === "huge" ? { status: 413 }
      : results(({ data }) => ({ status: 201, version: 1, entity: task(1, data) }))(request),
  });
  await client.sync();
  for (const title of ["1", "2", "3", "huge", "5"]) await client.create("TASK", { title });
  await client.sync();
  assert.deepEqual([await client.waiting(), (await client.refused()).map(({ data, problem }) => [data.title, problem.status])], [[], [["huge", 413]]]);
  assert(commands(asked).length < 12);
});

test("a command that was sent 80 days ago is shown, not sent", async () => {
  const { client, asked, clock } = await holding([taskChange(3)], { "POST /v1/commands": () => ({ status: 503 }) });
  await client.sync();
  await client.edit("task_1", { title: "b" });
  await client.sync().catch(() => {});
  clock.now += 81 * day;
  await client.sync();
  assert.equal(commands(asked).length, 1);
  assert.deepEqual((await client.refused()).map(({ patch, problem }) => [patch, problem.status]), [[{ title: "b" }, 0]]);
});

test("an entity of no known type is refused at once", async () => {
  const { client } = await holding([], {});
  await assert.rejects(client.create("TSAK", { title: "b" }), /there is no TSAK to create/);
  assert.deepEqual(await client.waiting(), []);
});

test("an edit that was never sent waits for as long as there is no network", async () => {
  const { client, asked, clock } = await holding([taskChange(3)], {
    "POST /v1/commands": results(() => ({ status: 200, version: 4, entity: task(4, { title: "b" }) })),
  });
  await client.sync();
  await client.edit("task_1", { title: "b" });
  clock.now += 200 * day;
  await client.sync();
  assert.deepEqual([commands(asked).length, await client.waiting(), await client.refused()], [1, [], []]);
});

test("a change that came without its item is asked for before its token is kept", async () => {
  let broken = true;
  const { client, store } = await holding([taskChange(3)], {
    "GET /v1/changes?since=t": () => ({ changes: [{ type: "TASK", id: "task_1", version: 9, omitted: true }], next: "t2", more: false }),
    "GET /v1/changes?since=t2": () => ({ changes: [], next: "t2", more: false }),
    "GET /v1/tasks/task_1": () => (broken ? { status: 503 } : { ...task(9, { title: "long" }), status: undefined }),
  });
  await assert.rejects(client.sync(), { state: "busy" });
  assert.equal((await store.read((tx) => tx.get("meta", "state"))).token, "t");
  broken = false;
  await client.sync();
  assert.deepEqual([(await client.get("task_1")).item.title, (await store.read((tx) => tx.get("meta", "state"))).token], ["long", "t2"]);
});

test("an item ends at its instant by the server's clock, and a completed task is archived at its own", async () => {
  const ends = { ttl: (start + hour) / 1000 }, done = { status: "COMPLETED", archiveAt: new Date(start + hour).toISOString() };
  const { client, clock } = await holding([taskChange(3, ends), { ...taskChange(3, done), id: "task_2" }], {}, { now: () => clock.now - 90 * day });
  await client.sync();
  assert.deepEqual((await client.items("TASK")).map(({ id, item }) => [id, item.status]), [["task_1", "TODO"], ["task_2", "COMPLETED"]]);
  clock.now += hour;
  assert.deepEqual((await client.items("TASK")).map(({ id, item }) => [id, item.status]), [["task_2", "ARCHIVED"]]);
});

test("at the same version the later page counts: it may bring an end", async () => {
  let changes = [];
  const { client } = await holding([taskChange(3)], { "GET /v1/changes?since": () => ({ changes, next: "t2", more: false }) });
  await client.sync();
  changes = [taskChange(3, { ttl: (start - hour) / 1000 })];
  await client.sync();
  assert.deepEqual(await client.items("TASK"), []);
  changes = [taskChange(2)];
  await client.sync();
  assert.deepEqual(await client.items("TASK"), [], "a lower version never counts");
});

const master = { type: "MASTER", id: "mst_1", version: 2, item: { entityType: "MASTER", masterId: "mst_1", eventId: "mst_1", title: "m", rrule: "FREQ=DAILY", version: 2 } };
const instance = (version, more = {}) => ({
  entityType: "INSTANCE", eventId: "inst_20261201_1", masterId: "mst_1", recurrenceId: "r", startUtc: "s", isAllDay: false, title: "m",
  location: "of the series", status: "CONFIRMED", version, ...more,
});

test("of an occurrence the copy has what is its own, and all times with one of them; undone, it has none", async () => {
  let answer = instance(1, { title: "own", modifiedFields: ["title"] });
  const { client, asked, store } = await holding([master], { "POST /v1/commands": results(() => ({ status: 200, version: answer.version, entity: answer })) });
  await client.sync();
  await client.occurrence("mst_1", "20261201", { title: "own" });
  await client.sync();
  assert.deepEqual(commands(asked)[0], [{ id: "k1", type: "PutInstance", data: { masterId: "mst_1", date: "20261201", title: "own" }, expectedVersion: 2, ofSeries: true }]);
  const held = (await client.items("INSTANCE"))[0].item;
  assert.deepEqual([held.title, held.startUtc, "location" in held, "recurrenceId" in held], ["own", undefined, false, false]);
  answer = instance(4, { title: "own", endUtc: "e", modifiedFields: ["title", "endUtc"] });
  await client.occurrence("mst_1", "20261201", { title: "own", endUtc: "e" });
  await client.sync();
  const moved = (await client.items("INSTANCE"))[0].item;
  assert.deepEqual([moved.title, moved.startUtc, moved.endUtc, moved.isAllDay, "location" in moved], ["own", "s", "e", false, false]);
  answer = instance(5);
  await client.occurrence("mst_1", "20261201", {});
  await client.sync();
  assert.deepEqual(commands(asked)[2], [{ id: "k3", type: "PutInstance", data: { masterId: "mst_1", date: "20261201" }, expectedVersion: 4 }]);
  assert.deepEqual(await client.items("INSTANCE"), []);
  const kept = (await store.read((tx) => tx.all("items"))).find(({ type }) => type === "INSTANCE");
  assert.deepEqual([kept.gone, kept.item, kept.version], [true, undefined, 5]);
});

test("an occurrence follows its series in a batch; refused with it, it is shown with it", async () => {
  const { client, asked } = await holding([master], { "POST /v1/commands": results(() => ({ status: 422, problem: { status: 422 } })) });
  await client.sync();
  await client.edit("mst_1", { title: "n" });
  await client.occurrence("mst_1", "20261201", { title: "own" });
  await client.sync();
  assert.deepEqual(commands(asked)[0].map(({ id, expectedVersion, expectedAfter }) => [id, expectedVersion, expectedAfter]), [["k1", 2, undefined], ["k2", undefined, "k1"]]);
  assert.deepEqual([(await client.refused()).map(({ type }) => type), await client.waiting()], [["UpdateSeries", "PutInstance"], []]);
});

test("an occurrence that follows its series is sent under the version of the series, and says so", async () => {
  const answers = [
    [{ status: 200, version: 3, entity: { ...master.item, version: 3 } }, { status: 503, problem: { status: 503 } }],
    [{ status: 412, problem: { status: 412, currentVersion: 3, current: instance(3, { color: "c", modifiedFields: ["color"] }) } }],
    [{ status: 200, version: 4, entity: instance(4, { modifiedFields: ["title", "color"] }) }],
  ];
  const { client, asked } = await holding([master], {
    "POST /v1/commands": (request) => {
      const [one] = answers.splice(0, 1);
      return results((_, i) => one[i])(request);
    },
  });
  await client.sync();
  await client.edit("mst_1", { title: "n" });
  await client.occurrence("mst_1", "20261201", { title: "own" });
  for (let n = 0; n < 5 && answers.length; n++) await client.sync();
  assert.deepEqual(commands(asked).map((batch) => batch.map(({ expectedVersion, expectedAfter, ofSeries }) => [expectedVersion, expectedAfter, ofSeries])),
    [[[2, undefined, undefined], [undefined, "k1", undefined]], [[3, undefined, true]], [[3, undefined, undefined]]]);
});

test("an occurrence that was changed on both sides merges what is its own", async () => {
  let stale = true;
  const { client, asked } = await holding([master, { type: "INSTANCE", id: "inst_20261201_1", version: 1, item: instance(1, { modifiedFields: ["title"], title: "a" }) }], {
    "POST /v1/commands": results(() => {
      if (!stale) return { status: 200, version: 5, entity: instance(5, { modifiedFields: ["title", "location", "color"] }) };
      stale = false;
      return { status: 412, problem: { status: 412, currentVersion: 4, current: instance(4, { title: "a", color: "c", modifiedFields: ["title", "color"] }) } };
    }),
  });
  await client.sync();
  await client.occurrence("mst_1", "20261201", { title: "a", location: "here" });
  await client.sync();
  assert.deepEqual(commands(asked)[1], [{
    id: "k2", type: "PutInstance", data: { masterId: "mst_1", date: "20261201", title: "a", color: "c", location: "here" }, expectedVersion: 4,
  }]);
  assert.deepEqual(await client.refused(), []);
});

test("an edit of a series whose occurrences changed there is shown only", async () => {
  for (const moved of [false, true]) {
    let stale = true;
    const { client } = await holding([master], {
      "POST /v1/commands": results(() => {
        if (!stale) return { status: 200, version: 4, entity: { ...master.item, version: 4 } };
        stale = false;
        return { status: 412, problem: { status: 412, currentVersion: 3, current: { ...master.item, color: "c", version: 3 } } };
      }),
      "GET /v1/series/mst_1": () => ({ master: master.item, instances: moved ? [instance(1, { modifiedFields: ["title"] })] : [] }),
    });
    await client.sync();
    await client.edit("mst_1", { title: "n" });
    await client.sync();
    assert.deepEqual((await client.refused()).map(({ patch }) => patch), moved ? [{ title: "n" }] : []);
  }
});

test("an occurrence without its series is shown nowhere", async () => {
  const { client } = await holding([{ type: "INSTANCE", id: "inst_20261201_1", version: 1, item: instance(1, { modifiedFields: ["title"] }) }]);
  await client.sync();
  assert.deepEqual(await client.items("INSTANCE"), []);
});

test("the agenda is asked for again when something that the server expands has changed", async () => {
  let changes = [];
  const { client, asked } = await holding([{ type: "USER_META", id: "ann", version: 1, item: { defaultTzid: "UTC", version: 1 } }], {
    "GET /v1/changes?since": () => ({ changes, next: `t${changes[0]?.version ?? ""}`, more: false }),
    "GET /v1/agenda": ({ headers }) => headers["If-None-Match"] === '"a"' ? { status: 304 }
      : { items: [{ entityType: "EVENT", title: "one" }, { entityType: "INSTANCE", masterId: "mst_1", title: "occurrence" }], header: { ETag: '"a"' } },
  }, { agenda: true });
  const times = async (...next) => {
    changes = next;
    asked.length = 0;
    await client.sync();
    return asked.filter(({ path }) => path.startsWith("/v1/agenda")).length;
  };
  assert.equal(await times(), 1);
  assert.deepEqual((await client.occurrences()).map(({ title }) => title), ["occurrence"]);
  assert.equal(await times(), 0);
  assert.equal(await times(taskChange(3)), 0);
  assert.equal(await times({ type: "USER_META", id: "ann", version: 2, item: { defaultTzid: "UTC", version: 2 } }), 0);
  assert.equal(await times({ type: "USER_META", id: "ann", version: 3, item: { defaultTzid: "Europe/Paris", version: 3 } }), 1, "another zone");
  assert.equal(await times(master), 1, "a series");
  assert.equal(await times({ type: "INSTANCE", id: "inst_20261201_1", version: 1, item: instance(1) }), 1, "an occurrence");
  assert.equal(await times({ type: "REMINDER", id: "rem_1", version: 1, item: { rrule: "FREQ=DAILY" } }), 1, "a recurring reminder");
  assert.equal(await times({ type: "REMINDER", id: "rem_1", version: 2, gone: true }), 1, "a recurring reminder that is gone");
  assert.equal(await times({ type: "REMINDER", id: "rem_2", version: 1, item: {} }), 0);
  assert.deepEqual((await client.occurrences()).map(({ title }) => title), ["occurrence"]);
});

test("two checks a minute apart must differ before a copy is replaced, and once a day", async () => {
  let served = [taskChange(3)];
  const { client, asked, clock } = await holding([taskChange(3)], {
    "GET /v1/changes": () => ({ items: served, next: "t" }),
    "GET /v1/changes?since": () => ({ changes: [], next: "t", more: false }),
    "GET /v1/changes/check": async () => digest(served),
  });
  const snapshots = () => asked.filter(({ path }) => path === "/v1/changes").length;
  await client.sync();
  await client.check();
  clock.now += 2 * day;
  served = [taskChange(4)]; // which the log has forgotten
  await client.check();
  assert.equal(snapshots(), 1);
  clock.now += 59_000;
  await client.sync();
  assert.equal(snapshots(), 1);
  clock.now += 2000;
  await client.sync();
  assert.equal(snapshots(), 2);
  assert.equal((await client.get("task_1")).version, 4);
  served = [taskChange(5)];
  for (let i = 0; i < 5; i++) {
    await client.check();
    clock.now += 2 * 60_000;
  }
  assert.equal(snapshots(), 2, "at most once a day");
});

test("a check that a pull overtakes decides nothing", async () => {
  const { client, asked, clock } = await holding([taskChange(3)], {
    "GET /v1/changes?since": () => ({ changes: [taskChange(3)], next: "t", more: false }),
    "GET /v1/changes/check": () => ({ count: 9, digest: "" }),
  });
  await client.sync();
  for (let i = 0; i < 4; i++) {
    clock.now += 2 * day;
    await client.check();
  }
  assert.equal(asked.filter(({ path }) => path === "/v1/changes").length, 1);
});

test("after 30 days the copy is checked", async () => {
  const { client, asked, clock } = await holding([taskChange(3)], { "GET /v1/changes/check": async () => digest([taskChange(3)]) });
  const checks = () => asked.filter(({ path }) => path.startsWith("/v1/changes/check")).length;
  await client.sync();
  clock.now += 29 * day;
  await client.sync();
  assert.equal(checks(), 0);
  clock.now += 2 * day;
  await client.sync();
  await client.sync();
  assert.equal(checks(), 1);
});

test("a text that is no token is an error, and costs nothing", async () => {
  const { client } = await holding([taskChange(3)], { "GET /v1/changes?since": () => ({ status: 400 }) });
  await assert.rejects(client.sync(), { state: "error" });
  assert.equal((await client.items("TASK")).length, 1);
});

test("a reset keeps the old copy until the new one is whole, and the outbox", async () => {
  const pages = [];
  const { client } = await holding([taskChange(3)], {
    "GET /v1/changes?since=t": () => (pages.length ? { status: 410, type: "/problems/sync-reset", reason: "form" } : { changes: [], next: "t", more: false }),
    "GET /v1/changes?since=u": () => ({ changes: [], next: "u", more: false }),
    "GET /v1/changes?cursor": () => pages[1](),
    "GET /v1/changes": () => (pages.length ? pages[0]() : { items: [taskChange(3)], next: "t" }),
    "POST /v1/commands": () => ({ status: 503 }),
  });
  await client.sync();
  await client.edit("task_1", { title: "mine" });
  pages.push(() => ({ items: [taskChange(7, { title: "new", priority: "LOW" })], cursor: "c" }), () => ({ status: 503 }));
  await assert.rejects(client.sync());
  assert.deepEqual([(await client.get("task_1")).version, (await client.get("task_1")).item.title], [3, "mine"]);
});

test("a reset goes on where it was left, and is exchanged whole", async () => {
  let until = 1;
  const { client, asked } = await device({
    "GET /v1/changes?cursor=c": () => (until-- > 0 ? { status: 429, header: { "Retry-After": "9" } } : { items: [taskChange(3)], next: "t" }),
    "GET /v1/changes": () => ({ items: [{ type: "NOTE", id: "note_1", version: 1, item: { title: "n" } }], cursor: "c" }),
    "GET /v1/changes?since": () => ({ changes: [], next: "t", more: false }),
  });
  await assert.rejects(client.sync(), { state: "busy", retryAfter: 9 });
  assert.deepEqual(await client.items(), []);
  await client.sync();
  assert.deepEqual((await client.items()).map(({ id }) => id), ["note_1", "task_1"]);
  assert.deepEqual(asked.map(({ path }) => path).slice(0, 3), ["/v1/changes", "/v1/changes?cursor=c", "/v1/changes?cursor=c"]);
});

test("a restored table: the copy is the server's, the outbox is merged with it", async () => {
  const server = new Server(), store = memoryStore();
  const options = { api: "http://model", issuer: "i", user: "ann", token: () => "t", store, locks: null, channel: null, now: () => server.now };
  const client = await open({ ...options, fetch: (url, init) => server.fetch(url, init) });
  await client.sync();
  const id = await client.create("NOTE", { title: "kept", body: "" });
  await client.sync();
  server.append(9);
  const copy = server.copyTable();
  await client.edit(id, { body: "lost with the table" });
  await client.sync();
  server.append(9);
  await client.sync();
  await client.edit(id, { title: "made on it" });
  server.restoreTable(copy);
  server.log.push({ n: 2, x: "7", entries: [], at: server.now });
  await client.sync();
  await client.sync();
  assert.deepEqual([(await client.get(id)).item.title, (await client.get(id)).item.body], ["made on it", ""]);
});

test("syncs that are asked for while one runs share the next", async () => {
  const { client, asked } = await holding([]);
  await Promise.all([client.sync(), client.sync(), client.sync(), client.sync()]);
  assert.equal(asked.filter(({ path }) => path.startsWith("/v1/changes?since")).length, 2);
});

test("a page and its token are kept together or not at all", async () => {
  const kept = memoryStore();
  const store = {
    ...kept,
    write: (run) => kept.write((tx) => run({
      ...tx, put(table, key, value) {
        if (table === "items" && value.version === 9) throw new Error("the disk is full");
        tx.put(table, key, value);
      },
    })),
  };
  const { client } = await holding([taskChange(3)], {
    "GET /v1/changes?since=t": () => ({ changes: [taskChange(9)], next: "t2", more: false }),
    "GET /v1/changes?since=t2": () => ({ changes: [], next: "t2", more: false }),
  }, { store });
  await assert.rejects(client.sync(), /full/);
  assert.equal((await kept.read((tx) => tx.get("meta", "state"))).token, "t");
});

test("a late answer does not bring back what a pull has removed", async () => {
  const store = memoryStore();
  const { pull } = await source("sync.js");
  let isReset = false;
  const tab = {
    store, types: "", now: () => start, changed() {},
    request: async (_, path) => path === "/v1/changes" ? { status: 200, json: { items: [], next: "u" } }
      : path.endsWith("=t") ? { status: 410 } : { status: 200, json: { changes: [], next: "u", more: false } },
  };
  const { client, asked } = await holding([taskChange(3)], {
    "POST /v1/commands": async (request) => {
      isReset = true;
      await pull(tab);
      return results(() => ({ status: 200, version: 4, entity: task(4) }))(request);
    },
    "GET /v1/changes?since": () => (isReset ? { changes: [], next: "u", more: false } : { changes: [], next: "t", more: false }),
    "GET /v1/tasks/task_1": () => ({ status: 410 }),
  }, { store });
  await client.sync();
  await client.edit("task_1", { title: "b" });
  await client.sync();
  assert.deepEqual([await client.items("TASK"), await client.waiting()], [[], []]);
  assert.equal(asked.filter(({ path }) => path === "/v1/tasks/task_1").length, 1);
});

test("a create that finds its own id was carried out when its answer was lost", async () => {
  let calls = 0;
  const { client } = await holding([], {
    "POST /v1/commands": (request) => {
      if (calls++ === 0) throw new TypeError("lost");
      return results(() => ({ status: 409, problem: { status: 409 } }))(request);
    },
    "GET /v1/tasks/": ({ path }) => ({ ...task(1), taskId: path.split("/").at(-1), status: undefined }),
  });
  await client.sync();
  const id = await client.create("TASK", { title: "a" });
  await client.sync().catch(() => {});
  await client.sync();
  assert.deepEqual([(await client.get(id)).version, await client.waiting(), await client.refused()], [1, [], []]);
});

test("a create that finds its id taken at once is refused", async () => {
  const { client } = await holding([], { "POST /v1/commands": results(() => ({ status: 409, problem: { status: 409 } })) });
  await client.sync();
  await client.create("TASK", { title: "a" });
  await client.sync();
  assert.deepEqual((await client.refused()).map(({ kind }) => kind), ["create"]);
});

test("a cancellation goes on if what is the occurrence's own is what its user saw, and else is shown", async () => {
  for (const [current, refused] of [[instance(9, { title: "of the series now" }), 0], [instance(9, { title: "own", modifiedFields: ["title"] }), 1]]) {
    let stale = true;
    const { client, asked } = await holding([master], {
      "POST /v1/commands": results(() => {
        if (!stale) return { status: 200, version: 10, entity: instance(10, { status: "CANCELLED", modifiedFields: ["status"] }) };
        stale = false;
        return { status: 412, problem: { status: 412, currentVersion: 9, current } };
      }),
    });
    await client.sync();
    await client.occurrence("mst_1", "20261201", null);
    await client.sync();
    assert.deepEqual([(await client.refused()).length, commands(asked).length], [refused, 2 - refused]);
    if (!refused) assert.equal(commands(asked)[1][0].expectedVersion, 9);
  }
});

test("a snapshot under way does not show what was before an answer", async () => {
  let isReset = false, rest = () => ({ status: 503 });
  const { client } = await device({
    "GET /v1/changes?since=t": () => (isReset ? { status: 410, type: "/problems/sync-reset", reason: "form" } : { changes: [], next: "t", more: false }),
    "GET /v1/changes?since=u": () => ({ status: 503 }),
    "GET /v1/changes?cursor": () => rest(),
    "GET /v1/changes": () => (isReset ? { items: [taskChange(3)], cursor: "c" } : { items: [taskChange(3)], next: "t" }),
    "POST /v1/commands": results(() => ({ status: 200, version: 4, entity: task(4, { title: "mine" }) })),
  });
  await client.sync();
  isReset = true;
  await assert.rejects(client.sync());
  await client.edit("task_1", { title: "mine" });
  await assert.rejects(client.sync());
  rest = () => ({ items: [], next: "u" });
  await assert.rejects(client.sync(), "the snapshot is exchanged, and the pull behind it is lost");
  assert.equal((await client.get("task_1")).item.title, "mine");
});

test("the first page of a snapshot does not hide an answer that came before it", async () => {
  const store = memoryStore();
  let isReset = false;
  const other = await device({
    "GET /v1/changes?since": () => ({ status: 503 }),
    "POST /v1/commands": results(() => ({ status: 200, version: 4, entity: task(4, { title: "mine" }) })),
  }, { store });
  const pages = [async () => ({ items: [taskChange(3)], next: "t" }), async () => {
    await other.client.edit("task_1", { title: "mine" });
    await assert.rejects(other.client.sync(), "another tab pushes, and its pull is lost");
    return { items: [taskChange(3)], next: "u" }; // which was read before that
  }, async () => ({ items: [taskChange(4, { title: "mine" })], next: "u" })];
  const { client } = await device({
    "GET /v1/changes?since=t": () => (isReset ? { status: 410, type: "/problems/sync-reset", reason: "form" } : { changes: [], next: "t", more: false }),
    "GET /v1/changes?since=u": () => ({ status: 503 }),
    "GET /v1/changes": () => pages.shift()(),
  }, { store });
  await client.sync();
  isReset = true;
  await assert.rejects(client.sync(), "the pull behind the snapshot is lost");
  assert.deepEqual([(await client.get("task_1")).item.title, (await client.waiting()).length], ["mine", 0]);
});

test("a snapshot that was left does not show what was before a page that came since", async () => {
  let form = 1, change = [], first = { items: [], cursor: "c" };
  const { client } = await device({
    "GET /v1/changes?since=u": () => ({ status: 503 }),
    "GET /v1/changes?since": () => (form > 1 ? { status: 410, type: "/problems/sync-reset", reason: "form" } : { changes: change, next: change.length ? "s" : "t", more: false }),
    "GET /v1/changes?cursor": () => (form === 2 ? { status: 503 } : { items: [], next: "u" }),
    "GET /v1/changes": () => (form > 1 ? first : { items: [taskChange(3)], next: "t" }),
  });
  await client.sync();
  form = 2;
  first = { items: [taskChange(3)], cursor: "c" };
  await assert.rejects(client.sync(), "the second page is lost");
  form = 1; // the release is rolled back
  change = [taskChange(4)];
  await client.sync();
  assert.equal((await client.get("task_1")).version, 4);
  form = 3;
  first = { items: [taskChange(4)], cursor: "c" };
  await assert.rejects(client.sync(), "the snapshot is exchanged, and the pull behind it is lost");
  assert.equal((await client.get("task_1")).version, 4);
});

test("an exception that came without its item, and that its GET does not show, is asked for again with its series", async () => {
  const id = "inst_20261201_1", type = "INSTANCE", log = [[{ type, id, version: 2, omitted: true }]];
  let shown = { status: 404 };
  const { client, store } = await device({
    "GET /v1/changes?since": () => ({ changes: log[0] ?? [], next: `t${log.length}`, more: log.splice(0, 1).length > 1 }),
    [`GET /v1/events/${id}`]: () => shown,
  });
  const held = () => store.read(async (tx) => (await tx.all("items", (await stateOf(tx)).generation)).filter((one) => one.type === type));
  await client.sync();
  await client.sync();
  assert.deepEqual([await client.items(type), (await held()).length, (await digest(await held())).count], [[], 1, 1], "it counts, and is not shown");
  const item = { entityType: type, eventId: id, masterId: "mst_1", title: "b", modifiedFields: ["title"], version: 2 };
  shown = item; // the split that made its series is committed
  log.push([{ type: "MASTER", id: "mst_1", version: 1, item: { entityType: "MASTER", masterId: "mst_1", version: 1 } }]);
  await client.sync();
  assert.deepEqual((await client.items(type)).map((one) => one.item), [item]);
});

test("started, it sends each edit by itself, also without hints", { timeout: 5000 }, async (t) => {
  const { client } = await holding([taskChange(3)], {
    "POST /v1/commands": results(() => ({ status: 200, version: 4, entity: task(4, { title: "b" }) })),
    "PUT /v1/me/watch": () => ({ until: "u", subscribe: { url: "/event/realtime", host: "h", channel: "/user/ann" } }),
  }, { WebSocket: null });
  t.after(() => client.close());
  const settled = (done) => new Promise((resolve) => {
    const end = client.listen((status) => {
      if (status.state === "synced" && status.waiting === 0 && done()) resolve(end());
    });
  });
  let edited = false;
  const first = settled(() => true);
  client.start();
  await first;
  const second = settled(() => edited);
  await client.edit("task_1", { title: "b" });
  edited = true;
  await second;
  assert.deepEqual([(await client.get("task_1")).version, client.status().isLive], [4, false]);
});
