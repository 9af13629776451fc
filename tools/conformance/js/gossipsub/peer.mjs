// A peer built on the current JavaScript GossipSub: TCP, noise, yamux, or QUIC. Speaks tools/conformance/README.md.
import { createHash } from "node:crypto";
import { noise } from "@chainsafe/libp2p-noise";
import { yamux } from "@chainsafe/libp2p-yamux";
import { gossipsub } from "@libp2p/gossipsub";
import { identify } from "@libp2p/identify";
import { ping } from "@libp2p/ping";
import { tcp } from "@libp2p/tcp";
import { multiaddr } from "@multiformats/multiaddr";
import { createLibp2p } from "libp2p";
import { countControl } from "../common/control.mjs";
import { event, report, serve, stat } from "../common/lines.mjs";
import { options } from "../common/options.mjs";
import { describe, fromHex, stamped } from "../common/payload.mjs";

const given = options({
  protocol: { type: "string", multiple: true },
  "idontwant-min-bytes": { type: "string" },
  "max-message-bytes": { type: "string", default: "1048576" },
});
// QUIC is a native library, which not every machine has, and costs memory: only who listens on it uses it.
const usesQuic = given.values.listen?.endsWith("/quic-v1") ?? false;
const quic = usesQuic ? [(await import("@chainsafe/libp2p-quic")).quic()] : [];
const idontwantMinBytes = given.number("idontwant-min-bytes");

// Ids of what was hashed last, so that a publisher need not hash twice.
const ids = new WeakMap();
function messageId(message) {
  const id = createHash("sha256").update(message.data).digest();
  ids.set(message.data, id);
  return id;
}

const node = await createLibp2p({
  addresses: { listen: [given.values.listen ?? "/ip4/127.0.0.1/tcp/0"] },
  transports: [tcp(), ...quic],
  connectionEncrypters: [noise()],
  streamMuxers: [yamux()],
  // A node that joins a network of a hundred is dialled by more than ten at once, which is the default; and a hundred nodes on one
  // machine take more than the default's seconds for a handshake.
  connectionManager: {
    maxIncomingPendingConnections: 1_000,
    inboundConnectionThreshold: 1_000,
    dialTimeout: 50_000,
    addressDialTimeout: 50_000,
    inboundUpgradeTimeout: 50_000,
    inboundStreamProtocolNegotiationTimeout: 50_000,
    outboundStreamProtocolNegotiationTimeout: 50_000,
  },
  services: {
    identify: identify(),
    ping: ping(),
    pubsub: (components) => {
      const pubsub = gossipsub({
        ...given.gossip,
        globalSignaturePolicy: "StrictNoSign",
        msgIdFn: messageId,
        msgIdToStrFn: (id) => Buffer.from(id).toString("hex"),
        fallbackToFloodsub: false,
        maxInboundDataLength: given.number("max-message-bytes"),
        ...(idontwantMinBytes === undefined ? {} : { idontwantMinDataSize: idontwantMinBytes }),
      })(components);
      // The constructor takes an option of this name and does not look at it.
      if (given.values.protocol !== undefined) pubsub.protocols = given.values.protocol;
      return pubsub;
    },
  },
});
const pubsub = node.services.pubsub;
const control = countControl(pubsub);

pubsub.addEventListener("gossipsub:message", ({ detail }) => {
  const { topic, data } = detail.msg;
  report("message", { topic, id: detail.msgId, from: String(detail.propagationSource), ...describe(data) });
});

serve({
  connect: async ({ addr }) => {
    const connection = await node.dial(multiaddr(addr));
    return { peer: String(connection.remotePeer) };
  },
  subscribe: async ({ topic }) => pubsub.subscribe(topic),
  unsubscribe: async ({ topic }) => pubsub.unsubscribe(topic),
  publish: async ({ topic, seq, size, hex }) => {
    const data = hex === undefined ? stamped(seq, size) : fromHex(hex);
    await pubsub.publish(topic, data);
    return { id: ids.get(data).toString("hex") };
  },
  peers: async ({ topic }) => ({ peers: pubsub.getSubscribers(topic).map(String) }),
  mesh: async ({ topic }) => ({ peers: pubsub.getMeshPeers(topic) }),
  stat: async () => stat(),
  control: async () => control,
  quit: async () => {},
});
event("ready", { peer: String(node.peerId), addrs: node.getMultiaddrs().map(String) });
