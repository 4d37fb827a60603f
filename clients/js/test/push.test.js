// The service worker's part of reminders, as example/push.js does it, against a browser's notifications by hand.
import assert from "node:assert/strict";
import test from "node:test";

const folder = process.env.NEXUS_CLIENT_SOURCE ?? new URL("../example/", import.meta.url).href;
const { chosen, memory, pushed, register } = await import(`${folder}push.js`);

const message = {
  v: 1, deliveryId: "delivery-1", user: "pseudonym", itemType: "REMINDER", itemId: "rem_1", title: "Water the plants",
  occurrenceUtc: "2026-03-02T12:00:00Z", dueUtc: "2026-03-02T11:50:00Z", silent: false, act: "/v1/act/ann.d.e.f",
};

/** A browser: what it keeps, and what it shows. A notification replaces the one of its tag, without a sound unless it renotifies. */
function browser() {
  const values = new Map([["user", "pseudonym"], ["api", "https://api.example"]]), shown = new Map(), sounds = [];
  return {
    shown, sounds, values,
    kept: { get: async (name) => values.get(name), set: async (name, value) => void values.set(name, value) },
    show: async (title, options) => {
      if (!options.silent && (options.renotify || !shown.has(options.tag))) sounds.push(title);
      shown.set(options.tag, { title, ...options });
    },
  };
}

test("ten repetitions are one notification, and one sound", async () => {
  const b = browser();
  for (let n = 0; n < 10; n++) await pushed(message, b.kept, b.show);
  assert.equal(b.shown.size, 1);
  assert.deepEqual(b.sounds, ["Water the plants"]);
  assert.deepEqual(b.shown.get("delivery-1").actions.map(({ action }) => action), ["snooze", "complete"]);
});

test("a repetition after a dismissal is silent", async () => {
  const b = browser();
  await pushed(message, b.kept, b.show);
  b.shown.clear();
  await pushed(message, b.kept, b.show);
  assert.equal(b.shown.size, 1);
  assert.equal(b.sounds.length, 1);
});

test("a hundred deliveries are remembered, the latest", async () => {
  const b = browser();
  for (let n = 0; n < 150; n++) await pushed({ ...message, deliveryId: `d${n}` }, b.kept, b.show);
  assert.equal(b.values.get("shown").length, 100);
  assert.equal(b.values.get("shown").at(-1), "d149");
});

test("nothing is shown of another user, or of an unknown form", async () => {
  const b = browser();
  await pushed({ ...message, user: "another" }, b.kept, b.show);
  await pushed({ ...message, v: 2 }, b.kept, b.show);
  b.values.delete("user");
  await pushed(message, b.kept, b.show);
  assert.equal(b.shown.size, 0);
});

test("quiet hours and a hidden title are kept, and an event has no actions", async () => {
  const b = browser();
  const { title, act, ...bare } = message;
  await pushed({ ...bare, silent: true, itemType: "EVENT" }, b.kept, b.show);
  const shown = b.shown.get("delivery-1");
  assert.equal(shown.title, "Reminder");
  assert.deepEqual(shown.actions, []);
  assert.deepEqual(b.sounds, []);
});

test("an action goes to its path without a token, and says what became of it", async () => {
  const b = browser(), asked = [];
  const answering = (status) => async (url, init) => {
    asked.push([url, init]);
    if (!status) throw new TypeError("no network");
    return new Response(null, { status });
  };
  const notification = { tag: "delivery-1", data: { act: message.act } };
  await chosen("snooze", notification, b.kept, b.show, answering(204));
  assert.equal(asked[0][0], "https://api.example/v1/act/ann.d.e.f");
  assert.deepEqual(JSON.parse(asked[0][1].body), { action: "snooze", minutes: 10 });
  assert.deepEqual(Object.keys(asked[0][1].headers), ["Content-Type"]);
  assert.equal(b.shown.size, 0);
  await chosen("complete", notification, b.kept, b.show, answering(409));
  assert.equal(b.shown.get("delivery-1").title, "It was decided elsewhere");
  await chosen("complete", notification, b.kept, b.show, answering(0));
  assert.equal(b.shown.get("delivery-1").title, "That was not carried out");
  assert.deepEqual(b.sounds, []);
});

test("a device is registered with what the browser says of it", async () => {
  const b = browser(), asked = [];
  const answer = await register({
    api: "https://api.example", token: "ann", name: "Laptop", id: "1", kept: b.kept,
    registration: { pushManager: { subscribe: async (options) => {
      assert.deepEqual(options, { userVisibleOnly: true, applicationServerKey: "the key" });
      return { toJSON: () => ({ endpoint: "https://push.example/1", expirationTime: null, keys: { p256dh: "p", auth: "a" } }) };
    } } },
    fetch: async (url, init) => {
      asked.push([init.method ?? "GET", url, init.body && JSON.parse(init.body)]);
      return Response.json(url.endsWith("/key") ? { key: "the key", user: "her pseudonym" } : { deviceId: "1" });
    },
  });
  assert.deepEqual(answer, { deviceId: "1" });
  assert.deepEqual(asked, [
    ["GET", "https://api.example/v1/me/devices/key", undefined],
    ["PUT", "https://api.example/v1/me/devices/1",
      { endpoint: "https://push.example/1", keys: { p256dh: "p", auth: "a" }, name: "Laptop" }],
  ]);
  assert.equal(b.values.get("user"), "her pseudonym");
  await assert.rejects(register({
    api: "", token: "", name: "", id: "", kept: b.kept, registration: {}, fetch: async () => new Response(null, { status: 404 }),
  }), /404/);
});

test("page and worker share what is kept", async () => {
  const stored = new Map();
  const caches = { open: async (name) => ({
    match: async (path) => stored.get(name + path)?.clone(), put: async (path, answer) => void stored.set(name + path, answer),
  }) };
  await memory(caches).set("user", "pseudonym");
  assert.equal(await memory(caches).get("user"), "pseudonym");
  assert.equal(await memory(caches).get("shown"), undefined);
});
