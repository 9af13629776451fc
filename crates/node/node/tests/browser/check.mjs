// Lets pages of other origins try to use a node in Chromium: `node check.mjs UNDERTONE CHROMIUM`.
//
// Two nodes are connected. What a page publishes through the first would arrive at the second; what it fetches
// would be gone from the first one's cache. Then the node's own page is watched (page.mjs). Every finding is a line
// on standard error; the exit status is 1 if there is one.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "playwright-core";
import { watchPage, watchQuota } from "./page.mjs";

const PUBSUB_TOPIC = "/waku/2/rs/66/0";
const MESSAGES = `/relay/v1/messages/${encodeURIComponent(PUBSUB_TOPIC)}`;
const CONTENT_TOPIC = "/browser/1/check/proto";
const HANG_MS = 120_000;
// Chromium is told that this name leads to loopback, as an attacker's name server would tell it.
const REBOUND = "rebound.example";

const [undertone, executablePath] = process.argv.slice(2).map((path) => resolve(path));
const findings = [];
const say = (finding) => findings.push(finding);
const folder = await mkdtemp(join(tmpdir(), "undertone-browser-"));
const children = [];
const servers = [];
let browser;

try {
  // A page that the owner allows, to see that the rule is not simply "no".
  const friendly = await site("localhost");
  const one = await node("one", [`--rest-allow-origin=${friendly.origin}`]);
  const two = await node("two", [`--static-peers=${one.addresses[0]}`]);
  await until("the nodes are in each other's mesh", async () => {
    const shards = await Promise.all([one, two].map((n) => json(n, "/admin/v1/peers/mesh")));
    return shards.every((mesh) => mesh.some((s) => s.shard === 0 && s.peers.length > 0));
  });
  await publish(two, "kept for the owner");
  await until("the message is in the owner's cache", async () => {
    return (await metric(one, "undertone_messages_delivered_total")) >= 1;
  });

  browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", `--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`],
  });
  // Another port of the same host is another origin of the same site; another host is another site.
  for (const host of ["127.0.0.1", "localhost"]) await attack(await site(host), one);
  await rebind(one);
  await befriend(friendly, one);

  await publish(one, "from the owner");
  await until("the owner's message arrives", async () => {
    const arrived = payloads(await json(two, MESSAGES));
    for (const text of arrived) {
      if (text.startsWith("evil")) say(`a page published: ${text}`);
    }
    return arrived.includes("from the owner");
  });
  const kept = payloads(await json(one, MESSAGES));
  if (!kept.includes("kept for the owner")) say("a page emptied the owner's cache");

  const token = "the-token-of-this-test";
  const guarded = await node("guarded", [`--rest-token=${token}`]);
  const [member, relay] = await members(2);
  await watchQuota({ browser, member, limit: 2, publish: () => publish(member, "within the limit"), say });
  await Promise.all([member, relay].map(stop));
  await watchPage({ browser, node: one, neighbour: two, guarded, token, say });
} finally {
  await browser?.close();
  for (const server of servers) server.close();
  await Promise.all(children.map((child) => stop({ child })));
  await rm(folder, { recursive: true, force: true });
}

for (const finding of findings) console.error(finding);
console.log(`pages of 4 origins and the node's own, ${findings.length} findings`);
process.exitCode = findings.length === 0 ? 0 : 1;

/** Everything that a page can try without asking, and what it has to ask for. */
async function attack({ origin }, target) {
  const tab = await (await browser.newContext()).newPage();
  await tab.goto(origin);
  const results = await tab.evaluate(
    async ({ api, messages, contentTopic }) => {
      const body = (payload) => JSON.stringify({ payload: btoa(payload), contentTopic });
      const results = {};
      const tried = async (name, attempt) => {
        results[name] = await attempt().then(
          (response) => (response.type === "opaque" ? "sent" : `status ${response.status}`),
          () => "refused by the browser",
        );
      };
      const post = { method: "POST" };
      const text = { "content-type": "text/plain" };
      const asJson = { "content-type": "application/json" };
      await tried("text", () =>
        fetch(api + messages, { ...post, mode: "no-cors", headers: text, body: body("evil text") }));
      await tried("json", () =>
        fetch(api + messages, { ...post, headers: asJson, body: body("evil json") }));
      await tried("delete", () =>
        fetch(`${api}/relay/v1/subscriptions`, { method: "DELETE", headers: asJson, body: "[]" }));
      await tried("peers", () => fetch(`${api}/admin/v1/peers`));
      await tried("cache", () => fetch(api + messages, { mode: "no-cors" }));
      const beacon = new Blob([body("evil beacon")], { type: "text/plain" });
      navigator.sendBeacon(api + messages, beacon);
      // A form whose text is JSON: `name=value` with the equals sign at the end of the payload's base64.
      const frame = document.createElement("iframe");
      frame.name = "form";
      document.body.append(frame);
      const form = document.createElement("form");
      Object.assign(form, { method: "POST", action: api + messages, target: "form" });
      form.enctype = "text/plain";
      const field = document.createElement("input");
      const [name, value] = JSON.stringify({ contentTopic, payload: btoa("evil a form") }).split("=");
      Object.assign(field, { name, value });
      form.append(field);
      document.body.append(form);
      const submitted = new Promise((done) => (frame.onload = done));
      form.submit();
      await submitted;
      for (const name of ["img", "script", "iframe"]) {
        const element = document.createElement(name);
        const ended = new Promise((done) => (element.onload = element.onerror = done));
        element.src = api + messages;
        document.body.append(element);
        await ended;
      }
      return results;
    },
    { api: target.api, messages: MESSAGES, contentTopic: CONTENT_TOPIC },
  );
  for (const name of ["json", "delete", "peers"]) {
    if (results[name] !== "refused by the browser") say(`${origin}: ${name}: ${results[name]}`);
  }
  // A link that leads there is a request of a foreign page too.
  await tab.evaluate((url) => (location.href = url), target.api + MESSAGES);
  await tab.waitForLoadState();
  await tab.context().close();
}

