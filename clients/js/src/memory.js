// The store of tests, and of programs that keep nothing.

/**
 * compare orders keys as IndexedDB does: numbers before texts before lists, lists by their first difference.
 * @param {any} a @param {any} b @returns {number}
 */
function compare(a, b) {
  if (!Array.isArray(a) || !Array.isArray(b)) {
    return typeof a === typeof b ? (a < b ? -1 : Number(a > b)) : typeof a < typeof b ? -1 : 1;
  }
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compare(a[i], b[i]);
    if (order) return order;
  }
  return a.length - b.length;
}

/**
 * memoryStore keeps everything in this process.
 * @returns {import("./store.js").Store}
 */
export function memoryStore() {
  /** @type {Record<import("./store.js").Table, Map<string, any>>} */
  let data = { items: new Map(), outbox: new Map(), refused: new Map(), meta: new Map() };
  /** @type {Promise<unknown>} */
  let last = Promise.resolve();
  /** @template T @param {(tx: import("./store.js").Tx) => Promise<T>} run @returns {Promise<T>} */
  const transact = (run) => {
    const next = last.then(async () => {
      const work = { ...data }, copied = new Set();
      /** @param {import("./store.js").Table} table */
      const own = (table) => {
        if (!copied.has(table)) work[table] = new Map(data[table]);
        copied.add(table);
        return work[table];
      };
      /** @param {string} key @param {number} [generation] */
      const within = (key, generation) => generation === undefined || JSON.parse(key)[0] === generation;
      const result = await run({
        get: async (table, key) => structuredClone(work[table].get(JSON.stringify(key))),
        all: async (table, generation) => [...work[table]]
          .filter(([key]) => within(key, generation))
          .sort(([a], [b]) => compare(JSON.parse(a), JSON.parse(b)))
          .map(([, value]) => structuredClone(value)),
        put: (table, key, value) => void own(table).set(JSON.stringify(key), structuredClone(value)),
        delete: (table, key) => void own(table).delete(JSON.stringify(key)),
        clear: (table, generation) => [...work[table].keys()]
          .filter((key) => within(key, generation)).forEach((key) => own(table).delete(key)),
      });
      data = work;
      return result;
    });
    last = next.catch(() => {});
    return next;
  };
  return { write: transact, read: transact, close: () => {} };
}
