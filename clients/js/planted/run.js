// Plants each mistake into a copy of the sources and lists whether the tests find it. Exit 1 if one lives.
//
//   node planted/run.js [--histories N] [NAME…]
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { mistakes } from "./mistakes.js";

const { values, positionals } = parseArgs({ options: { histories: { type: "string", default: "5000" } }, allowPositionals: true });
const root = new URL("../", import.meta.url);
const tests = ["push", "client", "store", "live", "history"].map((name) => `test/${name}.test.js`);
const seconds = 600;

/** plant makes the folder of the sources, and of the example's part for reminders, with a mistake. */
function plant(edits, folder) {
  cpSync(new URL("src", root), folder, { recursive: true });
  cpSync(new URL("example/push.js", root), join(folder, "push.js"));
  for (const { file, was, is } of edits) {
    const path = join(folder, file), text = readFileSync(path, "utf8");
    if (text.split(was).length !== 2) throw new Error(`${file}: not there exactly once: ${was}`);
    writeFileSync(path, text.replace(was, () => is));
  }
}

/** find returns the first test that fails, or nothing. */
function find(folder) {
  for (const file of tests) {
    const { status, stdout, signal } = spawnSync(process.execPath, ["--test", "--test-reporter=tap", file], {
      cwd: root, encoding: "utf8", timeout: seconds * 1000,
      env: { ...process.env, NEXUS_CLIENT_SOURCE: pathToFileURL(`${folder}/`).href, NEXUS_HISTORIES: values.histories },
    });
    if (signal) return `${file}: did not end`;
    if (status === 0) continue;
    const name = /^ *not ok \d+ - (.*)$/m.exec(stdout)?.[1] ?? "";
    const after = /failed after (\d+) tests/.exec(stdout)?.[1];
    const why = /Got \w+(?: \[\w+\])?: (.{0,70})/.exec(stdout)?.[1];
    return after ? `history ${after}: ${why}` : name;
  }
  return undefined;
}

let living = 0;
for (const name of positionals.length ? positionals : Object.keys(mistakes)) {
  if (!mistakes[name]) throw new Error(`no such mistake: ${name}`);
  const work = mkdtempSync(join(tmpdir(), "planted-"));
  try {
    plant(mistakes[name], work);
    const found = find(work);
    if (!found) living++;
    console.log(`${name.padEnd(34)} ${found ? `caught   ${found}` : "LIVES"}`);
  } finally {
    rmSync(work, { recursive: true });
  }
}
process.exitCode = living ? 1 : 0;
