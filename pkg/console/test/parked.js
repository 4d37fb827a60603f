// Records that cannot be processed, made as they come about: another program writes to the table what this product would not.
import assert from "node:assert/strict";

/** @typedef {Awaited<ReturnType<typeof import("./system.js").started>>} System */

/** Calls the engine itself, as another program of the same account would. @param {System} system */
export async function engineOf(system) {
  const { endpoint, table } = (await system.call("GET", "/dev/info")).json;
  /** @param {string} operation @param {any} body */
  return async (operation, body) => {
    const response = await fetch(endpoint, {
      method: "POST", body: JSON.stringify({ TableName: table, ...body }),
      headers: {
        "Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": `DynamoDB_20120810.${operation}`, "X-Amz-Date": "20260101T000000Z",
        Authorization: "AWS4-HMAC-SHA256 Credential=console/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=00",
      },
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${operation}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
}

/** Writes so many tasks as a user. @param {System} system @param {string} user @param {number} count @param {any} data */
async function writeTasks(system, user, count, data) {
  const inOne = 20;
  for (let n = 0; n < count; n += inOne) {
    const commands = Array.from({ length: Math.min(inOne, count - n) }, (_, i) => ({ id: crypto.randomUUID(), type: "CreateTask", data: { title: `Poisoned ${n + i + 1}`, ...data } }));
    const { results } = (await system.call("POST", "/v1/commands", { commands }, user)).json;
    assert.ok(results.every((/** @type {any} */ r) => r.status === 201), JSON.stringify(results[0]));
  }
}

/** Changes a user's settings through the API. @param {System} system @param {string} user @param {any} to */
async function changeSettings(system, user, to) {
  const etag = (await system.call("GET", "/v1/me", undefined, user)).headers.get("etag") ?? "";
  await system.call("PATCH", "/v1/me", to, user, { "If-Match": etag });
}

/**
 * Makes records of three kinds that consumers park, so many together, and returns the kinds. The cause of each lies in another
 * item. Mend takes it away: two users change their settings through the API, and the other program corrects its series.
 * @param {System} system @param {number} count
 */
export async function poisoned(system, count) {
  const engine = await engineOf(system), each = Math.floor(count / 3), counts = [count - 2 * each, each, each];
  const [full, lost, torn] = ["full", "lost", "torn"], pk = (/** @type {string} */ user) => ({ S: `USER#${user}` });
  const day = 86400e3, tomorrow = Date.parse((await system.call("GET", "/dev/clock")).json.now) + day;

  // Settings of the greatest size that an item may have: the statistics, which belong to the same item, no longer fit.
  for (const user of [full, lost]) await changeSettings(system, user, { preferences: { theme: "light" } });
  const settings = { Key: { PK: pk(full), SK: { S: `USER_META#${full}` } }, ConsistentRead: true };
  const { Item: meta } = await engine("GetItem", settings);
  for (let fits = 409_000, over = 409_600; over - fits > 1;) {
    const size = (fits + over) >> 1;
    const bloated = { ...meta, version: { N: "2" }, preferences: { M: { ...meta.preferences.M, theme: { S: "x".repeat(size) } } } };
    try { await engine("PutItem", { Item: bloated }); fits = size; } catch { over = size; }
  }
  await system.settle();
  await writeTasks(system, full, counts[0], {});

  // A zone that does not exist: the instants of floating reminders are unknown.
  await engine("UpdateItem", {
    Key: { PK: pk(lost), SK: { S: `USER_META#${lost}` } }, UpdateExpression: "SET defaultTzid = :zone, version = :version",
    ExpressionAttributeValues: { ":zone": { S: "Nowhere/Atlantis" }, ":version": { N: "2" } },
  });
  await system.settle();
  await writeTasks(system, lost, counts[1], { dueUtc: new Date(tomorrow).toISOString().slice(0, 19), reminderMinutes: [30] });

  // A series whose rule is none, with exceptions that have reminders of their own. A sound one is the pattern.
  const startOf = (/** @type {number} */ n) => new Date(tomorrow + n * day).toISOString().slice(0, 19) + "Z";
  const dateOf = (/** @type {number} */ n) => startOf(n).slice(0, 10).replaceAll("-", "");
  const made = (await system.call("POST", "/v1/series", { title: "Torn", startUtc: startOf(0), startTzid: "UTC", rrule: "FREQ=DAILY" }, torn)).json;
  await system.call("PUT", `/v1/series/${made.masterId}/instances/${dateOf(0)}`, { title: "Torn", reminderMinutes: [5] }, torn, { "If-Match": '"1"' });
  await system.settle();
  const one = async (/** @type {string} */ sk) => JSON.stringify((await engine("GetItem", { Key: { PK: pk(torn), SK: { S: sk } } })).Item);
  const [series, exception] = [await one(`MASTER#${made.masterId}`), await one(`INSTANCE#${made.masterId}#${dateOf(0)}`)];
  const other = crypto.randomUUID(), as = (/** @type {string} */ text) => text.replaceAll(made.masterId.slice("mst_".length), other);
  await engine("PutItem", { Item: { ...JSON.parse(as(series)), rrule: { S: "FREQ=NEVER" } } });
  for (let n = 1; n <= counts[2]; n++) {
    const item = JSON.parse(as(exception).replaceAll(startOf(0), startOf(n)).replaceAll(dateOf(0), dateOf(n)));
    await engine("PutItem", { Item: { ...item, GSI1PK: { S: `USER#${torn}#${startOf(n).slice(0, 4)}` } } });
  }
  await system.settle();
  return {
    kinds: [
      { consumer: "stats", count: counts[0], says: "refused by the store" },
      { consumer: "reminders", count: counts[1], says: "zone of USER#" },
      { consumer: "reminders", count: counts[2], says: "series USER#" },
    ],
    mend: async () => {
      await changeSettings(system, full, { preferences: { theme: "light" } });
      await changeSettings(system, lost, { defaultTzid: "Europe/Paris" });
      await engine("UpdateItem", {
        Key: { PK: pk(torn), SK: { S: `MASTER#mst_${other}` } }, UpdateExpression: "SET rrule = :rule, version = :version",
        ExpressionAttributeValues: { ":rule": { S: "FREQ=DAILY" }, ":version": { N: "2" } },
      });
      await system.settle();
    },
  };
}
