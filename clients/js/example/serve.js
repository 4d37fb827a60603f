// Serves the example and the client's sources on this machine: node example/serve.js [port]
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const root = new URL("../", import.meta.url);
const types = { html: "text/html", css: "text/css", js: "text/javascript" };

/**
 * serve listens on a port of this machine and returns the server.
 * @param {number} port 0 picks one
 */
export async function serve(port) {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    if (path === "/") return response.writeHead(302, { Location: "/example/" }).end();
    const file = /^\/(example|src)\/([a-z]*\.?[a-z]*)$/.exec(path);
    try {
      if (!file) throw new Error("not there");
      const name = file[2] || "index.html", body = await readFile(new URL(`${file[1]}/${name}`, root));
      const type = types[/** @type {keyof types} */ (name.split(".")[1])];
      response.writeHead(200, { "Content-Type": `${type}; charset=utf-8`, "Cache-Control": "no-cache" }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(port, "127.0.0.1", () => resolve(undefined)));
  return server;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const server = await serve(Number(process.argv[2] ?? 8090)), address = server.address();
  console.log(`http://127.0.0.1:${typeof address === "object" && address?.port}/example/?api=http://127.0.0.1:8080&user=ann`);
}
