// @ts-check
// The one module that knows the paths of a system. It is given the address of the system, and asks it what it can do.

/** @typedef {{name: string, available: boolean, reason?: string, command?: string}} Capability */

/** A refusal of the system, with its reason. */
export class Refusal extends Error {
  /** @param {number} status @param {string} detail @param {any} [problem] */
  constructor(status, detail, problem) {
    super(detail);
    this.status = status;
    this.problem = problem;
  }
}

/** @param {Record<string, any>} of */
export function query(of) {
  const out = new URLSearchParams();
  for (const [name, value] of Object.entries(of)) if (value !== undefined && value !== null && value !== "") out.set(name, String(value));
  const text = out.toString();
  return text && `?${text}`;
}

/** @param {Response} response */
async function refuse(response) {
  if (response.ok) return;
  let problem;
  try { problem = await response.json(); } catch { /* no problem document */ }
  throw new Refusal(response.status, problem?.detail ?? `${response.status} ${response.statusText}`, problem);
}

/** What a clock of the zone shows. @param {number} at @param {string} zone */
const wallOf = (at, zone) => new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "medium" }).format(at);

/** When the day begins in the zone. @param {number} day its midnight in UTC @param {string} zone */
function midnightOf(day, zone) {
  let at = day;
  for (let i = 0; i < 2; i++) at += day - Date.parse(`${wallOf(at, zone).replace(" ", "T")}Z`);
  return at;
}

export class API {
  /** @param {string} base */
  constructor(base) { this.base = base; }

  /** @param {string} path @param {RequestInit} [init] */
  async ask(path, init) {
    const response = await fetch(this.base + path, init);
    await refuse(response);
    return response.json();
  }

  /** @param {string} path @param {any} body @param {string} [media] */
  post(path, body, media = "application/json") {
    return this.ask(path, { method: "POST", headers: { "Content-Type": media }, body: typeof body === "string" ? body : JSON.stringify(body) });
  }

