// Writes service-messages.json: the messages of Waku's services in the bytes of js-waku's own codecs.
// `node make.mjs` in this folder, after `npm ci` in the folder above; the file is the same after each run.
//
// `fields` are the values that were given to the codec: bytes in hex, whole numbers of 64 bits as text, fields
// that were left out are missing. The codec writes no `required` field that has its default value.
import { readFileSync, writeFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { toHex } from "../bytes.mjs";
import { CODECS, readable } from "./codecs.mjs";

const PUBSUB_TOPIC = "/waku/2/rs/66/3";
const TOPICS = ["/undertone/1/vectors/proto", "/undertone/1/öfter/proto"];
const REQUEST_ID = "3b1c4a58-6d0b-4f6e-9c53-0d8a6f1e2b47";
const TIME_NS = 1_700_000_000_123_456_789n;

// Bytes that are easily told apart: `length` of them, counted up from `from`.
const bytes = (from, length) => Uint8Array.from({ length }, (_, index) => (from + index) & 0xff);

const PROOF = {
  proof: bytes(1, 128),
  merkleRoot: bytes(2, 32),
  epoch: bytes(3, 32),
  shareX: bytes(4, 32),
  shareY: bytes(5, 32),
  nullifier: bytes(6, 32),
  rlnIdentifier: bytes(7, 32),
};
const SMALL = { payload: bytes(0x41, 3), contentTopic: TOPICS[0] };
// What the library's encoder makes of a message: version 0, milliseconds, not ephemeral.
const USUAL = { ...SMALL, version: 0, timestamp: 1_700_000_000_123_000_000n, ephemeral: false };
const FULL = {
  payload: bytes(0xf0, 40),
  contentTopic: TOPICS[1],
  version: 2,
  timestamp: TIME_NS,
  meta: bytes(0, 64),
  ephemeral: true,
  rateLimitProof: PROOF,
};
// The extreme times, sint64 in zigzag. The codec garbles the very lowest, -(2n ** 63n).
const EARLIEST_NS = -(2n ** 63n) + 1n;
const LATEST_NS = 2n ** 63n - 1n;

const id = { requestId: REQUEST_ID };
const query = (fields) => ({ ...id, includeData: true, contentTopics: [], messageHashes: [], paginationForward: true, ...fields });
const entry = (from, fields) => ({ messageHash: bytes(from, 32), ...fields });
const subscribe = (filterSubscribeType, fields) => ({ ...id, filterSubscribeType, contentTopics: [], ...fields });
const topics = { pubsubTopic: PUBSUB_TOPIC, contentTopics: TOPICS };

const CASES = {
  "store.request": {
    "as the library asks": query({ pubsubTopic: PUBSUB_TOPIC, contentTopics: TOPICS.slice(0, 1) }),
    "next page": query({ ...topics, paginationCursor: bytes(9, 32) }),
    "all of the filter": query({
      ...topics, timeStart: TIME_NS, timeEnd: TIME_NS + 1n, paginationCursor: bytes(9, 32), paginationLimit: 100n,
    }),
    "backward": query({ ...topics, paginationForward: false, paginationLimit: 1n }),
    "by hash": query({ pubsubTopic: PUBSUB_TOPIC, messageHashes: [bytes(1, 32), bytes(2, 32)] }),
    "hashes only": query({ includeData: false, pubsubTopic: PUBSUB_TOPIC, contentTopics: TOPICS }),
    "extreme times": query({ ...topics, timeStart: EARLIEST_NS, timeEnd: LATEST_NS }),
    "a time before 1970": query({ ...topics, timeStart: -1n, timeEnd: 0n }),
  },
  "store.response": {
    "a page": { ...id, statusCode: 200, statusDesc: "OK", messages: [
      entry(1, { message: USUAL, pubsubTopic: PUBSUB_TOPIC }), entry(2, { message: FULL, pubsubTopic: PUBSUB_TOPIC }),
    ], paginationCursor: bytes(2, 32) },
    "hashes only": { ...id, statusCode: 200, statusDesc: "OK", messages: [entry(1, {}), entry(2, {})] },
    "empty": { ...id, statusCode: 200, statusDesc: "OK", messages: [] },
    "too many requests": { requestId: "N/A", statusCode: 429, statusDesc: "too many requests", messages: [] },
    "without description": { ...id, statusCode: 503, messages: [] },
  },
  "filter.request": {
    "ping": subscribe("SUBSCRIBER_PING", {}),
    "subscribe": subscribe("SUBSCRIBE", topics),
    "unsubscribe": subscribe("UNSUBSCRIBE", topics),
    "unsubscribe all": subscribe("UNSUBSCRIBE_ALL", { pubsubTopic: PUBSUB_TOPIC }),
    "100 topics": subscribe("SUBSCRIBE", {
      pubsubTopic: PUBSUB_TOPIC, contentTopics: Array.from({ length: 100 }, (_, n) => `/undertone/1/topic-${n}/proto`),
    }),
  },
  "filter.response": {
    "ok": { ...id, statusCode: 200, statusDesc: "OK" },
    "not found": { ...id, statusCode: 404, statusDesc: "peer has no subscriptions" },
    "without description": { ...id, statusCode: 400 },
  },
  "filter.push": {
    "usual": { wakuMessage: USUAL, pubsubTopic: PUBSUB_TOPIC },
    "all fields": { wakuMessage: FULL, pubsubTopic: PUBSUB_TOPIC },
  },
  "lightpush-v3.request": {
    "usual": { ...id, pubsubTopic: PUBSUB_TOPIC, message: USUAL },
    "all fields": { ...id, pubsubTopic: PUBSUB_TOPIC, message: FULL },
    "shard of the content topic": { ...id, message: SMALL },
  },
  "lightpush-v3.response": {
    "relayed": { ...id, statusCode: 200, relayPeerCount: 6 },
    "relayed to nobody": { ...id, statusCode: 505, statusDesc: "no peers", relayPeerCount: 0 },
    "too large": { ...id, statusCode: 413, statusDesc: "payload too large" },
  },
  "lightpush-v2.request": {
    "usual": { ...id, request: { pubsubTopic: PUBSUB_TOPIC, message: USUAL } },
    "all fields": { ...id, request: { pubsubTopic: PUBSUB_TOPIC, message: FULL } },
  },
  "lightpush-v2.response": {
    "relayed": { ...id, response: { isSuccess: true, info: "OK" } },
    "without text": { ...id, response: { isSuccess: true } },
    "refused": { ...id, response: { isSuccess: false, info: "payload too large" } },
  },
  "metadata.request": {
    "as the library asks": { clusterId: 66, shards: [] },
    "shards": { clusterId: 1, shards: [0, 1, 127, 128, 1023] },
    "nothing": { shards: [] },
  },
  "metadata.response": {
    "shards": { clusterId: 66, shards: [3] },
    "cluster 0": { clusterId: 0, shards: [0] },
    "the highest cluster": { clusterId: 65_535, shards: Array.from({ length: 8 }, (_, n) => n) },
  },
  "peer-exchange.request": {
    "usual": { query: { numPeers: 5n } },
    "the highest number": { query: { numPeers: 2n ** 64n - 1n } },
  },
  "peer-exchange.response": {
    "nobody": { response: { peerInfos: [] } },
    "two records": { response: { peerInfos: [{ enr: bytes(0xf8, 120) }, { enr: bytes(0x10, 300) }] } },
    "query and response": { query: { numPeers: 5n }, response: { peerInfos: [{ enr: bytes(0xf8, 120) }] } },
  },
  "transfer.message": {
    "usual": { pubsubTopic: PUBSUB_TOPIC, message: USUAL },
    "all fields": { pubsubTopic: PUBSUB_TOPIC, message: FULL },
    "the earliest time": { pubsubTopic: PUBSUB_TOPIC, message: { ...USUAL, timestamp: EARLIEST_NS } },
    "a payload of 300 bytes": { pubsubTopic: PUBSUB_TOPIC, message: { ...USUAL, payload: bytes(0, 300) } },
  },
};

const vectors = Object.entries(CASES).flatMap(([kind, cases]) =>
  Object.entries(cases).map(([name, fields]) => {
    const encoded = CODECS[kind].encode(fields);
    const read = readable(CODECS[kind].decode(encoded));
    // A codec that does not read what it wrote makes no vector.
    if (!isDeepStrictEqual(read, readable(fields))) throw new Error(`${kind}: ${name}: ${JSON.stringify(read)}`);
    return { kind, name, fields: readable(fields), hex: toHex(encoded) };
  }),
);
const { version } = JSON.parse(readFileSync(new URL("../node_modules/@waku/proto/package.json", import.meta.url)));
const out = new URL("service-messages.json", import.meta.url);
writeFileSync(out, `${JSON.stringify({ made_by: `@waku/proto ${version}`, vectors }, null, 1)}\n`);
console.log(`${vectors.length} vectors`);
