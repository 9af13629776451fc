// Prints what js-waku puts on the wire for Store v3, as the hex of the vectors in src/store/vectors.rs.
//
//   npm init -y && npm pkg set type=module && npm i @waku/core@0.0.40 @waku/proto@0.0.15
//   node js_waku_store.mjs        (Node 22)
import { proto_store as store } from "@waku/proto";
import { StoreQueryRequest } from "./node_modules/@waku/core/dist/lib/store/rpc.js";

const hex = (bytes) => Buffer.from(bytes.subarray()).toString("hex");
// js-waku draws a random UUID for every request; the vectors need a fixed one.
const request = (params) => {
  const made = StoreQueryRequest.create(params);
  made.proto.requestId = "8f3f0b1c-3f1c-4f5e-9a86-1a6d4c7b2e10";
  return hex(made.encode());
};
const pubsubTopic = "/waku/2/rs/66/3";
const contentTopics = ["/interop/1/test/proto"];
const content = { pubsubTopic, contentTopics, includeData: true };
const timeStart = new Date(1700000000000);
const timeEnd = new Date(1700003600000);
const ab = new Uint8Array(32).fill(0xab);
const cd = new Uint8Array(32).fill(0xcd);

console.log("FIRST_PAGE", request({ ...content, paginationForward: true }));
console.log("TIMES_AND_CURSOR", request({
  ...content, paginationForward: true, timeStart, timeEnd, paginationCursor: ab, paginationLimit: 50,
}));
console.log("BACKWARD", request({ ...content, paginationForward: false }));
console.log("HASHES", request({ pubsubTopic, includeData: true, paginationForward: true, messageHashes: [ab, cd] }));

const message = {
  payload: Uint8Array.of(1, 2, 3), contentTopic: contentTopics[0], version: 0,
  timestamp: 1700000000000000000n, ephemeral: false,
};
console.log("RESPONSE_PAGE", hex(store.StoreQueryResponse.encode({
  requestId: "r-1", statusCode: 200, statusDesc: "OK",
  messages: [{ messageHash: ab, message, pubsubTopic }, { messageHash: cd }], paginationCursor: cd,
})));
console.log("RESPONSE_REFUSED", hex(store.StoreQueryResponse.encode({
  requestId: "N/A", statusCode: 429, statusDesc: "TOO_MANY_REQUESTS", messages: [],
})));
