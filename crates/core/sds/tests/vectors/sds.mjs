// Makes sds.json with js-waku: @waku/sds 0.0.8 and @waku/proto 0.0.15 (Node 20 or later).
//
//   npm i --ignore-scripts @waku/sds@0.0.8 @waku/proto@0.0.15
//   node sds.mjs make > sds.json      vectors for the tests of undertone-services
//   node sds.mjs check FILE           reads lines of hex written by the test `frames_for_js_waku` and prints them decoded
//
// The script runs in the directory that holds node_modules.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

Promise.withResolvers ??= function () {
  let resolve, reject;
  const promise = new Promise((a, b) => { resolve = a; reject = b; });
  return { promise, resolve, reject };
};

const from = (path) => import(pathToFileURL(resolve("node_modules/@waku", path)));
const { proto_sds_message: proto } = await from("proto/dist/index.js");
const { DefaultBloomFilter } = await from("sds/dist/bloom_filter/bloom.js");
const { hashN } = await from("sds/dist/nim_hashn/nim_hashn.mjs");
const { RepairManager } = await from("sds/dist/message_channel/repair/repair.js");
const { Message, isContentMessage, isSyncMessage, isEphemeralMessage } = await from("sds/dist/message_channel/message.js");

const options = { capacity: 10000, errorRate: 0.001 };
const hex = (bytes) => Buffer.from(bytes).toString("hex");
const bytes = (text) => new TextEncoder().encode(text);

if (process.argv[2] === "check") {
  for (const line of readFileSync(process.argv[3], "utf8").trim().split("\n")) {
    const message = Message.decode(new Uint8Array(Buffer.from(line, "hex")));
    const kind = isContentMessage(message) ? "content" : isSyncMessage(message) ? "sync"
      : isEphemeralMessage(message) ? "ephemeral" : "unknown";
    const ids = message.causalHistory.map((entry) => entry.messageId);
    const filter = message.bloomFilter && DefaultBloomFilter.fromBytes(message.bloomFilter, options);
    console.log(JSON.stringify({
      kind, id: message.messageId, channel: message.channelId, sender: message.senderId,
      lamport: message.lamportTimestamp?.toString(),
      history: message.causalHistory.map((e) => [e.messageId, e.retrievalHint && hex(e.retrievalHint), e.senderId]),
      repair: message.repairRequest.map((e) => [e.messageId, e.senderId]),
      in_filter: filter && ids.map((id) => filter.lookup(id)),
      stranger_in_filter: filter && filter.lookup("nobody sent this"),
      same_bytes: hex(proto.SdsMessage.encode(proto.SdsMessage.decode(Buffer.from(line, "hex")))) === line,
      content: message.content && Buffer.from(message.content).toString(),
    }));
  }
} else {
  const messages = {
    content: {
      senderId: "alice", messageId: "m3", channelId: "town",
      lamportTimestamp: 1767225600123n,
      causalHistory: [
        { messageId: "m1", retrievalHint: new Uint8Array([1, 2, 255]), senderId: "bob" },
        { messageId: "m2" },
      ],
      bloomFilter: new Uint8Array([0, 128, 255]),
      repairRequest: [{ messageId: "m0", senderId: "carol" }],
      content: bytes("good day"),
    },
    sync: {
      senderId: "alice", messageId: "sync-1", channelId: "town", lamportTimestamp: 18446744073709551615n,
      causalHistory: [{ messageId: "m1", retrievalHint: new Uint8Array([]) }], repairRequest: [],
      bloomFilter: new Uint8Array([]),
    },
    ephemeral: {
      senderId: "zoë", messageId: "e1", channelId: "0", causalHistory: [], repairRequest: [], content: bytes("typing"),
    },
    empty: { senderId: "", messageId: "", channelId: "", causalHistory: [], repairRequest: [] },
  };
  const frames = Object.fromEntries(Object.entries(messages).map(([name, m]) => [name, hex(proto.SdsMessage.encode(m))]));
  const words = ["", "a", "ab", "abc", "abcd", "m1", "zoë", "日本語", "🦀 crab",
    "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824", "x".repeat(200)];
  const filter = new DefaultBloomFilter(options);
  words.forEach((word) => filter.insert(word));
  const filled = [];
  filter.toBytes().forEach((byte, at) => { if (byte !== 0) filled.push([at, byte]); });
  const repair = ["alice", "bob", "zoë"].flatMap((participant) => ["alice", "carol"].flatMap((sender) =>
    ["m1", "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"].map((id) => {
      const manager = new RepairManager(participant, { tMin: 30000, tMax: 120000, numResponseGroups: 3 });
      return { participant, sender, id, request_ms: manager.calculateTReq(id, 0),
        response_ms: manager.calculateTResp(sender, id, 0), responds: manager.isInResponseGroup(sender, id) };
    })));
  console.log(JSON.stringify({
    made_by: "@waku/sds 0.0.8, @waku/proto 0.0.15", frames,
    hashes: words.map((word) => ({ word, positions: Array.from({ length: 10 }, (_, n) => hashN(word, n, 150000)) })),
    filter: { length: filter.toBytes().length, hashes: filter.kHashes, bits: filter.totalBits, filled },
    repair,
  }, null, 1));
}
