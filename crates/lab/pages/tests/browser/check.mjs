// Looks at a page in Chromium: `node check.mjs PAGE.html CHROMIUM OUT [--accept]`.
//
// Every finding is a line on standard error; the exit status is 1 if there is one. OUT gets the
// screenshots. `--accept` makes them the expected ones.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { inspect } from "./inspect.mjs";
import { compare, compareCharts, shrink, shrinkCharts } from "./structure.mjs";

const EXPECTED = join(import.meta.dirname, "expected");

// `print` is the page as it is laid out for paper of 18 cm; its reader prefers dark, paper is light.
const VIEWS = [
  { name: "light", width: 1100, colorScheme: "light" },
  { name: "dark", width: 1100, colorScheme: "dark" },
  { name: "narrow", width: 400, colorScheme: "light" },
  { name: "print", width: 680, colorScheme: "dark", media: "print" },
];

// A chart without letters in a corner of the window, so that its pixels are the same wherever it stood.
const ALONE = `
  .chart text { visibility: hidden }
  .chart > svg.alone {
    position: fixed; left: 0; top: 0; width: 360px; background: var(--paper); z-index: 9;
  }
`;

const [page, executablePath, out] = process.argv.slice(2).map((path) => resolve(path));
const accept = process.argv.includes("--accept");
const findings = [];
await mkdir(out, { recursive: true });

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  for (const view of VIEWS) {
    const say = (finding) => findings.push(`${view.name}: ${finding}`);
    const context = await browser.newContext({
      viewport: { width: view.width, height: 900 },
      colorScheme: view.colorScheme,
    });
    const tab = await context.newPage();
    tab.on("console", (message) => say(`console: ${message.text()}`));
    tab.on("pageerror", (error) => say(`script: ${error.message}`));
    tab.on("request", (request) => {
      const isPage = request.url() === pathToFileURL(page).href;
      if (!isPage && !request.url().startsWith("data:")) say(`request: ${request.url()}`);
    });
    await tab.emulateMedia({ media: view.media ?? "screen", colorScheme: view.colorScheme });
    await tab.goto(pathToFileURL(page).href);
    for (const finding of await tab.evaluate(inspect)) say(finding);
    const shot = await tab.screenshot({ fullPage: true });
    await writeFile(join(out, `${view.name}.png`), shot);
    await structure(view.name, shrink(shot), compare, say);
    await tab.addStyleTag({ content: ALONE });
    const charts = [];
    for (const chart of await tab.locator("figure.chart > svg").all()) {
      await chart.evaluate((svg) => svg.classList.add("alone"));
      charts.push(await chart.screenshot());
      await chart.evaluate((svg) => svg.classList.remove("alone"));
    }
    await structure(`${view.name}-charts`, shrinkCharts(charts), compareCharts, say);
    if (view.media === "print") {
      await tab.pdf({ path: join(out, `${basename(page, ".html")}.pdf`), format: "A4" });
    }
    await context.close();
  }
} finally {
  await browser.close();
}

for (const finding of findings) console.error(finding);
console.log(`${VIEWS.length} views, ${findings.length} findings; screenshots are in ${out}`);
process.exitCode = findings.length === 0 ? 0 : 1;

/** Compares a reduced screenshot with the expected one. */
async function structure(name, small, compare, say) {
  const path = join(EXPECTED, `${name}.png`);
  if (accept) {
    await mkdir(EXPECTED, { recursive: true });
    await writeFile(path, small);
    return;
  }
  const expected = await readFile(path).catch(() => undefined);
  if (expected === undefined) {
    say(`there is no expected/${name}.png; look at the screenshot and accept it with --accept`);
  } else {
    compare(expected, small).forEach(say);
  }
}
