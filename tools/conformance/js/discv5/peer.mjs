// A node of the discv5 of ChainSafe with Waku's protocol id, and a record of a Waku node. It speaks the lines of
// tools/conformance/README.md with commands of its own, which README.md lists.
import { createServer } from "node:net";
import { parseArgs } from "node:util";
import { ENR, SignableENR } from "@chainsafe/enr";
import { generateKeyPair } from "@libp2p/crypto/keys";
import { multiaddr } from "@multiformats/multiaddr";
import { event, serve } from "../common/lines.mjs";
import { useProtocolId } from "./protocol-id.mjs";

const { values } = parseArgs({
  options: {
    ip: { type: "string", default: "127.0.0.1" },
    port: { type: "string" },
    bootstrap: { type: "string", multiple: true, default: [] },
    "protocol-id": { type: "string", default: "d5waku" },
    rs: { type: "string" },
    waku2: { type: "string" },
  },
  strict: true,
});
useProtocolId(values["protocol-id"]);
// Not before the id is set, which changes what is loaded.
const { Discv5 } = await import("@chainsafe/discv5");

// Where the record says that the node's libp2p listens: who connects is told, and sent away.
const trap = createServer((socket) => {
  socket.on("error", () => {});
  event("dialled", { port: socket.remotePort });
  socket.destroy();
});
await new Promise((listening) => trap.listen(0, values.ip, listening));

const privateKey = await generateKeyPair("secp256k1");
const enr = SignableENR.createFromPrivateKey(privateKey);
enr.setLocationMultiaddr(multiaddr(`/ip4/${values.ip}/udp/${values.port}`));
enr.setLocationMultiaddr(multiaddr(`/ip4/${values.ip}/tcp/${trap.address().port}`));
for (const key of ["rs", "waku2"]) {
  if (values[key] !== undefined) enr.set(key, Uint8Array.from(Buffer.from(values[key], "hex")));
}
const discv5 = Discv5.create({
  enr,
  privateKey,
  bindAddrs: { ip4: multiaddr(`/ip4/${values.ip}/udp/${values.port}`) },
  config: { enrUpdate: false },
});
for (const record of values.bootstrap) discv5.addEnr(record);
await discv5.start();

// What the library has read of a record.
function describe(record) {
  const hex = (key) => (record.kvs.has(key) ? Buffer.from(record.kvs.get(key)).toString("hex") : null);
  return {
    record: record.encodeTxt(),
    seq: Number(record.seq),
    udp: String(record.getLocationMultiaddr("udp")),
    tcp: String(record.getLocationMultiaddr("tcp")),
    rs: hex("rs"),
    waku2: hex("waku2"),
    multiaddrs: hex("multiaddrs"),
  };
}

serve({
  // Looks for nodes around a random point.
  find: async () => ({ records: (await discv5.findRandomNode()).map(describe) }),
  // Asks a node for its own record.
  ask: async ({ record }) => ({ records: (await discv5.sendFindNode(ENR.decodeTxt(record), [0])).map(describe) }),
  quit: async () => discv5.stop(),
});
event("ready", { peer: String(enr.peerId), addrs: [], record: enr.encodeTxt() });
