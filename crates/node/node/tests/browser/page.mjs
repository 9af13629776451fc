// Watches the page at `/` of a real node: what it shows, with a neighbour and after the neighbour was killed, on a
// phone and on a wide screen, in both themes, and with a token.

import { once } from "node:events";
import { join } from "node:path";

const HANG_MS = 120_000;
const SIZES = [{ width: 360, height: 800 }, { width: 1280, height: 900 }];

/** Watches the page of `node`; kills its neighbour and in the end the node itself. */
export async function watchPage({ browser, node, neighbour, guarded, token, say }) {
  for (const colorScheme of ["light", "dark"]) {
    for (const viewport of SIZES) {
      const tab = await open(browser, node, say, { colorScheme, viewport });
      await shows(tab, "#peers", neighbour.peerId);
      await shows(tab, "#shards", "1 in mesh, 1 subscribed");
      const { scrollWidth, background } = await tab.evaluate(() => ({
        scrollWidth: document.documentElement.scrollWidth,
        background: getComputedStyle(document.body).backgroundColor,
      }));
      if (scrollWidth > viewport.width) say(`the page is ${scrollWidth} px wide on a screen of ${viewport.width}`);
      const brightness = Math.max(...background.match(/\d+/g).slice(0, 3).map(Number));
      if ((brightness > 127) !== (colorScheme === "light")) say(`${colorScheme}: the background is ${background}`);
      // With this variable the pictures are kept, to be looked at.
      const folder = process.env.UNDERTONE_PAGE_PICTURES;
      if (folder) await tab.screenshot({ path: join(folder, `page-${colorScheme}-${viewport.width}.png`), fullPage: true });
      await tab.context().close();
    }
  }
  await withToken(browser, guarded, token, say);

  const tab = await open(browser, node, say, {});
  await shows(tab, "#peers", neighbour.peerId);
  await kill(neighbour);
  await tab.waitForFunction((id) => !document.querySelector("#peers").textContent.includes(id), neighbour.peerId, {
    timeout: HANG_MS,
  });
  await shows(tab, "#shards", "no connected peer is subscribed");
  await kill(node);
  await shows(tab, "#state", "The node does not answer; last answer at");
  await tab.context().close();
}

/** The page counts the messages of an epoch, and says so when none is left. */
export async function watchQuota({ browser, member, limit, publish, say }) {
  const tab = await open(browser, member, say, {});
  for (let used = 0; used <= limit; used += 1) {
    if (used > 0) await publish();
    await shows(tab, "#quota", `Messages used${used} of ${limit}`);
    await shows(tab, "#quota", `Messages left${limit - used}`);
    await shows(tab, "#quota", `May publish${used < limit ? "yes" : "no"}`);
  }
  await shows(tab, "#quota", "of 86400 s");
  const marked = await tab.evaluate(() => [...document.querySelectorAll("#quota .bad")].map((e) => e.textContent));
  if (!marked.includes("0") || !marked.includes("no")) say(`a member that may not publish sees in red only: ${marked}`);
  await tab.context().close();
}

/** The page of a node with a token says so, takes it, and keeps it out of its address. */
async function withToken(browser, node, token, say) {
  const tab = await open(browser, node, say, {});
  await shows(tab, "#state", "The node asks for its token");
  await tab.fill("#token", "another");
  await tab.press("#token", "Enter");
  await shows(tab, "#state", "The node refused this token");
  await tab.fill("#token", token);
  await tab.press("#token", "Enter");
  await shows(tab, "#identity", node.peerId);
  if (tab.url() !== `${node.api}/`) say(`the address of the page became ${tab.url()}`);
  await tab.context().close();
}

async function open(browser, { api }, say, options) {
  const tab = await (await browser.newContext(options)).newPage();
  tab.on("pageerror", (error) => say(`the page failed: ${error}`));
  await tab.goto(`${api}/`);
  return tab;
}

async function shows(tab, selector, text) {
  const wanted = ([selector, text]) => document.querySelector(selector).textContent.includes(text);
  await tab.waitForFunction(wanted, [selector, text], { timeout: HANG_MS });
}

async function kill({ child }) {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
