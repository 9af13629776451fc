// A circuit relay of js-libp2p: TCP, noise, yamux. It takes no commands but stat and quit.
import { noise } from "@chainsafe/libp2p-noise";
import { yamux } from "@chainsafe/libp2p-yamux";
import { circuitRelayServer } from "@libp2p/circuit-relay-v2";
import { identify } from "@libp2p/identify";
import { ping } from "@libp2p/ping";
import { tcp } from "@libp2p/tcp";
import { createLibp2p } from "libp2p";
import { event, serve, stat } from "../common/lines.mjs";
import { options } from "../common/options.mjs";

const given = options({});
const node = await createLibp2p({
  addresses: { listen: [given.values.listen ?? "/ip4/127.0.0.1/tcp/0"] },
  transports: [tcp()],
  connectionEncrypters: [noise()],
  streamMuxers: [yamux()],
  services: { identify: identify(), ping: ping(), relay: circuitRelayServer() },
});

serve({
  stat: async () => stat(),
  quit: async () => {},
});
event("ready", { peer: String(node.peerId), addrs: node.getMultiaddrs().map(String) });