  /** Reads an answer of lines of JSON as they come. @param {string} path @param {any} body @param {(line: any) => void} each @param {AbortSignal} [signal] */
  async lines(path, body, each, signal) {
    const response = await fetch(this.base + path, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal,
    });
    await refuse(response);
    const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader(), decoder = new TextDecoder();
    for (let rest = ""; ;) {
      const { done, value } = await reader.read();
      rest += decoder.decode(value, { stream: !done });
      const parts = rest.split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) if (part) each(JSON.parse(part));
      if (done) return;
    }
  }

  /** @returns {Promise<{items: Capability[], consumers: string[]}>} */
  capabilities() { return this.ask("/dev/capabilities"); }
  info() { return this.ask("/dev/info"); }
  users(after = "") { return this.ask("/dev/users" + query({ limit: 1000, after })); }
  lag() { return this.ask("/dev/lag"); }
  async rates() { return (await this.ask("/dev/rates")).items; }
  /** @param {Record<string, any>} filter */
  changes(filter) { return this.ask("/dev/changes" + query(filter)); }
  /** @param {string} trace */
  trace(trace) { return this.ask(`/dev/traces/${encodeURIComponent(trace)}`); }
  /** @param {string} user @param {string} item @param {number} version */
  async traceOf(user, item, version) { return (await this.ask("/dev/trace-id" + query({ user, item, version }))).traceId; }
  /** @param {string} user @param {string} item */
  async derived(user, item) { return (await this.ask("/dev/derived" + query({ user, item }))).state; }
  /** Delivers one record to consumers again. @param {string} record @param {string} consumer */
  deliver(record, consumer) { return this.post("/dev/replay" + query({ consumer }), record, "application/x-ndjson"); }
  /** @param {Record<string, any>} filter */
  parked(filter) { return this.ask("/dev/parked" + query(filter)); }
  /** @param {Record<string, any>} filter @returns {Promise<any[]>} */
  async parkedGroups(filter) { return (await this.ask("/dev/parked" + query({ ...filter, groups: true }))).items; }
  /** @param {Record<string, any>} filter @param {boolean} dryRun @param {(line: any) => void} each @param {AbortSignal} [signal] */
  redrive(filter, dryRun, each, signal) { return this.lines("/dev/parked/redrive", { filter, dryRun }, each, signal); }
  /** @param {Record<string, any>} filter @param {number} count @param {(line: any) => void} each */
  discard(filter, count, each) { return this.lines("/dev/parked/discard", { filter, count }, each); }
  /** @param {{user?: string, repair?: boolean, only?: any}} what @param {(line: any) => void} each @param {AbortSignal} [signal] */
  verify(what, each, signal) { return this.lines("/dev/verify", what, each, signal); }
  faults() { return this.ask("/dev/chaos"); }
  /** @param {any} fault */
  arm(fault) { return this.post("/dev/chaos", fault); }
  disarm() { return this.ask("/dev/chaos", { method: "DELETE" }); }
  /** @param {string} from @param {number} times */
  redeliver(from, times) { return this.post("/dev/redeliver", { from, times }); }
  cost() { return this.ask("/dev/cost"); }

  /** Asks the public API as a user. @param {string} user @param {string} path @param {any} [body] @returns {Promise<any>} */
  async as(user, path, body) {
    for (;;) {
      const response = await fetch(this.base + path, {
        method: body ? "POST" : "GET", body: body && JSON.stringify(body),
        headers: { Authorization: `Bearer ${user}`, ...(body ? { "Content-Type": "application/json" } : {}) },
      });
      if (response.status === 429) {
        await new Promise((done) => setTimeout(done, 1000 * Number(response.headers.get("Retry-After") ?? 1)));
        continue;
      }
      await refuse(response);
      return response.json();
    }
  }

  /** Writes so many tasks as a user, and returns how many. It tells how many are written before each portion and at the end. @param {string} user @param {number} count @param {(written: number, portion: number) => Promise<void>} told */
  async writeTasks(user, count, told) {
    const inOne = 20;
    let made = 0;
    for (let n = 0; n < count; n += inOne) {
      const commands = Array.from({ length: Math.min(inOne, count - n) }, (_, i) => ({ id: crypto.randomUUID(), type: "CreateTask", data: { title: `Written on purpose ${n + i + 1}` } }));
      await told(made, commands.length);
      for (;;) {
        const { results } = await this.as(user, "/v1/commands", { commands });
        const left = results.filter((/** @type {any} */ r) => r.status === 429 || r.status === 503);
        made += results.length - left.length;
        const wrong = results.find((/** @type {any} */ r) => r.status >= 400 && !left.includes(r));
        if (wrong) throw new Refusal(wrong.status, wrong.body?.detail ?? `a write was answered with ${wrong.status}`);
        if (!left.length) break;
        commands.splice(0, commands.length, ...commands.filter((c) => left.some((/** @type {any} */ r) => r.id === c.id)));
        await new Promise((done) => setTimeout(done, 1000));
      }
    }
    await told(made, 0);
    return made;
  }

  /** The present revision of a repository, or null. @param {string} user @param {string} path */
  async present(user, path) {
    try { return await this.as(user, path); } catch (error) {
      if (error instanceof Refusal && error.status === 404) return null;
      throw error;
    }
  }

  /** What a user has, as the public API shows it. @param {string} user @param {string} [day] */
  async dataOf(user, day) {
    const settings = await this.as(user, "/v1/me");
    const zone = settings.defaultTzid ?? "UTC", start = day || wallOf(Date.parse((await this.clock()).now), zone).slice(0, 10), monday = new Date(`${start}T00:00:00Z`);
    monday.setUTCDate(monday.getUTCDate() - ((monday.getUTCDay() + 6) % 7));
    const [from, to] = [0, 7].map((days) => new Date(midnightOf(monday.getTime() + days * 86400e3, zone)).toISOString().slice(0, 19) + "Z");
    const [agenda, board, notes, stats, tree, plan] = await Promise.all([
      this.as(user, "/v1/agenda" + query({ from, to, tz: zone })), this.as(user, "/v1/board"),
      this.as(user, "/v1/notes" + query({ limit: 50 })), this.as(user, "/v1/me/stats"),
      this.present(user, "/v1/values"), this.present(user, `/v1/plans/${start}`),
    ]);
    for (const note of notes.items.slice(0, 10)) note.backlinks = (await this.as(user, `/v1/notes/${note.noteId}/backlinks`)).items;
    return { day: start, agenda: agenda.items, board: board.columns, notes: notes.items, stats, settings, tree, plan };
  }

  due() { return this.ask("/dev/due?limit=300"); }
  /** @param {any} to */
  moveClock(to) { return this.post("/dev/clock", to); }
  /** @param {number} [before] */
  events(before) { return this.ask("/dev/events" + query({ limit: 200, before })); }
  clock() { return this.ask("/dev/clock"); }
  settle() { return this.post("/dev/settle", {}); }

  /** Listens to events. @param {string[]} kinds @param {Record<string, (data: string) => void>} on @param {(open: boolean) => void} connected */
  listen(kinds, on, connected) {
    const source = new EventSource(`${this.base}/dev/stream${query({ kinds: kinds.join(",") })}`);
    source.onopen = () => connected(true);
    source.onerror = () => connected(false);
    for (const kind of [...kinds, "gap", "lost"]) source.addEventListener(kind, (event) => on[kind]?.(event.data));
    return () => source.close();
  }
}
