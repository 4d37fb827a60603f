// One contract for both stores.
import "fake-indexeddb/auto";
import assert from "node:assert/strict";
import test from "node:test";
import { source } from "./setup.js";

const { databaseName, indexedDBStore } = await source("store.js");
const { memoryStore } = await source("memory.js");

let databases = 0;
const stores = { memory: async () => memoryStore(), IndexedDB: () => indexedDBStore(`test ${++databases}`) };

for (const [name, make] of Object.entries(stores)) {
  test(`${name}: what a transaction wrote is there, by key and in the order of keys`, async () => {
    const store = await make();
    await store.write(async (tx) => {
      for (const n of [10, 9, 2]) tx.put("outbox", n, { n });
      tx.put("items", [1, "b"], "b1");
      tx.put("items", [1, "a"], "a1");
      tx.put("items", [2, "a"], "a2");
      tx.put("meta", "state", { token: "t" });
      assert.equal(await tx.get("items", [1, "a"]), "a1", "within the transaction, too");
    });
    await store.read(async (tx) => {
      assert.deepEqual(await tx.all("outbox"), [{ n: 2 }, { n: 9 }, { n: 10 }]);
      assert.deepEqual(await tx.all("items", 1), ["a1", "b1"]);
      assert.deepEqual(await tx.all("items"), ["a1", "b1", "a2"]);
      assert.deepEqual(await tx.get("meta", "state"), { token: "t" });
      assert.equal(await tx.get("meta", "other"), undefined);
    });
    store.close();
  });

  test(`${name}: a transaction that fails leaves nothing`, async () => {
    const store = await make();
    await store.write(async (tx) => tx.put("meta", "a", 1));
    await assert.rejects(store.write(async (tx) => {
      tx.put("meta", "a", 2);
      tx.clear("meta");
      tx.put("items", [1, "x"], {});
      await tx.get("meta", "a");
      throw new Error("no");
    }), /no/);
    await store.read(async (tx) => {
      assert.equal(await tx.get("meta", "a"), 1);
      assert.deepEqual(await tx.all("items"), []);
    });
    store.close();
  });

  test(`${name}: a generation is cleared alone, a table whole`, async () => {
    const store = await make();
    await store.write(async (tx) => {
      for (const key of [[1, "a"], [1, "b"], [2, "a"], [11, "a"]]) tx.put("items", key, key);
      tx.put("refused", 1, {});
      tx.clear("items", 1);
      tx.clear("refused");
      tx.delete("items", [11, "a"]);
    });
    await store.read(async (tx) => {
      assert.deepEqual(await tx.all("items"), [[2, "a"]]);
      assert.deepEqual(await tx.all("refused"), []);
    });
    store.close();
  });

  test(`${name}: writers do not see each other's middle`, async () => {
    const store = await make();
    const add = () => store.write(async (tx) => {
      const n = (await tx.get("meta", "n")) ?? 0;
      await tx.all("items");
      tx.put("meta", "n", n + 1);
    });
    await Promise.all(Array.from({ length: 20 }, add));
    assert.equal(await store.read((tx) => tx.get("meta", "n")), 20);
    store.close();
  });

  test(`${name}: what is kept is a copy`, async () => {
    const store = await make(), value = { list: [1] };
    await store.write(async (tx) => tx.put("meta", "v", value));
    value.list.push(2);
    const read = await store.read((tx) => tx.get("meta", "v"));
    read.list.push(3);
    assert.deepEqual(await store.read((tx) => tx.get("meta", "v")), { list: [1] });
    store.close();
  });
}

test("IndexedDB: what is kept outlives the page", async () => {
  const first = await indexedDBStore("lasting");
  await first.write(async (tx) => tx.put("meta", "a", 1));
  first.close();
  const second = await indexedDBStore("lasting");
  assert.equal(await second.read((tx) => tx.get("meta", "a")), 1);
  second.close();
});

test("each user of each issuer has a database of its own", () => {
  const names = [["https://a", "b c"], ["https://a b", "c"], ["https://a", "b"], ["https://b", "b"], ["https://a b", "%20c"]];
  assert.equal(new Set(names.map(([issuer, user]) => databaseName(issuer, user))).size, names.length);
});
