"use strict";
// Shows the answers of /admin/v1/status. All texts are set as text, because peers choose some of them.

const POLL_MS = 1500;
const ANSWER_MS = 10000;
const TOKEN = "undertone-token";
const at = (id) => document.getElementById(id);
let before;
let timer;
let asking = false;
let answered;

function element(tag, text, kind) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function say(text, kind) {
  // A screen reader announces a change only, not every poll.
  if (at("state").textContent !== text) at("state").textContent = text;
  at("state").className = kind;
}

function bytes(n) {
  if (n < 1000) return `${n.toFixed(0)} B`;
  return n < 1e6 ? `${(n / 1e3).toFixed(1)} kB` : `${(n / 1e6).toFixed(1)} MB`;
}

function time(us) {
  return us < 1000 ? `${us} µs` : `${(us / 1000).toFixed(1)} ms`;
}

function list(id, pairs) {
  const items = pairs.flatMap(([name, value, kind]) => [element("dt", name), element("dd", value, kind)]);
  at(id).replaceChildren(...items);
}

function entry(name, value, kind, notes) {
  const item = element("li");
  const head = element("div", undefined, "head");
  head.append(element("span", name), element("span", value, kind));
  item.append(head, ...notes.filter(([text]) => text).map(([text, kind]) => element("div", text, kind)));
  return item;
}

function rates(now) {
  const { totals, validation } = now;
  const span = before ? (now.uptimeMs - before.uptimeMs) / 1000 : 0;
  const rate = (key, form, unit) =>
    span > 0 ? `${form(Math.max(0, totals[key] - before.totals[key]) / span)}${unit}` : "…";
  const count = (n) => n.toFixed(1);
  list("rates", [
    ["Messages in, with duplicates", rate("receivedMessages", count, " /s")],
    ["Messages out", rate("sentMessages", count, " /s")],
    ["Bytes in", rate("receivedBytes", bytes, "/s")],
    ["Bytes out", rate("queuedBytes", bytes, "/s")],
    ["Valid messages", String(totals.delivered)],
    ["Duplicates", String(totals.duplicateMessages)],
    ["Rejected", String(totals.rejected)],
    ["Published, failed", `${totals.published}, ${totals.publishFailed}`],
    ["Validation, median", validation ? time(validation.medianUs) : "no message yet"],
    ["Validation, 95 % below", validation ? time(validation.p95Us) : "no message yet"],
    ["Validation, longest", validation ? time(validation.maxUs) : "no message yet"],
    ["Proofs waiting", String(now.checksWaiting)],
  ]);
}

function quota(rln) {
  if (!rln) return list("quota", [["Rate limiting", "off"]]);
  const known = rln.left !== null;
  const rows = [
    ["Epoch", String(rln.epoch)],
    ["Next epoch in", `${Math.ceil(rln.epochEndsInMs / 1000)} s of ${rln.epochSizeS} s`],
    ["Messages used", known ? `${rln.limit - rln.left} of ${rln.limit}` : "not known"],
    ["Messages left", known ? String(rln.left) : "not known", rln.left === 0 ? "bad" : ""],
    ["May publish", rln.mayPublish ? "yes" : "no", rln.mayPublish ? "good" : "bad"],
  ];
  if (rln.refusal) rows.push(["Reason", rln.refusal, "bad why"]);
  if (rln.members !== null) rows.push(["Members", String(rln.members)]);
  if (rln.tokensReady !== null) rows.push(["Proofs ready", String(rln.tokensReady)]);
  list("quota", rows);
}

function health({ protocolsHealth }) {
  const entries = protocolsHealth.map((protocol) => {
    const [name, status] = Object.entries(protocol).find(([key]) => key !== "desc");
    const kind = { READY: "good", NOT_MOUNTED: "soft" }[status] ?? "bad";
    const text = status.toLowerCase().replaceAll("_", " ");
    return { mounted: status !== "NOT_MOUNTED", name, item: entry(name, text, kind, [[protocol.desc, "soft"]]) };
  });
  const items = entries.filter(({ mounted }) => mounted).map(({ item }) => item);
  const absent = entries.filter(({ mounted }) => !mounted).map(({ name }) => name);
  if (absent.length > 0) items.push(element("li", `Not mounted: ${absent.join(", ")}`, "soft"));
  at("health").replaceChildren(...items);
}

