// Reminders on this device: the page registers it, and the service worker shows what comes and takes the actions that its user
// chooses. docs/push.md says what holds.

/**
 * @typedef {{v: number, deliveryId: string, user: string, itemType: string, itemId: string, title?: string, occurrenceUtc: string,
 *   dueUtc: string, silent: boolean, act?: string}} Message
 * @typedef {{get(name: string): Promise<any>, set(name: string, value: any): Promise<void>}} Memory
 * @typedef {{title: string, options: Record<string, any>}} Shown
 * @typedef {(title: string, options: Record<string, any>) => Promise<void>} Show
 */

const form = 1, most = 100;
const words = /** @type {Record<string, string>} */ ({ snooze: "10 minutes later", complete: "Done" });

/**
 * memory keeps a few values for page and worker alike: who uses this browser, at which API, and which deliveries were shown.
 * @param {CacheStorage} caches @returns {Memory}
 */
export const memory = (caches) => ({
  async get(name) { return (await (await caches.open("nexus-push")).match(`/${name}`))?.json(); },
  async set(name, value) { await (await caches.open("nexus-push")).put(`/${name}`, new Response(JSON.stringify(value))); },
});

/**
 * pushed shows a message. One that came before replaces itself without a sound. Nothing is shown of another user, and nothing of a
 * form that this worker does not know.
 * @param {Message} message @param {Memory} kept @param {Show} show
 */
export async function pushed(message, kept, show) {
  if (message.v !== form || message.user !== await kept.get("user")) return;
  const known = /** @type {string[]} */ (await kept.get("shown") ?? []), { deliveryId, act, itemType, itemId } = message;
  const actions = !act ? [] : itemType === "REMINDER" ? ["snooze", "complete"] : ["complete"];
  await show(message.title ?? "Reminder", {
    tag: deliveryId, renotify: false, silent: message.silent || known.includes(deliveryId), data: { act, itemType, itemId },
    body: new Date(message.occurrenceUtc).toLocaleString(), timestamp: Date.parse(message.dueUtc),
    actions: actions.map((action) => ({ action, title: words[action] })),
  });
  await kept.set("shown", [...known.filter((id) => id !== deliveryId), deliveryId].slice(-most));
}

/**
 * chosen takes an action. Its path needs no token. What was decided elsewhere, or could not be sent, is said in the notification's
 * place.
 * @param {string} action @param {{tag: string, data: {act: string}}} notification @param {Memory} kept @param {Show} show
 * @param {typeof globalThis.fetch} fetch
 */
export async function chosen(action, { tag, data }, kept, show, fetch) {
  const body = action === "snooze" ? { action, minutes: 10 } : { action };
  let status = 0;
  try {
    const answer = await fetch(`${await kept.get("api")}${data.act}`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
    });
    if (answer.ok) return;
    status = answer.status;
  } catch { /* there is no network */ }
  await show(status === 409 ? "It was decided elsewhere" : "That was not carried out", { tag, silent: true, data });
}

/**
 * register registers this device, or renews it: the page calls it whenever it opens.
 * @param {{api: string, token: string, name: string, id: string, kept: Memory, registration: ServiceWorkerRegistration,
 *   fetch?: typeof globalThis.fetch}} of
 */
export async function register({ api, token, name, id, kept, registration, fetch = globalThis.fetch }) {
  /** @param {string} path @param {RequestInit} [init] */
  const ask = async (path, init = {}) => {
    const answer = await fetch(`${api}/v1/me/devices/${path}`, {
      ...init, headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    });
    if (!answer.ok) throw new Error(`the device is not registered: ${answer.status}`);
    return answer.json();
  };
  const { key, user } = await ask("key");
  const subscription = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const { endpoint, keys } = subscription.toJSON();
  await kept.set("user", user);
  await kept.set("api", api);
  return ask(id, { method: "PUT", body: JSON.stringify({ endpoint, keys, name }) });
}
