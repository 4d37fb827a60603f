// A system and a browser for the tests: what they start ends with them.
import assert from "node:assert/strict";
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
 * that links to it, and so on.
 * @param {Awaited<ReturnType<typeof started>>} system @param {number} count
 */
export function writers(system, count) {
  const pause = 500, most = 5000;
  let stopped = false, written = 0;
  const work = Array.from({ length: count }, async (_, i) => {
    const user = `client${i + 1}`;
    let task = /** @type {any} */ (null);
    for (let n = 0; n < most && !stopped; n++) {
      if (n % 3 === 0) task = (await system.call("POST", "/v1/tasks", { title: `Written by a client ${n}` }, user)).json;
      else if (n % 3 === 1) await system.call("PATCH", `/v1/tasks/${task.taskId}`, { title: `Changed by a client ${n}` }, user, { "If-Match": '"1"' });
      else await system.call("POST", "/v1/notes", { title: `Noted by a client ${n}`, links: [{ targetType: "TASK", targetId: task.taskId }] }, user);
      written++;
      await new Promise((done) => setTimeout(done, pause));
    }
  });
  const all = Promise.all(work);
  all.catch(() => {}); // stop tells
  return {
    /** Ends them, and returns how many writes there were; a write that was refused fails. */
    async stop() { stopped = true; await all; return written; },
  };
}

/** Tells in the page of each button that is shown, and of each that is used. */
function watchButtons() {
  const tell = /** @type {any} */ (globalThis).toldOfButton, told = new Set();
  /** A button by what is written on it, without what differs from one to the next; one of many by its class. @param {Element} button */
  const nameOf = (button) => (button.matches(".span, .open") ? button.className : (button.getAttribute("aria-label") ?? button.textContent ?? "").trim().replace(/^(Repair|To the next).*/, "$1").replace(/\d[\d,]*/g, "N"));
  const look = () => {
    for (const button of document.querySelectorAll("button")) {
      const name = nameOf(button);
      if (!button.disabled && name !== "copied" && !told.has(name)) { told.add(name); tell(name, false); }
    }
  };
  addEventListener("click", (event) => {
    const button = /** @type {Element} */ (event.target).closest?.("button");
    if (button) tell(nameOf(button), true);
  }, true);
  new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true });
}

/** A browser whose pages are watched: what they complain of is in problems, and which buttons were used is in buttons. @param {string} program */
export async function browsing(program) {
  const root = process.getuid?.() === 0;
  if (root) console.log("console: the browser runs without its sandbox, because this is root");
  const browser = await chromium.launch({ executablePath: program, args: root ? ["--no-sandbox"] : [] });
  const problems = /** @type {string[]} */ ([]), buttons = /** @type {Map<string, boolean>} */ (new Map());
  /** @param {import("playwright-core").BrowserContextOptions} options */
  const open = async (options = {}) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, timezoneId: "Europe/Paris", locale: "en-GB", ...options });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const page = await context.newPage();
    page.on("console", (m) => { if (["error", "warning"].includes(m.type()) && !m.text().includes("status of 4")) problems.push(`${page.url()}: ${m.text()}`); });
    page.on("pageerror", (e) => problems.push(`${page.url()}: ${e.stack}`));
    page.on("requestfailed", (r) => { if (r.failure()?.errorText !== "net::ERR_ABORTED") problems.push(`${page.url()}: ${r.url()} ${r.failure()?.errorText}`); });
    page.on("request", (r) => { if (!/^(http:\/\/127\.0\.0\.1:|data:)/.test(r.url())) problems.push(`asks elsewhere: ${r.url()}`); });
    await context.exposeFunction("toldOfButton", (/** @type {string} */ name, /** @type {boolean} */ used) => buttons.set(name, used || buttons.get(name) === true));
    await page.addInitScript(watchButtons);
    await page.addInitScript(() => addEventListener("securitypolicyviolation", (e) => console.error(`policy: ${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}:${e.lineNumber}`)));
    return page;
  };
  return { browser, open, problems, buttons };
}

/** What axe finds on the page. Its script comes through the debugger, so the policy stays on. @param {import("playwright-core").Page} page */
export async function accessible(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => /** @type {any} */ (globalThis).axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map((/** @type {any} */ v) => `${v.id} (${v.impact}): ${v.nodes.slice(0, 3).map((/** @type {any} */ n) => `${n.target}: ${n.failureSummary}`).join(" | ")}`);
}

/**
 * Holds the page's first request for such an address, until it is freed.
 * @param {import("playwright-core").Page} page @param {RegExp | ((url: URL) => boolean)} address @param {string} [method] any by default
 */
export async function held(page, address, method) {
  const told = new EventEmitter(), asked = once(told, "asked"), freed = once(told, "freed"), answered = once(told, "answered");
  let isFirst = true;
  await page.route(address, async (route) => {
    if (!isFirst || (method && route.request().method() !== method)) return route.continue();
    isFirst = false;
    told.emit("asked");
    await freed;
    await route.fulfill({ response: await route.fetch({ timeout: 0 }) });
    told.emit("answered");
  });
  return { asked, free: () => { told.emit("freed"); }, answered };
}

/** Holds each shown time against its instant: what is read is UTC, and the hover has the local one. @param {import("playwright-core").Page} page @param {string} zone @param {string} name */
export async function localTimes(page, zone, name) {
  const times = await page.evaluate(() => [...document.querySelectorAll("main time")].map((t) => [t.getAttribute("datetime") ?? "", t.textContent ?? "", t.getAttribute("title") ?? ""]));
  for (const [at, text, title] of times) {
    const utc = new Date(at).toISOString();
    assert.ok([utc.slice(11, 23), `${utc.slice(0, 19).replace("T", " ")}Z`].includes(text), `${name}: ${at} is shown as ${text}`);
    assert.equal(title, `${utc.slice(0, 19).replace("T", " ")}Z, here ${new Date(at).toLocaleString("en-GB", { timeZone: zone })} (${zone})`, name);
  }
  return times.length;
}
