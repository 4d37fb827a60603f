// A server in memory, written from the documents of the API: versions, edit versions, receipts, the log, its tokens and resets.
// It plays the system's own writes, too, and tells what it carried out. It knows nothing of how a client merges.
import { createHash } from "node:crypto";

const hour = 3_600_000, day = 24 * hour;
const ids = { Note: "noteId", Reminder: "reminderId", Task: "taskId" };
const text = (value) => JSON.stringify(value, Object.keys(value ?? {}).sort());

/** Random numbers that a seed decides (mulberry32). */
export function randomOf(seed) {
  let a = seed >>> 0;
  const next = () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return { next, under: (n) => Math.floor(next() * n), pick: (list) => list[Math.floor(next() * list.length)], is: (p) => next() < p };
}

export class Server {
  now = Date.parse("2026-11-23T08:00:00Z");
  form = 1;
  items = new Map(); // id -> {type, v, e, ttl, f, fin}
  gone = new Map();
  cold = new Map();
  receipts = new Map();
  log = [];
  pending = []; // records that the consumer has yet to see
  told = []; // records that it has seen
  history = []; // states that a stale read may find
  writes = []; // {key, kind, id, field, value, over}, as carried out
  random = randomOf(1);
  throttle = 0; // the part of commands that are answered 503
  omit = 0; // the part of answers that come without what they are about

  lapsed(it) { return it.ttl !== null && it.ttl <= this.now; }
  edit(it) { return it.e ?? it.v; }
  emit(id, v, until = false) {
    this.pending.push({ id, v, until, at: this.now });
    this.history.push(structuredClone(this.items));
    this.history.splice(0, this.history.length - 4);
  }
  bump(it, byUser) {
    it.e = byUser ? null : this.edit(it);
    it.v++;
    it.ttl = null;
  }
  entity(id, it) {
    const name = { NOTE: "noteId", REMINDER: "reminderId" }[it.type];
    return structuredClone({ entityType: it.type, [name]: id, ...it.f, version: it.v, ...(it.ttl !== null && { ttl: it.ttl / 1000 }) });
  }

  // One command, with the number that it expects; {status, version, entity?, problem?}.
  run({ id: key, type, data }, expected) {
    const [, kind, noun] = /^(Create|Update|Delete|Snooze|Add)(Note|Reminder)/.exec(type) ?? [];
    const id = data[ids[noun]], print = text({ type, data: JSON.stringify(data), expected: expected ?? null });
    const it = this.items.get(id), receipt = this.receipts.get(key);
    if (receipt && this.now - receipt.at < 90 * day) {
      if (receipt.print !== print) return { status: 422, problem: { status: 422, type: "/problems/idempotency-key-reused" } };
      if (!it || this.lapsed(it)) return { status: 204, version: receipt.version };
      return { status: kind === "Create" ? 201 : 200, version: receipt.version, entity: this.entity(id, it) };
    }
    const problem = (status, more) => ({ status, problem: { status, ...more } });
    if (kind === "Create") {
      if (it || this.gone.has(id) || this.cold.has(id)) return problem(409);
    } else if (expected === undefined) return problem(428);
    else if (!it || this.lapsed(it)) return problem(it || this.gone.has(id) || this.cold.has(id) ? 410 : 404);
    else if (!(this.edit(it) <= expected && expected <= it.v)) {
      const current = this.entity(id, it);
      return problem(412, { currentVersion: it.v, ...(this.random.is(this.omit) ? { currentOmitted: true } : { current }) });
    }
    const write = (field, value, over) => this.writes.push({ key, kind, id, field, value, over });
    const done = (status, version) => {
      this.receipts.set(key, { print, at: this.now, version });
      const now = this.items.get(id);
      if (this.random.is(this.omit)) return { status, version, omitted: true };
      return { status, version, ...(now && { entity: this.entity(id, now) }) };
    };
    if (kind === "Create") {
      const { [ids[noun]]: _, ...fields } = data;
      this.items.set(id, { type: noun.toUpperCase(), v: 1, e: null, ttl: null, f: fields, fin: false });
      write("", fields.title, undefined);
      this.emit(id, 1);
      return done(201, 1);
    }
    if (kind === "Delete") {
      write("", undefined, undefined);
      this.items.delete(id);
      this.gone.set(id, it.v + 1);
      this.emit(id, it.v + 1);
      return done(204, it.v + 1);
    }
    const { [ids[noun]]: _, ...body } = data;
    if (kind === "Update" && Object.entries(body).every(([field, value]) => JSON.stringify(it.f[field]) === JSON.stringify(value))) {
      return done(200, it.v);
    }
    if (kind === "Add") {
      const links = it.f.links ?? [];
      write("links", [...links, body], links);
      it.f.links = [...links, body];
    } else if (kind === "Snooze") {
      write("snooze", body.untilUtc, it.f.snooze);
      it.f.snooze = body.untilUtc;
      it.fin = this.random.is(0.5);
    } else {
      for (const [field, value] of Object.entries(body)) {
        if (JSON.stringify(it.f[field]) === JSON.stringify(value)) continue;
        write(field, value, it.f[field]);
        it.f[field] = value;
      }
    }
    this.bump(it, true);
    this.emit(id, it.v);
    return done(200, it.v);
  }

