// Keeps a client in step while an app is open: it syncs when there is reason to, and listens for hints. A hint is never needed:
// whatever is lost, the next reason brings it.

/**
 * Subscribe is where hints come from: a WebSocket in the subprotocol of AppSync Events
 * (https://docs.aws.amazon.com/appsync/latest/eventapi/event-api-websocket-protocol.html). `url` may be a path of the API.
 * @typedef {{url: string, host: string, channel: string}} Subscribe
 */
/**
 * Parts are what live works with. `watch` says that an app is open, and returns where its hints come from, if there are any.
 * @typedef {{
 *   api: string, sync(): Promise<void>, watch(): Promise<Subscribe | undefined>, token(): Promise<string>,
 *   status(isLive: boolean): void, random(): number, after(delay: number, run: () => void): () => void,
 *   WebSocket?: typeof WebSocket | null, events?: {window: EventTarget, document: EventTarget},
 * }} Parts
 */

const second = 1000, minute = 60 * second;
const watchEvery = 30 * minute, syncEvery = 60 * minute, longest = 5 * minute;

/**
 * delay is the time until the attempt behind that many failed ones: random, so that devices do not come back all at once.
 * @param {number} failed @param {number} random from 0 to 1
 */
export const delay = (failed, random) => second / 2 + random * Math.min(second * 2 ** failed, longest);

/** @param {unknown} value */
const base64url = (value) =>
  btoa(JSON.stringify(value)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");

/**
 * live starts to listen. It returns `stop`, which ends it, and `sync`, which syncs now, and again later if that fails.
 * @param {Parts} parts @returns {{stop(): void, sync(): Promise<void>}}
 */
export function live(parts) {
  const { after, random } = parts;
  let ended = false, failed = 0, dropped = 0;
  /** @type {Record<string, () => void>} */
  const waits = {};
  /** @type {WebSocket | undefined} */
  let socket;
  /** @type {Subscribe | undefined} */
  let hints;

  /** @param {string} name @param {number} time @param {() => void} run */
  const plan = (name, time, run) => {
    waits[name]?.();
    if (!ended) waits[name] = after(time, run);
  };
  const sync = async () => {
    waits.sync?.();
    try {
      await parts.sync();
      failed = 0;
      plan("sync", syncEvery, sync);
    } catch (/** @type {any} */ error) {
      plan("sync", Math.max(delay(failed++, random()), (error?.retryAfter ?? 0) * second), sync);
    }
  };
  const watch = async () => {
    let next = watchEvery;
    try {
      hints = await parts.watch();
      connect();
    } catch {
      next = minute + random() * minute;
    }
    plan("watch", next, watch);
  };
  const drop = () => {
    if (!socket) return;
    const was = socket;
    socket = undefined;
    was.close();
    parts.status(false);
    plan("socket", delay(dropped++, random()), connect);
  };
  async function connect() {
    if (!hints || !parts.WebSocket || socket || ended) return;
    const { url, host, channel } = hints, address = new URL(url, parts.api);
    address.protocol = address.protocol.replace("http", "ws");
    let authorization;
    try {
      authorization = { host, Authorization: await parts.token() };
    } catch {
      return plan("socket", delay(dropped++, random()), connect);
    }
    if (socket || ended) return;
    const mine = socket = new parts.WebSocket(address, ["aws-appsync-event-ws", `header-${base64url(authorization)}`]);
    let silence = minute;
    const heard = () => plan("silence", silence, drop);
    heard();
    const send = (/** @type {unknown} */ message) => mine.send(JSON.stringify(message));
    mine.onopen = () => send({ type: "connection_init" });
    mine.onclose = mine.onerror = () => { if (mine === socket) drop(); };
    mine.onmessage = ({ data }) => {
      if (mine !== socket) return;
      const message = JSON.parse(data);
      silence = message.connectionTimeoutMs ?? silence;
      heard();
      if (message.type === "connection_ack") {
        send({ type: "subscribe", id: crypto.randomUUID(), channel, authorization });
      } else if (message.type === "subscribe_success") {
        dropped = 0;
        parts.status(true);
        sync();
      } else if (message.type === "data") sync();
      else if (message.type.endsWith("error")) drop();
    };
  }

  /** @type {[EventTarget | undefined, string][]} */
  const reasons = [[parts.events?.window, "online"], [parts.events?.window, "focus"], [parts.events?.document, "visibilitychange"]];
  const onReason = () => {
    failed = dropped = 0;
    sync();
    if (hints) connect();
    else watch();
  };
  for (const [target, name] of reasons) target?.addEventListener(name, onReason);
  sync();
  watch();
  return {
    sync,
    stop() {
      ended = true;
      for (const [target, name] of reasons) target?.removeEventListener(name, onReason);
      for (const cancel of Object.values(waits)) cancel();
      const was = socket;
      socket = undefined;
      was?.close();
    },
  };
}
