// A running `nexus dev` on the real engine, for the tests that need one.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));

// The tests play in seconds what people do in days.
const roomy = ["--limit", "user=1000000000", "--limit", "zone=1000000000"];

/**
 * start runs the system until it says where it is ready.
 * @param {string} program @param {string[]} [flags]
 */
export async function start(program, flags = []) {
  const system = spawn(program, ["dev", "--ephemeral", "--addr", "127.0.0.1:0", ...roomy, ...flags], { cwd: root });
  let said = "";
  const api = await new Promise((resolve, reject) => {
    system.stderr.on("data", (chunk) => { said += chunk; });
    system.stdout.on("data", (chunk) => {
      const found = /^ready (\S+)$/m.exec(said += chunk);
      if (found) resolve(found[1]);
    });
    system.on("exit", (code) => reject(new Error(`nexus dev ended with ${code}: ${said}`)));
  });
  /** @param {Response} answer */
  const read = async (answer) => {
    const text = await answer.text();
    assert.equal(answer.status, 200, `${answer.url}: ${text}`);
    return JSON.parse(text);
  };
  return {
    api,
    /** dev calls a route of the local system. */
    dev: async (path, body) => read(await fetch(`${api}/dev/${path}`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
    })),
    get: async (path, user) => read(await fetch(api + path, { headers: { Authorization: `Bearer ${user}` } })),
    /** now is the system's time, in milliseconds. */
    now: async () => Date.parse((await read(await fetch(`${api}/dev/clock`))).now),
    /** said returns what the system said beside its requests. */
    said: () => said.split("\n").filter((line) => !line.includes("level=INFO")).slice(-40).join("\n"),
    async stop() {
      system.removeAllListeners("exit");
      system.kill();
      await once(system, "exit");
    },
  };
}