/** A name that its owner made to lead to the node is an origin that the browser takes for the node's own. */
async function rebind(target) {
  const tab = await (await browser.newContext()).newPage();
  const api = target.api.replace("127.0.0.1", REBOUND);
  const answer = await tab.goto(`${api}/health`);
  if (answer.status() !== 403) say(`a rebound name: /health: ${answer.status()}`);
  const status = await tab.evaluate(
    async ({ messages, contentTopic }) => {
      const body = JSON.stringify({ payload: btoa("evil rebound"), contentTopic });
      const headers = { "content-type": "application/json" };
      return (await fetch(messages, { method: "POST", headers, body })).status;
    },
    { messages: MESSAGES, contentTopic: CONTENT_TOPIC },
  );
  if (status !== 403) say(`a rebound name: publishing: ${status}`);
  await tab.context().close();
}

/** A page of an origin that is allowed reads and publishes. */
async function befriend({ origin }, target) {
  const tab = await (await browser.newContext()).newPage();
  await tab.goto(origin);
  const status = await tab.evaluate(
    async ({ api, messages, contentTopic }) => {
      const body = JSON.stringify({ payload: btoa("from a friend"), contentTopic });
      const headers = { "content-type": "application/json" };
      const posted = await fetch(api + messages, { method: "POST", headers, body });
      const read = await fetch(`${api}/health`);
      return [posted.status, (await read.json()).nodeHealth];
    },
    { api: target.api, messages: MESSAGES, contentTopic: CONTENT_TOPIC },
  );
  if (status.join() !== "200,READY") say(`an allowed page: ${status}`);
  await tab.context().close();
}

/** An empty page of an origin of its own. */
async function site(host) {
  const server = createServer((_, answer) => {
    answer.setHeader("content-type", "text/html");
    answer.end("<!doctype html><title>a page</title><body></body>");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  servers.push(server);
  return { origin: `http://${host}:${server.address().port}` };
}

/** A node of network `local`, without rate limiting unless it is given a registry, which asks for a token only if it is given one. */
async function node(name, flags) {
  const has = (start) => flags.some((flag) => flag.startsWith(start));
  const args = [
    "node", "--json", "--network=local", `--rln=${has("--rln-registry=")}`, "--listen-address=127.0.0.1", "--tcp-port=0",
    "--rest-port=0", "--rest-admin=true", `--data-dir=${join(folder, name)}`, "--log-level=warn", ...flags,
    ...(has("--rest-token=") ? [] : ["--rest-auth=none"]),
  ];
  const child = spawn(undertone, args, { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  const failed = once(child, "exit").then(([code]) => {
    throw new Error(`node ${name} ended with status ${code} before it listened; its flags: ${flags.join(" ")}`);
  });
  const [line] = await Promise.race([once(createInterface(child.stdout), "line"), failed]);
  failed.catch(() => {});
  const { listenAddresses, peerId, rest } = JSON.parse(line);
  return { api: rest, addresses: listenAddresses, peerId, child };
}

/**
 * Two connected nodes with rate limiting: a member with this limit, and one that only relays. Their epochs last a day, so
 * that none ends within the test.
 */
async function members(limit) {
  const registry = join(folder, "members.sqlite");
  const identity = join(folder, "member", "rln-identity.json");
  await mkdir(join(folder, "member"));
  execFileSync(undertone, ["rln", "keygen", "--out", identity], { stdio: "pipe" });
  const register = ["rln", "register", "--registry", registry, "--identity", identity, "--limit", String(limit)];
  execFileSync(undertone, register, { stdio: "pipe" });
  const limited = [`--rln-registry=${registry}`, "--rln-epoch-s=86400"];
  const member = await node("member", limited);
  const relay = await node("relay", [...limited, `--static-peers=${member.addresses[0]}`]);
  await until("the member has a mesh, and its membership", async () => {
    const mesh = await json(member, "/admin/v1/peers/mesh");
    const { rln } = await json(member, "/admin/v1/status");
    return rln?.mayPublish && mesh.some((s) => s.shard === 0 && s.peers.length > 0);
  });
  return [member, relay];
}

async function stop({ child }) {
  child.kill("SIGTERM");
  await (child.exitCode ?? child.signalCode ?? once(child, "exit"));
}

async function json({ api }, path) {
  const answer = await fetch(api + path);
  if (!answer.ok) throw new Error(`GET ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

async function metric({ api }, name) {
  const page = await (await fetch(`${api}/metrics`)).text();
  const line = page.split("\n").find((l) => l.startsWith(`${name} `));
  return Number(line?.split(" ")[1] ?? 0);
}

async function publish({ api }, text) {
  const body = JSON.stringify({ payload: btoa(text), contentTopic: CONTENT_TOPIC });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(api + MESSAGES, { method: "POST", headers, body });
  if (!answer.ok) throw new Error(`publishing: ${answer.status} ${await answer.text()}`);
}

function payloads(messages) {
  return messages.map(({ payload }) => atob(payload));
}

async function until(what, done) {
  for (const start = Date.now(); Date.now() - start < HANG_MS; await sleep(50)) {
    if (await done()) return;
  }
  throw new Error(`this did not happen: ${what}`);
}
