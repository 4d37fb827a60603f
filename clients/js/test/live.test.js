// When a client syncs by itself, and how it listens: against a WebSocket and timers that the test moves.
import assert from "node:assert/strict";
import test from "node:test";
import { source } from "./setup.js";

const { delay, live } = await source("live.js");

const second = 1000, minute = 60 * second;
const subscribe = { url: "/event/realtime", host: "h", channel: "/user/ann" };
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A world of timers and sockets, and what was asked of it. */
function world(parts = {}) {
  const sockets = [], timers = new Set(), log = [];
  class Socket {
    constructor(url, protocols) {
      Object.assign(this, { url: String(url), protocols, sent: [], closed: false });
      sockets.push(this);
    }
    send(text) { this.sent.push(JSON.parse(text)); }
    close() {
      this.closed = true;
      this.onclose?.();
    }
    say(message) { this.onmessage({ data: JSON.stringify(message) }); }
  }
  const at = { now: 0 }, window = new EventTarget(), document = new EventTarget();
  const { stop, sync } = live({
    api: "https://api.example", WebSocket: Socket, random: () => 0.5, token: async () => "secret", events: { window, document },
    sync: async () => { log.push("sync"); }, watch: async () => (log.push("watch"), subscribe), status: (isLive) => log.push(isLive ? "live" : "not live"),
    after: (time, run) => {
      const timer = { at: at.now + time, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    ...parts,
  });
  return {
    sockets, log, stop, sync, window, document, timers,
    /** pass moves the time, and calls what falls due in its order. */
    async pass(time) {
      const until = at.now + time;
      for (;;) {
        await settled();
        const next = [...timers].sort((a, b) => a.at - b.at)[0];
        if (!next || next.at > until) break;
        timers.delete(next);
        at.now = next.at;
        next.run();
      }
      at.now = until;
      await settled();
    },
    times: (what) => log.filter((entry) => entry === what).length,
    /** listening is the present socket, subscribed. */
    async listening() {
      await settled();
      const socket = sockets.at(-1);
      socket.onopen();
      socket.say({ type: "connection_ack", connectionTimeoutMs: 5 * minute });
      socket.say({ type: "subscribe_success", id: socket.sent[1].id });
      await settled();
      return socket;
    },
  };
}

test("it subscribes to the user's own channel, in the subprotocol of AppSync Events", async () => {
  const w = world(), socket = await w.listening();
  assert.equal(socket.url, "wss://api.example/event/realtime");
  const [name, header] = socket.protocols;
  assert.equal(name, "aws-appsync-event-ws");
  assert.match(header, /^header-[A-Za-z0-9_-]+$/);
  const authorization = { host: "h", Authorization: "secret" };
  assert.deepEqual(JSON.parse(Buffer.from(header.slice("header-".length), "base64url")), authorization);
  assert.deepEqual(socket.sent.map(({ id, ...message }) => message), [
    { type: "connection_init" }, { type: "subscribe", channel: "/user/ann", authorization },
  ]);
  assert.deepEqual(w.log, ["sync", "watch", "live", "sync"], "at the start, and after the subscription");
  w.stop();
});

test("a hint, the focus, a network that is back, and an hour are reasons to sync", async () => {
  const w = world(), socket = await w.listening();
  for (const reason of [
    () => socket.say({ type: "data", id: "1", event: "{\"next\":\"t\"}" }), () => w.window.dispatchEvent(new Event("focus")),
    () => w.window.dispatchEvent(new Event("online")), () => w.document.dispatchEvent(new Event("visibilitychange")),
  ]) {
    const before = w.times("sync");
    reason();
    await settled();
    assert.equal(w.times("sync"), before + 1, String(reason));
  }
  for (let i = 0; i < 14; i++) { // signs of life
    await w.pass(4 * minute);
    socket.say({ type: "ka" });
  }
  const before = w.times("sync");
  await w.pass(4 * minute + second);
  assert.equal(w.times("sync"), before + 1, "an hour");
  w.stop();
});

test("the watch is repeated each half hour", async () => {
  const w = world();
  await w.pass(91 * minute);
  assert.equal(w.times("watch"), 4);
  w.stop();
});

test("a watch that fails is tried again sooner, and brings the subscription then", async () => {
  let fails = true;
  const w = world({ watch: async () => {
    if (fails) throw new Error("no");
    return subscribe;
  } });
  await w.pass(minute);
  assert.equal(w.sockets.length, 0);
  fails = false;
  await w.pass(45 * second);
  assert.equal(w.sockets.length, 1);
  w.stop();
});

test("where there are no hints it only syncs by itself", async () => {
  const w = world({ watch: async () => undefined });
  await w.pass(121 * minute);
  assert.deepEqual([w.sockets.length, w.times("sync")], [0, 3]);
  w.stop();
});

test("a socket that closes, fails or falls silent is replaced, after a growing random time", async () => {
  for (const end of [(s) => s.onclose(), (s) => s.onerror(), (s) => s.say({ type: "connection_error", errors: [] }), (s) => s.say({ type: "subscribe_error", errors: [] })]) {
    const w = world(), socket = await w.listening();
    end(socket);
    assert.equal(w.log.at(-1), "not live");
    await w.pass(delay(0, 0.5) - 1);
    assert.equal(w.sockets.length, 1, "not at once");
    await w.pass(2);
    assert.equal(w.sockets.length, 2);
    w.sockets[1].onclose();
    await w.pass(delay(0, 0.5) + 1);
    assert.equal(w.sockets.length, 2, "later than before");
    await w.pass(delay(1, 0.5));
    assert.equal(w.sockets.length, 3);
    w.stop();
  }
  const w = world();
  await w.listening();
  await w.pass(5 * minute + 2 * second);
  assert.equal(w.sockets.length, 2, "silent for as long as the server said");
  w.stop();
});

test("what a former socket says counts no more", async () => {
  const w = world(), socket = await w.listening();
  socket.onclose();
  const before = w.times("sync");
  socket.say({ type: "data", id: "1", event: "{}" });
  await settled();
  assert.equal(w.times("sync"), before);
  w.stop();
});

test("a sync that fails is tried again, as late as the server asks", async () => {
  let tries = 0;
  const w = world({ watch: async () => undefined, sync: async () => {
    tries++;
    throw Object.assign(new Error("busy"), { retryAfter: 90 });
  } });
  await w.pass(89 * second);
  assert.equal(tries, 1);
  await w.pass(2 * second);
  assert.equal(tries, 2);
  w.stop();
});

test("the time between attempts doubles, is random, and has a bound", () => {
  const longest = (failed) => delay(failed, 1), shortest = (failed) => delay(failed, 0);
  for (let failed = 0; failed < 6; failed++) assert(longest(failed + 1) > longest(failed));
  for (const failed of [0, 3, 50, 5000]) assert(shortest(failed) >= 500 && longest(failed) <= 6 * minute);
  assert(longest(5) > 10 * shortest(5), "devices do not come back all at once");
});

test("stop leaves nothing that runs", async () => {
  const w = world(), socket = await w.listening();
  w.stop();
  assert(socket.closed);
  const { length } = w.log;
  w.window.dispatchEvent(new Event("online"));
  await w.pass(3 * 60 * minute);
  assert.deepEqual([w.log.length, w.sockets.length, w.timers.size], [length, 1, 0]);
});
