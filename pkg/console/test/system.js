// A system and a browser for the tests: what they start ends with them.
import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import path from "node:path";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Starts nexus dev and returns where it is. @param {string} program @param {string[]} more */
export async function started(program, ...more) {
  const child = spawn(program, ["dev", "--ephemeral", "--addr", "127.0.0.1:0", ...more], { cwd: path.resolve(import.meta.dirname, "../../..") });
  let said = "";
  const url = await new Promise((resolve, reject) => {
    let out = "";
    child.stderr.on("data", (chunk) => { said += chunk; });
    child.stdout.on("data", (chunk) => {
      out += chunk;
      const found = /^ready (\S+)$/m.exec(out);
      if (found) resolve(found[1]);
    });
    child.on("exit", (code) => reject(new Error(`nexus dev ended with ${code}: ${said}`)));
  });
  /** @param {string} method @param {string} route @param {any} [body] @param {string} [user] @param {Record<string, string>} [headers] */
  const call = async (method, route, body, user = "ann", headers = {}) => {
    const response = await fetch(url + route, {
      method, body: body && (typeof body === "string" ? body : JSON.stringify(body)),
      headers: { Authorization: `Bearer ${user}`, ...(body && { "Content-Type": "application/json" }), ...headers },
    });
    const text = await response.text();
    if (response.status >= 300) throw new Error(`${method} ${route}: ${response.status} ${text}`);
    return { json: text && JSON.parse(text.split("\n")[0]), text, headers: response.headers };
  };
  return {
    url, call,
    /** Waits until the system has said something. @param {RegExp} what */
    heard: (what) => new Promise((/** @type {(v?: any) => void} */ resolve) => {
      const look = () => { if (what.test(said)) { child.stderr.off("data", look); resolve(); } };
      child.stderr.on("data", look);
      look();
    }),
    settle: () => call("POST", "/dev/settle", {}),
    stop: () => new Promise((resolve) => { child.removeAllListeners("exit"); child.on("exit", resolve); child.kill(); }),
  };
}

/**
 * Lets clients write to a system, each as a user of its own and about twice a second, until they are stopped: a task, its change, a note
 * that links to it, and so on. They pause while a test needs a system at rest.
 * @param {Awaited<ReturnType<typeof started>>} system @param {number} count
 */
export function writers(system, count) {
  const pause = 500, most = 5000;
  let resting = Promise.resolve(), rested = () => {}, stopped = false, written = 0;
  const between = () => Promise.all([resting, new Promise((done) => setTimeout(done, pause))]);
  /** The write under way of each client. */
  const under = Array.from({ length: count }, () => Promise.resolve());
  const work = Array.from({ length: count }, async (_, i) => {
    const user = `client${i + 1}`;
    let task = /** @type {any} */ (null);
    for (let n = 0; n < most && !stopped; n++) {
      const write = async () => {
        if (n % 3 === 0) task = (await system.call("POST", "/v1/tasks", { title: `Written by a client ${n}` }, user)).json;
        else if (n % 3 === 1) await system.call("PATCH", `/v1/tasks/${task.taskId}`, { title: `Changed by a client ${n}` }, user, { "If-Match": '"1"' });
        else await system.call("POST", "/v1/notes", { title: `Noted by a client ${n}`, links: [{ targetType: "TASK", targetId: task.taskId }] }, user);
        written++;
      };
      await (under[i] = write());
      await between();
    }
  });
  const all = Promise.all(work);
  all.catch(() => {}); // stop tells
  return {
    /** Runs something while no client writes. @param {() => Promise<void>} run */
    async quietly(run) {
      resting = new Promise((done) => { rested = done; });
      try { await Promise.allSettled(under); await run(); } finally { rested(); }
    },
    /** Ends them, and returns how many writes there were; a write that was refused fails. */
    async stop() { stopped = true; rested(); await all; return written; },
  };
}

/** A browser whose pages are watched: what they complain of is in problems. @param {string} program */
export async function browsing(program) {
  const root = process.getuid?.() === 0;
  if (root) console.log("console: the browser runs without its sandbox, because this is root");
  const browser = await chromium.launch({ executablePath: program, args: root ? ["--no-sandbox"] : [] });
  const problems = /** @type {string[]} */ ([]);
  /** @param {import("playwright-core").BrowserContextOptions} options */
  const open = async (options = {}) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, timezoneId: "Europe/Paris", locale: "en-GB", ...options });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const page = await context.newPage();
    page.on("console", (m) => { if (["error", "warning"].includes(m.type()) && !m.text().includes("status of 4")) problems.push(`${page.url()}: ${m.text()}`); });
    page.on("pageerror", (e) => problems.push(`${page.url()}: ${e.stack}`));
    page.on("request", (r) => { if (!/^(http:\/\/127\.0\.0\.1:|data:)/.test(r.url())) problems.push(`asks elsewhere: ${r.url()}`); });
    await page.addInitScript(() => addEventListener("securitypolicyviolation", (e) => console.error(`policy: ${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}:${e.lineNumber}`)));
    return page;
  };
  return { browser, open, problems };
}

/** What axe finds on the page. Its script comes through the debugger, so the policy stays on. @param {import("playwright-core").Page} page */
export async function accessible(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => /** @type {any} */ (globalThis).axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map((/** @type {any} */ v) => `${v.id} (${v.impact}): ${v.nodes.slice(0, 3).map((/** @type {any} */ n) => `${n.target}: ${n.failureSummary}`).join(" | ")}`);
}

/** Holds the page's first request for such an address, until it is freed. @param {import("playwright-core").Page} page @param {RegExp} address */
export async function held(page, address) {
  const told = new EventEmitter(), asked = once(told, "asked"), freed = once(told, "freed"), answered = once(told, "answered");
  await page.route(address, async (route) => {
    told.emit("asked");
    await freed;
    await route.fulfill({ response: await route.fetch() });
    told.emit("answered");
  }, { times: 1 });
  return { asked, free: () => { told.emit("freed"); }, answered };
}
