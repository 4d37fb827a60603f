// Writes the samples in TypeScript that /docs shows into one file, each in a function of its own, for the compiler to check.
import { writeFileSync } from "node:fs";

const [address, file] = process.argv.slice(2);
const html = await (await fetch(`${address}/docs`)).text();
const plain = (text) => text.replaceAll("&#34;", '"').replaceAll("&#39;", "'").replaceAll("&lt;", "<").replaceAll("&gt;", ">")
  .replaceAll("&#43;", "+").replaceAll("&amp;", "&");
const samples = [...html.matchAll(/<summary>TypeScript<\/summary><pre tabindex="0"><code>(.*?)<\/code>/gs)].map(([, text]) => plain(text));
const operations = html.match(/class="operation"/g).length;
if (samples.length !== operations) throw new Error(`${samples.length} samples of ${operations} operations`);
writeFileSync(file, `import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

const client = createClient<paths>({ baseUrl: "" });
${samples.map((text, n) => `export async function sample${n}() {\n  ${text.replaceAll("\n", "\n  ")}\n  return [data, error];\n}`).join("\n")}
`);
