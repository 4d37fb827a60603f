// Where a copy is kept: IndexedDB here, memory.js for programs that keep nothing. A transaction is carried out whole or not at
// all, and no two write at a time.

/**
 * Tx is a transaction. `items` has keys [generation, id], `outbox` and `refused` have numbers, `meta` has names.
 * @typedef {"items" | "outbox" | "refused" | "meta"} Table
 * @typedef {string | number | (string | number)[]} Key
 * @typedef {{
 *   get(table: Table, key: Key): Promise<any>,
 *   all(table: Table, generation?: number): Promise<any[]>,
 *   put(table: Table, key: Key, value: any): void,
 *   delete(table: Table, key: Key): void,
 *   clear(table: Table, generation?: number): void,
 * }} Tx
 */

/**
 * Store runs a function as a transaction and returns its result once everything is kept. If the function throws, nothing is.
 * The function waits for nothing but the transaction's own answers: IndexedDB would commit without the rest.
 * @typedef {{
 *   write<T>(run: (tx: Tx) => Promise<T>): Promise<T>,
 *   read<T>(run: (tx: Tx) => Promise<T>): Promise<T>,
 *   close(): void,
 * }} Store
 */

/** @type {Table[]} */
const tables = ["items", "outbox", "refused", "meta"];

/**
 * databaseName is different for each pair of issuer and user, so nothing passes from one user to another.
 * @param {string} issuer @param {string} user @returns {string}
 */
export const databaseName = (issuer, user) => `nexus ${encodeURIComponent(issuer)} ${encodeURIComponent(user)}`;

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const answer = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

/**
 * indexedDBStore opens the database of that name and makes it where there is none.
 * @param {string} name @param {IDBFactory} [factory] @returns {Promise<Store>}
 */
export async function indexedDBStore(name, factory = indexedDB) {
  const opening = factory.open(name, 1);
  opening.onupgradeneeded = () => tables.forEach((table) => opening.result.createObjectStore(table));
  const db = await answer(opening);
  db.onversionchange = () => db.close();
  const range = (/** @type {number} */ generation) => IDBKeyRange.bound([generation], [generation, []]);
  /**
   * @template T @param {IDBTransactionMode} mode @param {(tx: Tx) => Promise<T>} run @returns {Promise<T>}
   */
  const transact = async (mode, run) => {
    const tx = db.transaction(tables, mode, { durability: "strict" });
    const done = new Promise((resolve, reject) => {
      tx.oncomplete = resolve;
      tx.onabort = () => reject(tx.error ?? new Error("aborted"));
    });
    // The function's own error goes first.
    done.catch(() => {});
    try {
      const result = await run({
        get: (table, key) => answer(tx.objectStore(table).get(key)),
        all: (table, generation) => 
          answer(tx.objectStore(table).getAll(generation === undefined ? undefined : range(generation))),
        put: (table, key, value) => void tx.objectStore(table).put(value, key),
        delete: (table, key) => void tx.objectStore(table).delete(key),
        clear: (table, generation) =>
          void (generation === undefined ? tx.objectStore(table).clear() : tx.objectStore(table).delete(range(generation))),
      });
      await done;
      return result;
    } catch (error) {
      try { tx.abort(); } catch { /* it has ended */ }
      throw error;
    }
  };
  return { write: (run) => transact("readwrite", run), read: (run) => transact("readonly", run), close: () => db.close() };
}
