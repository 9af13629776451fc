// Counts the messages and control messages of a GossipSub instance by wrapping the methods through which every RPC
// goes. Neither library offers such counters for both directions without a metrics registry.

function zero() {
  return { messages: 0, links: 0, graft: 0, prune: 0, prune_with_backoff: 0, prune_backoff_s: null, ihave: 0, iwant: 0, idontwant: 0 };
}

function add(counts, seen, peers, { messages, control }) {
  const times = peers.length;
  counts.messages += times * (messages?.length ?? 0);
  if (messages?.length > 0) for (const peer of peers) seen.add(String(peer));
  counts.links = seen.size;
  if (control == null) return;
  counts.graft += times * (control.graft?.length ?? 0);
  counts.prune += times * (control.prune?.length ?? 0);
  counts.ihave += times * (control.ihave?.length ?? 0);
  counts.iwant += times * (control.iwant?.length ?? 0);
  counts.idontwant += times * (control.idontwant?.length ?? 0);
  for (const prune of control.prune ?? []) {
    if (prune.backoff == null) continue;
    counts.prune_with_backoff += times;
    counts.prune_backoff_s = Number(prune.backoff);
  }
}

export function countControl(gossip) {
  const counts = { sent: zero(), received: zero() };
  // Neighbours to and from which a message went.
  const to = new Set();
  const from = new Set();
  for (const name of ["sendRpc", "handleReceivedRpc"]) {
    if (typeof gossip[name] !== "function") {
      throw new Error(`this GossipSub has no method ${name}: the counters need another place to hook`);
    }
  }
  const send = gossip.sendRpc.bind(gossip);
  gossip.sendRpc = (peer, rpc) => {
    const sent = send(peer, rpc);
    // After the call, because sendRpc adds waiting control messages to the RPC it is given.
    if (sent) add(counts.sent, to, [peer], rpc);
    return sent;
  };
  if (typeof gossip.sendRpcInBatch === "function") {
    const batch = gossip.sendRpcInBatch.bind(gossip);
    gossip.sendRpcInBatch = (peers, rpc) => {
      batch(peers, rpc);
      // The library removes from the set those whom it could not reach.
      add(counts.sent, to, [...peers], rpc);
    };
  }
  const handle = gossip.handleReceivedRpc.bind(gossip);
  gossip.handleReceivedRpc = (peer, rpc) => {
    add(counts.received, from, [peer], rpc);
    return handle(peer, rpc);
  };
  return counts;
}
