// Two pages in a browser call a system that allows the origin of the first: what a page of that origin can do and read, and that
// a page of another origin can do nothing. The arguments are the programs: nexus, and the browser.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import http from "node:http";
import { chromium } from "playwright-core";

const [nexus, browserPath] = process.argv.slice(2);

// An origin is a port of its own: it serves one empty page.
async function origin() {
  const server = http.createServer((_, res) => res.end("<!doctype html><title>page</title>"));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${server.address().port}` };
}

// started runs the system until it says where it is ready.
function started(allowed) {
  const child = spawn(nexus, ["dev", "--store", "memory", "--ephemeral", "--addr", "127.0.0.1:0", "--cors", allowed]);
  const ready = new Promise((resolve, reject) => {
    let out = "", err = "";
    child.stderr.on("data", (chunk) => { err += chunk; });
    child.stdout.on("data", (chunk) => {
      out += chunk;
      const found = /^ready (\S+)$/m.exec(out);
      if (found) resolve(found[1]);
    });
    child.on("exit", (code) => reject(new Error(`nexus dev ended with ${code}: ${err}`)));
  });
  return { child, ready };
}

// call is carried out by the page. What a browser keeps from the page is a TypeError there, and undefined here.
async function call(page, url, { method = "GET", body, headers = {}, user = "ann", ...rest } = {}) {
  return page.evaluate(async ([url, init]) => {
    try {
      const res = await fetch(url, init);
      const text = await res.text();
      return { status: res.status, headers: Object.fromEntries(res.headers), json: text ? JSON.parse(text) : null };
    } catch (e) {
      if (!(e instanceof TypeError)) throw e;
      return undefined;
    }
  }, [url, {
    method, body: body && JSON.stringify(body), ...rest,
    headers: { ...(user && { Authorization: `Bearer ${user}` }), ...(body && { "Content-Type": "application/json" }), ...headers },
  }]);
}

async function allowed(page, api) {
  const made = await call(page, `${api}/v1/notes`, { method: "POST", body: { title: "a" }, headers: { "Idempotency-Key": "k1" } });
  assert.equal(made.status, 201);
  for (const name of ["etag", "location", "x-request-id", "x-trace-id", "date"]) assert(made.headers[name], `${name} can be read`);
  assert.equal(made.headers.etag, '"1"');
  const again = await call(page, `${api}/v1/notes`, { method: "POST", body: { title: "a" }, headers: { "Idempotency-Key": "k1" } });
  assert.deepEqual([again.status, again.headers["idempotency-replayed"]], [201, "true"]);

  const note = api + made.headers.location;
  const changed = await call(page, note, { method: "PATCH", body: { title: "b" }, headers: { "If-Match": made.headers.etag } });
  assert.deepEqual([changed.status, changed.headers.etag, changed.json.title], [200, '"2"', "b"]);
  assert.equal((await call(page, note, { headers: { "If-None-Match": '"2"' } })).status, 304);
  const board = await call(page, `${api}/v1/board`);
  assert.equal((await call(page, `${api}/v1/board`, { headers: { "If-None-Match": board.headers.etag } })).status, 304);

  const stale = await call(page, note, { method: "PATCH", body: { title: "c" }, headers: { "If-Match": '"1"' } });
  assert.deepEqual([stale.status, stale.json.type, stale.json.currentVersion], [412, "/problems/precondition-failed", 2]);
  const nobody = await call(page, note, { user: null });
  assert.deepEqual([nobody.status, nobody.json.type], [401, "/problems/unauthenticated"]);
  assert.equal((await call(page, `${api}/v1/notes/note_none`)).status, 404);
  assert.equal((await call(page, `${api}/v1/tasks`, { method: "POST", body: { titel: "x" } })).status, 422);
  assert.equal((await call(page, note, { method: "DELETE", headers: { "If-Match": '"2"' } })).status, 204);

  assert.equal(await call(page, note, { headers: { "X-Other": "1" } }), undefined, "a header that is not on the list");
  assert.equal(await call(page, note, { credentials: "include" }), undefined, "credentials of the browser");
  assert.equal(await call(page, `${api}/dev/info`), undefined, "what is local only");
  assert.equal(await call(page, `${api}/dev/clock`, { method: "POST", body: { advance: "1h" } }), undefined);
}

async function refused(page, api) {
  assert.equal(await call(page, `${api}/v1/notes?state=recent`), undefined);
  assert.equal(await call(page, `${api}/v1/notes`, { method: "POST", body: { title: "from elsewhere" } }), undefined);
  assert.equal(await call(page, `${api}/openapi.json`, { user: null }), undefined);
  assert.equal(await call(page, `${api}/dev/info`, { user: null }), undefined);
}

const app = await origin(), other = await origin();
const system = started(app.url);
const browser = await chromium.launch({ executablePath: browserPath, args: process.getuid() === 0 ? ["--no-sandbox"] : [] });
try {
  const api = await system.ready;
  const page = await browser.newPage(), stranger = await browser.newPage();
  await page.goto(app.url);
  await stranger.goto(other.url);
  await allowed(page, api);
  await refused(stranger, api);
  const notes = await call(page, `${api}/v1/notes?state=recent`);
  assert.deepEqual(notes.json.items, [], "the page of the other origin wrote nothing");
  console.log(`browse: pages in Chromium ${browser.version()}: the allowed origin works, the other is kept out`);
} finally {
  await browser.close();
  system.child.removeAllListeners("exit");
  system.child.kill();
  app.server.close();
  other.server.close();
}
