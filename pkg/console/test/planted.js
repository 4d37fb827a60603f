// Programs with a mistake that is planted on purpose, as internal/simulate/planted plants it.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const root = path.resolve(import.meta.dirname, "../../..");

/** Builds nexus with a mistake, whose file has one edit, and returns the program. @param {string} name */
export async function planted(name) {
  const folder = mkdtempSync(path.join(tmpdir(), "nexus-planted-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const [, ...edits] = readFileSync(path.join(root, "internal/simulate/planted/mistakes", `${name}.diff`), "utf8").trimEnd().split("\n--- ");
  assert.equal(edits.length, 1);
  const [file, ...lines] = edits[0].split("\n"), of = (/** @type {string} */ mark) => lines.filter((line) => line[0] !== mark).map((line) => `${line.slice(1)}\n`).join("");
  const source = path.join(root, file), text = readFileSync(source, "utf8"), copy = path.join(folder, "edited.go"), overlay = path.join(folder, "overlay.json");
  assert.equal(text.split(of("+")).length, 2, `${name} is out of date`);
  writeFileSync(copy, text.replace(of("+"), () => of("-")));
  writeFileSync(overlay, JSON.stringify({ Replace: { [source]: copy } }));
  const program = path.join(folder, "nexus");
  await promisify(execFile)("go", ["build", "-overlay", overlay, "-o", program, "./cmd/nexus"], { cwd: root });
  return program;
}
