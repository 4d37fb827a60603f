// The client of one user on one device. README.md is its reference.
import { keepAgenda, occurrences } from "./agenda.js";
import { isServed } from "./copy.js";
import { live } from "./live.js";
import { apply, merge } from "./merge.js";
import * as outbox from "./outbox.js";
import { databaseName, indexedDBStore } from "./store.js";
import { check, copyOf, Failure, failureOf, settle, stateOf, sync } from "./sync.js";

/** @typedef {import("./merge.js").Item} Item */
/** @typedef {import("./outbox.js").Shown} Shown */
/**
 * Options say who the user is and where the API is. `token` returns a bearer token; it is asked before each request. The other
 * members replace what the platform has.
 * @typedef {{
 *   api: string, issuer: string, user: string, token(): string | Promise<string>, types?: string[], agenda?: boolean,
 *   store?: import("./store.js").Store, fetch?: typeof fetch,
 *   WebSocket?: typeof WebSocket | null, locks?: LockManager | null, channel?: BroadcastChannel | null, now?(): number,
 *   random?(): number, newKey?(): string,
 * }} Options
 */
/**
 * Status is what an app shows of its connection: how the last sync ended, whether hints arrive, and how many edits wait.
 * @typedef {{state: "new" | "syncing" | "synced" | Failure["state"], isLive: boolean, waiting: number, message?: string}} Status
 */

// What a request may take, in milliseconds.
const longest = 30_000;
const prefixes = /** @type {Record<string, string>} */ ({ EVENT: "evt", MASTER: "mst", TASK: "task", REMINDER: "rem", NOTE: "note" });

/**
 * open opens a user's copy on this device. Nothing is asked of the network before sync or start.
 * @param {Options} options
 */
