// A js-waku light client in a page of a headless Chromium. Speaks the line protocol of README.md: commands go
// to the page, and what the page tells comes out.
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { event, serve } from "../common/lines.mjs";
import { clientOptions } from "./options.mjs";

const COMMANDS = ["wait_peers", "lightpush", "subscribe", "unsubscribe", "query", "query_hashes", "describe_record", "peers"];
const HTML = '<!doctype html><meta charset="utf-8"><title>light client</title><script src="page.js"></script>';

const { client, values } = clientOptions({ chromium: { type: "string" }, "trust-spki": { type: "string" } });
if (values.chromium === undefined) throw new Error("--chromium: give the path of the browser's program");

const bundled = await build({
  entryPoints: [fileURLToPath(new URL("page.mjs", import.meta.url))],
  bundle: true,
  format: "iife",
  platform: "browser",
  write: false,
  logLevel: "warning",
});
const files = { "/": ["text/html", HTML], "/page.js": ["text/javascript", bundled.outputFiles[0].contents] };
const server = createServer((request, response) => {
  const [type, body] = files[request.url] ?? [];
  if (body === undefined) return response.writeHead(404).end();
  response.writeHead(200, { "content-type": `${type}; charset=utf-8` }).end(body);
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));

// Tests run as root in containers, where Chromium's sandbox does not start. No page but ours is loaded.
const args = ["--no-sandbox"];
// The browser then takes any certificate with this key, and no other one that it does not trust anyway.
if (values["trust-spki"] !== undefined) args.push(`--ignore-certificate-errors-spki-list=${values["trust-spki"]}`);
const browser = await chromium.launch({ executablePath: values.chromium, args });
const page = await browser.newPage();
page.on("console", (message) => process.stderr.write(`page: ${message.text()}\n`));
page.on("pageerror", (error) => process.stderr.write(`page: ${error.stack ?? error}\n`));
await page.exposeFunction("tell", event);
await page.goto(`http://127.0.0.1:${server.address().port}/`);
await page.evaluate((options) => globalThis.start(options), client);

const inPage = (command) => page.evaluate((command) => globalThis.run(command), command);
serve({
  ...Object.fromEntries(COMMANDS.map((name) => [name, inPage])),
  quit: async (command) => {
    await inPage(command);
    await browser.close();
  },
});
