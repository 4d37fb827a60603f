// Uses /docs as a person would. The arguments are the programs, nexus and the browser, and a folder for pictures.
import assert from "node:assert/strict";
import path from "node:path";
import { started, browsing, accessible } from "./system.js";

const [nexus, chromium, pictures] = process.argv.slice(2);
const system = await started(nexus);
const { browser, open, problems } = await browsing(chromium);
try {
  for (const [name, options] of /** @type {[string, any][]} */ ([["light-wide", { colorScheme: "light" }], ["dark-narrow", { colorScheme: "dark", viewport: { width: 400, height: 860 } }]])) {
    const page = await open(options), user = name;
    await page.goto(`${system.url}/docs`);
    await page.getByText(`export NEXUS=${system.url} TOKEN=ann`).waitFor();
    await page.getByLabel("Try it as user").fill(user);
    const article = (/** @type {string} */ id) => page.locator(`#${id}`);

    const create = article("createTask");
    await create.getByRole("button", { name: "Try it" }).click();
    await create.getByLabel("body, application/json").fill('{"title": "Tried from the page"}');
    await create.getByRole("button", { name: "Send" }).dblclick();
    assert.deepEqual((await system.call("GET", "/v1/tasks", undefined, user)).json.items, [], "what writes asks first");
    await create.getByRole("button", { name: "Send it: it writes" }).click();
    await create.getByText(/^201 /).waitFor();
    const [task] = (await system.call("GET", "/v1/tasks", undefined, user)).json.items;
    assert.equal(task.title, "Tried from the page");

    const change = article("updateTask");
    await change.getByRole("button", { name: "Try it" }).click();
    await change.getByLabel("taskId (required)").fill(task.taskId);
    const match = change.getByLabel("If-Match (required)");
    await match.focus();
    assert.equal(await match.inputValue(), '"1"', "the tag of the answer before is offered");
    await change.getByRole("button", { name: "Send" }).click();
    await change.getByRole("button", { name: "Send it: it writes" }).click();
    await change.getByText(/^200 /).waitFor();
    await change.getByRole("button", { name: "Send" }).click();
    await change.getByRole("button", { name: "Send it: it writes" }).click();
    await change.getByText(/^412 /).waitFor();
    await change.getByText("precondition-failed").waitFor();

    const read = article("listTasks");
    await read.getByRole("button", { name: "Try it" }).press("Enter");
    await read.getByLabel("limit").fill("0");
    await read.getByRole("button", { name: "Send" }).click();
    await read.getByText(/^4\d\d /).waitFor();
    await read.getByLabel("limit").fill("10");
    await read.getByLabel("limit").press("Enter");
    await read.getByText(/^200 /).waitFor();

    const drop = article("deleteTask");
    await drop.getByRole("button", { name: "Try it" }).click();
    await drop.getByLabel("taskId (required)").fill(task.taskId);
    await drop.getByLabel("If-Match (required)").fill('"2"');
    await drop.getByRole("button", { name: "Send" }).click();
    await drop.getByRole("button", { name: /^Send it: Delete/ }).click();
    await drop.getByText(/^20\d /).waitFor();

    assert.deepEqual(await accessible(page), [], `axe, ${name}`);
    const { scrollWidth, clientWidth } = await page.evaluate(() => ({ scrollWidth: document.documentElement.scrollWidth, clientWidth: document.documentElement.clientWidth }));
    assert.ok(scrollWidth <= clientWidth, `${name}: ${scrollWidth} of ${clientWidth}`);
    await page.locator("#guide-versions h3").evaluate((title) => title.scrollIntoView({ behavior: "instant" }));
    await page.screenshot({ path: path.join(pictures, `docs-guides-${name}.png`) });
    await change.locator("h3").evaluate((title) => title.scrollIntoView({ behavior: "instant" }));
    await page.screenshot({ path: path.join(pictures, `docs-${name}.png`) });
    const followed = page.context().waitForEvent("page");
    await create.getByRole("link", { name: "Follow this change" }).click();
    await (await followed).locator(".span", { hasText: "POST /v1/tasks" }).waitFor();
    await page.context().close();
  }
  assert.deepEqual(problems, []);
  console.log("docs: an operation is tried, changed, refused and followed");
} finally {
  await browser.close();
  await system.stop();
}