function shards(now) {
  const items = now.shards.map(({ pubsubTopic, mesh, subscribers, trouble }) =>
    entry(pubsubTopic, `${mesh} in mesh, ${subscribers} subscribed`, trouble ? "bad" : "good", [[trouble, "bad why"]]));
  if (now.shardsLeftOut > 0) items.push(element("li", `${now.shardsLeftOut} more`, "soft"));
  if (items.length === 0) items.push(element("li", "subscribed to none", "soft"));
  at("shards").replaceChildren(...items);
}

function peers(now) {
  const left = now.peersLeftOut > 0 ? `, ${now.peersLeftOut} of them not shown` : "";
  at("count").textContent = `${now.connectedPeers} connected${left}; ${now.knownPeers} known`;
  // What is open or has the focus stays so while the list is made anew.
  const open = new Set([...document.querySelectorAll("#peers details[open]")].map((d) => d.dataset.peer));
  const focused = document.activeElement?.closest("#peers details")?.dataset.peer;
  at("peers").replaceChildren(...now.peers.map((peer) => {
    const way = peer.direction === "in" ? "inbound" : "outbound";
    const item = entry(peer.peerId, `${way}, ${peer.transport ?? "?"}, score ${peer.score.toFixed(1)}`,
      peer.score < 0 ? "bad" : "", [
        [[peer.agent, peer.multiaddr].filter(Boolean).join(" · "), "soft"],
        [peer.inMesh.length > 0 ? `in mesh of ${peer.inMesh.join(", ")}` : "in no mesh", "soft"],
      ]);
    const more = element("details", undefined, "soft");
    more.dataset.peer = peer.peerId;
    more.open = open.has(peer.peerId);
    const total = peer.protocols.length + peer.protocolsLeftOut;
    const rest = peer.protocolsLeftOut > 0 ? `, ${peer.protocolsLeftOut} more` : "";
    more.append(element("summary", `${total} protocols`), element("div", peer.protocols.join(", ") + rest));
    item.append(more);
    return item;
  }));
  if (focused) {
    const again = [...document.querySelectorAll("#peers details")].find((d) => d.dataset.peer === focused);
    again?.querySelector("summary").focus({ preventScroll: true });
  }
}

function show(now) {
  // The totals of a node that was started anew begin at 0.
  if (before && (before.peerId !== now.peerId || before.uptimeMs > now.uptimeMs)) before = undefined;
  at("identity").textContent = `${now.network} (cluster ${now.clusterId}), ${now.version}, ${now.peerId}`;
  rates(now);
  quota(now.rln);
  shards(now);
  health(now.health);
  peers(now);
  before = now;
  answered = Date.now();
  at("main").hidden = false;
  at("main").classList.remove("stale");
  at("ask").hidden = true;
  const { nodeHealth, connectionStatus } = now.health;
  const text = connectionStatus.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  say(`${nodeHealth.toLowerCase().replaceAll("_", " ")}, ${text}`,
    nodeHealth === "READY" && connectionStatus !== "Disconnected" ? "good" : "bad");
}

function fail(text) {
  at("main").classList.add("stale");
  const since = answered ? `; last answer at ${new Date(answered).toLocaleTimeString()}` : "";
  say(`${text}${since}`, "bad");
}

async function poll() {
  clearTimeout(timer);
  if (asking || document.visibilityState !== "visible") return;
  asking = true;
  let again = true;
  try {
    const token = sessionStorage.getItem(TOKEN);
    const headers = token ? { authorization: `Bearer ${token}` } : {};
    const answer = await fetch("/admin/v1/status", { headers, cache: "no-store", signal: AbortSignal.timeout(ANSWER_MS) });
    if (answer.status === 401) {
      again = false;
      sessionStorage.removeItem(TOKEN);
      at("main").hidden = true;
      at("ask").hidden = false;
      say(token ? "The node refused this token" : "The node asks for its token", "bad");
      at("token").focus();
    } else if (answer.ok) {
      show(await answer.json());
    } else {
      fail(`The node answered ${answer.status}: ${(await answer.text()).slice(0, 300)}`);
    }
  } catch {
    fail("The node does not answer");
  } finally {
    asking = false;
    if (again) timer = setTimeout(poll, POLL_MS);
  }
}

at("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(TOKEN, at("token").value);
  at("token").value = "";
  poll();
});
document.addEventListener("visibilitychange", () => at("ask").hidden && poll());
poll();