  // A batch; `dies` is the number of commands behind which the process is gone.
  batch(commands, dies = Infinity) {
    const results = new Map();
    for (const command of commands.slice(0, dies)) {
      const before = command.expectedAfter === undefined ? undefined : results.get(command.expectedAfter);
      let result;
      if (command.expectedAfter !== undefined && !before) result = { status: 400, problem: { status: 400 } };
      else if (before && before.status >= 400) {
        const status = before.status === 503 ? 503 : 424;
        result = { status, problem: { status } };
      } else if (this.random.is(this.throttle)) result = { status: 503, problem: { status: 503 } };
      else result = this.run(command, before ? before.version : command.expectedVersion);
      results.set(command.id, result);

    }
    return commands.map(({ id }) => ({ id, ...results.get(id) }));
  }

  // The consumer of the stream: some of the records, in any order, become a row.
  append(count, random = this.random) {
    const taken = [];
    while (taken.length < count && this.pending.length) taken.push(...this.pending.splice(random.under(this.pending.length), 1));
    if (!taken.length && this.told.length && random.is(0.2)) taken.push(random.pick(this.told)); // it comes again
    const greatest = new Map();
    for (const record of taken) {
      const had = greatest.get(record.id);
      if (!had || had.v < record.v || (had.v === record.v && record.until)) greatest.set(record.id, record);
    }
    const entries = [...greatest.values()].filter(({ id, v, until }) => !this.log.slice(-16).some((row) =>
      row.entries.some((e) => e.id === id && (e.v > v || (e.v === v && (e.until || !until))))));
    if (entries.length) {
      const last = this.log.at(-1);
      const first = !last || last.at < this.now - 80 * day;
      this.log.push({ n: (last?.n ?? 0) + 1, x: String(this.random.under(1e9)), entries, at: this.now, first });
    }
    this.told.push(...taken);
  }
  forgetRows() { this.log = this.log.filter((row, i) => row.at > this.now - 90 * day || i === this.log.length - 1); }

  head() {
    const last = this.log.at(-1);
    return last && last.at > this.now - 80 * day ? `${this.form}_${last.n}_${last.x}` : `${this.form}_0_${this.now}`;
  }
  served() { return [...this.items].filter(([, it]) => !this.lapsed(it)); }
  change(id, it) { return { type: it.type, id, version: it.v, item: this.entity(id, it) }; }
  me() { return { type: "USER_META", id: "ann", version: 0, item: { entityType: "USER_META", userId: "ann", version: 0, defaultTzid: "UTC" } }; }

