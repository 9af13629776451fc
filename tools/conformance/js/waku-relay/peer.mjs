// A js-waku relay node on WebSocket, noise and mplex, with one static shard. Speaks tools/conformance/README.md.
import { createHash } from "node:crypto";
import { webSockets } from "@libp2p/websockets";
import * as filters from "@libp2p/websockets/filters";
import { multiaddr } from "@multiformats/multiaddr";
import { createDecoder, createEncoder } from "@waku/sdk";
import { createRelayNode } from "@waku/sdk/relay";
import { countControl } from "../common/control.mjs";
import { event, report, serve, stat } from "../common/lines.mjs";
import { options } from "../common/options.mjs";
import { describe, fromHex, stamped } from "../common/payload.mjs";

const given = options({
  cluster: { type: "string", default: "66" },
  shard: { type: "string", default: "3" },
  "content-topic": { type: "string", default: "/undertone/1/interop/proto" },
});
const clusterId = given.number("cluster");
const shard = given.number("shard");
const contentTopic = given.values["content-topic"];
const shardTopic = `/waku/2/rs/${clusterId}/${shard}`;

const waku = await createRelayNode({
  ...given.gossip,
  defaultBootstrap: false,
  networkConfig: { clusterId, shards: [shard] },
  shardInfo: { clusterId, shards: [shard] },
  pubsubTopics: [shardTopic],
  libp2p: {
    addresses: { listen: [given.values.listen ?? "/ip4/127.0.0.1/tcp/0/ws"] },
    // Plain ws on loopback is refused by the default filter.
    transports: [webSockets({ filter: filters.all })],
    hideWebSocketInfo: true,
  },
});
await waku.start();
const gossip = waku.relay.gossipSub;
const control = countControl(gossip);

const encoder = createEncoder({ contentTopic, pubsubTopicShardInfo: { clusterId, shard } });
const decoder = createDecoder(contentTopic, { clusterId, shard });

gossip.addEventListener("gossipsub:message", async ({ detail }) => {
  const { topic, data } = detail.msg;
  // The relay's validator has let it through, so it decodes.
  const { payload } = await decoder.fromWireToProtoObj(data);
  const id = createHash("sha256").update(data).digest("hex");
  report("message", { topic, id, from: String(detail.propagationSource), ...describe(payload) });
});

function own(topic) {
  if (topic !== shardTopic) throw new Error(`topic ${topic}: this node is configured for ${shardTopic} only`);
}

serve({
  connect: async ({ addr }) => {
    const connection = await waku.libp2p.dial(multiaddr(addr));
    return { peer: String(connection.remotePeer) };
  },
  // The library subscribes to its shard when it starts; this makes unsubscribe reversible.
  subscribe: async ({ topic }) => {
    own(topic);
    if (!gossip.getTopics().includes(topic)) gossip.subscribe(topic);
  },
  unsubscribe: async ({ topic }) => {
    own(topic);
    gossip.unsubscribe(topic);
  },
  publish: async ({ topic, seq, size, hex }) => {
    own(topic);
    const wire =
      hex === undefined
        ? await encoder.toWire({ payload: stamped(seq, size), timestamp: new Date() })
        : fromHex(hex);
    const sent = await waku.relay.send({ pubsubTopic: topic, toWire: async () => wire }, {});
    if (sent.failures.length > 0) throw new Error(sent.failures.map((f) => f.error).join(", "));
    return { id: createHash("sha256").update(wire).digest("hex") };
  },
  peers: async ({ topic }) => ({ peers: gossip.getSubscribers(topic).map(String) }),
  mesh: async ({ topic }) => ({ peers: gossip.getMeshPeers(topic) }),
  stat: async () => stat(),
  control: async () => control,
  quit: async () => {},
});
event("ready", { peer: String(waku.libp2p.peerId), addrs: waku.libp2p.getMultiaddrs().map(String) });
