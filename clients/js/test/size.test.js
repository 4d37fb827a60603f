// The sources are small enough to be loaded as they are. Measured are the modules that a browser loads, without comments and the
// white space before lines, together, as Brotli compresses them; names stay as they are.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";

const most = 10 * 1024; // bytes
const folder = new URL("../src/", import.meta.url);

/** bare returns a source without what tools need and browsers do not. */
const bare = (text) => text.replace(/^\s*\/\*\*[\s\S]*?\*\/\s*$/gm, "").replace(/^\s*\/\/.*$/gm, "").replace(/\/\*\*.*?\*\/ ?/g, "")
  .replace(/^\s+/gm, "");
const sources = readdirSync(folder).filter((name) => name !== "memory.js")
  .map((name) => ({ name, text: bare(readFileSync(new URL(name, folder), "utf8")) }));

test("the client is at most 10 KB compressed", (t) => {
  const all = sources.map(({ text }) => text).join("");
  const size = brotliCompressSync(all).length;
  t.diagnostic(`${sources.length} modules, ${all.length} bytes: ${size} by Brotli, ${gzipSync(all, { level: 9 }).length} by gzip`);
  assert(size <= most, `${size} bytes`);
});

test("the measured text is the program", () => {
  for (const { name, text } of sources) assert.doesNotMatch(text, /^\s*\*|@param|@typedef/m, name);
});