  snapshot(cursor) {
    const [form, token, after] = cursor ? cursor.split("~") : [String(this.form), this.head(), ""];
    if (form !== String(this.form)) return [400, {}];
    const all = [this.me(), ...this.served().sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, it]) => this.change(id, it))];
    const left = all.filter(({ type, id }) => !after || (type !== "USER_META" && id > after));
    const items = left.slice(0, 3), answer = items.map((change) => this.short(change));
    return [200, left.length > 3 ? { items: answer, cursor: [form, token, items[2].id].join("~") } : { items: answer, next: token }];
  }
  short(change) {
    if (!change.item || !this.random.is(this.omit)) return change;
    const { item, ...rest } = change;
    return { ...rest, omitted: true };
  }
  since(token) {
    const reset = (reason) => [410, { type: "/problems/sync-reset", status: 410, reason }];
    if (!/^\d+_\d+_\d+$/.test(token)) return [400, {}];
    const [form, n, x] = token.split("_");
    if (form !== String(this.form)) return reset("form");
    let rows;
    if (n === "0") {
      rows = this.log.filter((row) => row.at > this.now - 80 * day);
      if (Number(x) < this.now - 80 * day || (rows.length && rows[0].n !== 1)) return reset("expired");
    } else {
      const own = this.log.find((row) => row.n === Number(n));
      if (!own || own.at < this.now - 80 * day) return reset("expired");
      if (own.x !== x) return reset("unknown");
      rows = this.log.filter((row) => row.n > own.n);
    }
    if (rows.some((row, i) => (row.first && row.n > 1) || (i && rows[i - 1].n + 1 !== row.n))) return reset("expired");
    const page = rows.slice(0, 1 + this.random.under(4)), greatest = new Map();
    for (const { id, v, until } of page.flatMap((row) => row.entries)) {
      const had = greatest.get(id);
      if (!had || had.v < v || (had.v === v && until)) greatest.set(id, { v, until: until || (had?.v === v && had.until) });
    }
    const changes = [...greatest].map(([id, { v, until }]) => {
      const stale = this.history.length && this.random.is(0.5) ? this.random.pick(this.history) : this.items;
      let it = stale.get(id);
      if (!it || it.v < v || (until && it.ttl === null)) it = this.items.get(id); // C4
      if (!it || this.lapsed(it)) return { type: this.types.get(id), id, version: it?.v ?? v, gone: true };
      return this.short(this.change(id, it));
    });
    const last = page.at(-1);
    return [200, { changes, next: last ? `${form}_${last.n}_${last.x}` : token, more: rows.length > page.length }];
  }
  types = { get: (id) => (id.startsWith("rem_") ? "REMINDER" : "NOTE") };

  check() {
    const sum = Buffer.alloc(16), all = [this.me(), ...this.served().map(([id, it]) => this.change(id, it))];
    for (const { type, id, version, item } of all) {
      const entry = `${type} ${id} ${version}${item.ttl ? "!" : ""}`;
      createHash("sha256").update(entry).digest().subarray(0, 16).forEach((byte, i) => { sum[i] ^= byte; });
    }
    return { count: all.length, digest: sum.toString("hex"), next: this.head() };
  }

  // A restart from a copy of the table: versions go back, the log forks.
  restoreTable(copy) {
    this.items = structuredClone(copy.items);
    this.gone = new Map(copy.gone);
    this.receipts = new Map(copy.receipts);
    this.log = [...copy.log];
    this.pending = [];
    this.history = [];
  }
  copyTable() { return structuredClone({ items: this.items, gone: this.gone, receipts: this.receipts, log: this.log }); }

  // What the system does by itself: a reminder fires, an item gets its end, repair takes it off, TTL sweeps, a user restores.
  system(random) {
    const all = [...this.items.keys()];
    if (!all.length) return;
    const lapsed = all.filter((id) => this.lapsed(this.items.get(id))), ending = all.filter((id) => this.items.get(id).ttl !== null);
    const id = random.pick(lapsed.length && random.is(0.5) ? lapsed : ending.length && random.is(0.5) ? ending : all);
    const it = this.items.get(id), dice = random.next();
    if (this.lapsed(it)) {
      if (random.is(0.5)) {
        this.items.delete(id);
        this.emit(id, it.v + 1);
      } else {
        this.bump(it, true);
        it.fin = false;
        this.cold.delete(id);
        this.emit(id, it.v);
      }
    } else if (dice < 0.45) {
      it.f.fired = (it.f.fired ?? 0) + 1;
      this.bump(it, false);
      this.emit(id, it.v);
    } else if (dice < 0.75 && it.ttl === null && it.type === "REMINDER") {
      it.ttl = this.now + random.pick([6, 30]) * hour;
      this.cold.set(id, structuredClone(it));
      this.emit(id, it.v, true);
    } else if (it.ttl !== null) {
      this.bump(it, false);
      this.cold.delete(id);
      this.emit(id, it.v);
    }
  }
  restore(random) {
    const left = [...this.cold.keys()].filter((id) => !this.items.has(id) && !this.gone.has(id));
    if (!left.length) return;
    const id = random.pick(left), it = this.cold.get(id);
    this.cold.delete(id);
    Object.assign(it, { ttl: null, v: it.v + 2, e: null });
    this.items.set(id, it);
    this.emit(id, it.v);
  }
  sweep() {
    for (const [id, it] of this.items) {
      if (!this.lapsed(it)) continue;
      this.items.delete(id);
      this.emit(id, it.v + 1);
    }
  }

  // fetch answers as the API does.
  async fetch(url, { method, body }, dies) {
    const { pathname, searchParams } = new URL(url);
    const json = (status, value) => new Response(status === 204 || status === 304 ? null : JSON.stringify(value), {
      status, headers: { Date: new Date(this.now).toUTCString(), "Content-Type": "application/json" },
    });
    if (method === "POST" && pathname === "/v1/commands") return json(200, { results: this.batch(JSON.parse(body).commands, dies) });
    if (pathname === "/v1/changes/check") return json(200, this.check());
    if (pathname === "/v1/changes") {
      return json(...(searchParams.has("since") ? this.since(searchParams.get("since")) : this.snapshot(searchParams.get("cursor"))));
    }
    if (pathname === "/v1/me") return json(200, this.me().item);
    const id = pathname.split("/").at(-1), it = this.items.get(id);
    if (it && !this.lapsed(it)) return json(200, this.entity(id, it));
    return json(it || this.gone.has(id) || this.cold.has(id) ? 410 : 404, {});
  }
}