export async function open(options) {
  const name = databaseName(options.issuer, options.user);
  const store = options.store ?? await indexedDBStore(name);
  const { fetch = globalThis.fetch.bind(globalThis), now = Date.now, random = Math.random } = options;
  const newKey = options.newKey ?? (() => crypto.randomUUID());
  const locks = options.locks === undefined ? globalThis.navigator?.locks : options.locks;
  const channel = options.channel === undefined ? new BroadcastChannel(name) : options.channel;
  let { skew } = await store.read(stateOf);
  const clock = () => now() + skew;

  /** @type {Set<(status: Status) => void>} */
  const listeners = new Set();
  /** @type {Status} */
  let status = { state: "new", isLive: false, waiting: 0 };
  const tell = () => listeners.forEach((listen) => listen(status));
  /** @param {Partial<Status>} change */
  const become = (change) => {
    status = { ...status, ...change };
    tell();
  };
  const changed = () => {
    channel?.postMessage("changed");
    store.read((tx) => tx.all("outbox")).then((rows) => become({ waiting: rows.length }), () => {});
  };
  if (channel) channel.onmessage = () => tell();

  /**
   * @param {string} method @param {string} path @param {unknown} [body] @param {Record<string, string>} [headers]
   * @returns {Promise<import("./sync.js").Answer>}
   */
  async function request(method, path, body, headers = {}) {
    let response, text;
    try {
      response = await fetch(options.api + path, {
        method, cache: "no-store", signal: AbortSignal.timeout(longest),
        headers: { Authorization: `Bearer ${await options.token()}`, ...(body !== undefined && { "Content-Type": "application/json" }), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      text = await response.text();
    } catch (error) {
      throw new Failure("offline", String(error));
    }
    const date = Date.parse(response.headers.get("Date") ?? "");
    if (Math.abs(date - now() - skew) > 2000) {
      skew = date - now();
      await store.write(async (tx) => tx.put("meta", "state", { ...(await stateOf(tx)), skew }));
    }
    let json = null;
    try {
      json = text && JSON.parse(text);
    } catch {
      if (response.status < 400) throw new Failure("error", "not JSON");
    }
    return { status: response.status, json, headers: response.headers };
  }

  /** @type {import("./sync.js").Context} */
  const context = { store, types: (options.types ?? []).join(","), newKey, request, now: clock, changed };

  /**
   * load reads what is shown, in a transaction.
   * @param {import("./store.js").Tx} tx
   */
  async function load(tx) {
    const copy = await copyOf(tx);
    /** @type {import("./outbox.js").Row[]} */
    const rows = await tx.all("outbox");
    return { copy, rows, shown: outbox.view(copy, rows, clock()) };
  }
  /** @template T @param {(tx: import("./store.js").Tx) => Promise<T>} run */
  async function write(run) {
    const result = await store.write(run);
    changed();
    started?.sync();
    return result;
  }

  /** @type {Promise<void> | undefined} */
  let running;
  /** @type {Promise<void> | undefined} */
  let next;
  /** @param {() => Promise<void>} work @returns {Promise<void>} */
  async function exclusively(work) {
    become({ state: "syncing" });
    try {
      await (locks ? locks.request(name, work) : work());
      become({ state: "synced", message: undefined });
    } catch (error) {
      become({ state: error instanceof Failure ? error.state : "error", message: String(error) });
      throw error;
    }
  }
  const work = async () => {
    await sync(context);
    if (options.agenda) await keepAgenda(context);
  };
  /** @type {ReturnType<typeof live> | undefined} */
  let started;

  changed();
  const client = {
    /** items returns what is shown of a type, with the edits that wait. @param {string} [type] @returns {Promise<Shown[]>} */
    items: async (type) => [...(await store.read(load)).shown.values()].filter((item) => !type || item.type === type),

    /** get returns what is shown of an entity. @param {string} id @returns {Promise<Shown | undefined>} */
    get: async (id) => (await store.read(load)).shown.get(id),

    /** heads returns the heads of the values tree and of the plans. @returns {Promise<import("./copy.js").Change[]>} */
    heads: async () => (await store.read(load)).copy.filter((held) => held.revId && isServed(held, clock())),

    /** occurrences returns those of series and recurring reminders, of the kept agenda. @returns {Promise<Item[]>} */
    occurrences: async () => occurrences(await store.read((tx) => tx.get("meta", "agenda"))),

    /**
     * create makes an entity and returns its id.
     * @param {string} type @param {Item} fields @returns {Promise<string>}
     */
    create: (type, fields) => write(async (tx) => {
      if (!prefixes[type]) throw new Error(`there is no ${type} to create`);
      const { copy, rows } = await load(tx), id = `${prefixes[type]}_${crypto.randomUUID()}`;
      await outbox.add(tx, copy, rows, outbox.creation(type, id, fields), newKey());
      return id;
    }),

    /**
     * edit changes the fields that a patch names (JSON Merge Patch). `saw` is the entity as its user saw it, such as when a form
     * was opened: what has changed since is merged here and now.
     * @param {string} id @param {Item} patch @param {Shown} [saw]
     */
    edit: (id, patch, saw) => write(async (tx) => {
      const { copy, rows, shown } = await load(tx);
      const now = shown.get(id), of = now?.type ?? saw?.type;
      if (!of) throw new Error(`there is no ${id}`);
      const made = outbox.edit(of, id, (saw ?? now)?.item ?? {}, patch);
      if (!now) return settle(tx, { rows, refused: [{ ...made, problem: { status: 410, title: "Gone" } }] });
      const [merged] = merge(now.item, [made]);
      if (Object.keys(merged.refused).length) {
        const problem = { status: 412, title: "The entity has changed" };
        await settle(tx, { rows, refused: [{ ...made, patch: merged.refused, problem, current: now.item }] });
      }
      if (!Object.keys(merged.patch).length) return;
      const left = outbox.edit(of, id, now.item, merged.patch);
      if (of === "MASTER") left.instances = outbox.instancesOf(copy, id);
      await outbox.add(tx, copy, rows, left, newKey());
    }),

    /**
     * remove deletes an entity.
     * @param {string} id @param {Shown} [saw] as its user saw it
     */
    remove: (id, saw) => write(async (tx) => {
      const { copy, rows, shown } = await load(tx), now = shown.get(id);
      if (now) await outbox.add(tx, copy, rows, outbox.removal(now.type, id), newKey(), saw?.version);
    }),

    /**
     * occurrence replaces all that is an occurrence's own: {} undoes it, null cancels it.
     * @param {string} master @param {string} date YYYYMMDD @param {Item | null} fields
     */
    occurrence: (master, date, fields) => write(async (tx) => {
      const { copy, rows } = await load(tx), id = outbox.occurrence(master, date, {}, null).id;
      const held = copy.find((other) => other.id === id)?.item;
      const was = rows.filter((row) => row.id === id).reduce((own, row) => apply(own, row.patch), held ? outbox.own(held) : {});
      await outbox.add(tx, copy, rows, outbox.occurrence(master, date, was, fields), newKey());
    }),

    /**
     * act carries out any other command about an entity, such as SnoozeReminder. `shows` is a patch that shows its effect until
     * it is answered.
     * @param {string} type @param {string} id @param {Item} [data] @param {Item} [shows] @param {Shown} [saw]
     */
    act: (type, id, data = {}, shows = {}, saw) => write(async (tx) => {
      const { copy, rows, shown } = await load(tx), now = shown.get(id);
      if (!now) throw new Error(`there is no ${id}`);
      await outbox.add(tx, copy, rows, outbox.action(type, now.type, id, data, shows), newKey(), saw?.version);
    }),

    /** waiting returns the edits that no answer has settled. @returns {Promise<import("./outbox.js").Row[]>} */
    waiting: () => store.read((tx) => tx.all("outbox")),

    /** refused returns the edits that were not carried out. @returns {Promise<import("./answers.js").Refused[]>} */
    refused: () => store.read((tx) => tx.all("refused")),

    /** dismiss forgets a refused edit that its user has seen. @param {number} n */
    dismiss: (n) => write(async (tx) => tx.delete("refused", n)),

    /**
     * sync pushes and pulls. It rejects with a [Failure] where it could not do all. Calls while one runs share the next.
     * @returns {Promise<void>}
     */
    sync() {
      if (!running) return running = exclusively(work).finally(() => { running = undefined; });
      return next ??= running.catch(() => {}).then(() => {
        next = undefined;
        return client.sync();
      });
    },

    /** check compares the copy with the server's now. @returns {Promise<void>} */
    check: () => exclusively(() => check(context)),

    /** start keeps the copy in step until stop is called: it sends each edit at once, or as soon as it can. */
    start() {
      started ??= live({
        api: options.api, sync: client.sync, random, WebSocket: options.WebSocket === undefined ? globalThis.WebSocket : options.WebSocket,
        watch: async () => {
          const answer = await request("PUT", "/v1/me/watch");
          if (answer.status !== 200) throw failureOf(answer);
          return answer.json.subscribe;
        },
        token: async () => options.token(),
        status: (isLive) => become({ isLive }),
        after: (delay, run) => {
          const timer = setTimeout(run, delay);
          return () => clearTimeout(timer);
        },
        events: typeof document === "undefined" ? undefined : { window, document },
      });
    },

    /** stop ends what start began. */
    stop() {
      started?.stop();
      started = undefined;
      become({ isLive: false });
    },

    /** status returns the state of the connection. */
    status: () => status,

    /** listen calls a function whenever something may look different. It returns what ends that. @param {(s: Status) => void} listen */
    listen(listen) {
      listeners.add(listen);
      return () => listeners.delete(listen);
    },

    /** close ends everything; what is stored stays. */
    close() {
      client.stop();
      channel?.close();
      store.close();
    },
  };
  return client;
}
