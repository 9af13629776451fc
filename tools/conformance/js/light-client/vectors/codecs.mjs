// The codecs of js-waku for all messages of Waku's services, by the kinds of service-messages.json.
import {
  proto_filter_v2, proto_lightpush, proto_message, proto_metadata, proto_peer_exchange, proto_store,
} from "@waku/proto";
import { toHex } from "../bytes.mjs";

// js-waku has no transfer between stores. Its codec writes and reads the message; the frame around it, of two fields
// with a length, is put together here.
const TOPIC_TAG = 0x0a;
const MESSAGE_TAG = 0x12;

function lengthDelimited(tag, bytes) {
  const length = [];
  let rest = bytes.length;
  for (; rest > 0x7f; rest >>>= 7) length.push((rest & 0x7f) | 0x80);
  return Uint8Array.from([tag, ...length, rest, ...bytes]);
}

function fieldsOf(bytes) {
  const fields = new Map();
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at++];
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      length |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    fields.set(tag, bytes.slice(at, at + length));
    at += length;
  }
  return fields;
}

const TransferMessage = {
  encode({ pubsubTopic, message }) {
    const topic = lengthDelimited(TOPIC_TAG, new TextEncoder().encode(pubsubTopic));
    return Uint8Array.from([...topic, ...lengthDelimited(MESSAGE_TAG, proto_message.WakuMessage.encode(message))]);
  },
  decode(bytes) {
    const fields = fieldsOf(bytes);
    const pubsubTopic = new TextDecoder().decode(fields.get(TOPIC_TAG));
    return { pubsubTopic, message: proto_message.WakuMessage.decode(fields.get(MESSAGE_TAG)) };
  },
};

export const CODECS = {
  "store.request": proto_store.StoreQueryRequest,
  "store.response": proto_store.StoreQueryResponse,
  "filter.request": proto_filter_v2.FilterSubscribeRequest,
  "filter.response": proto_filter_v2.FilterSubscribeResponse,
  "filter.push": proto_filter_v2.MessagePush,
  "lightpush-v3.request": proto_lightpush.LightPushRequestV3,
  "lightpush-v3.response": proto_lightpush.LightPushResponseV3,
  "lightpush-v2.request": proto_lightpush.PushRpc,
  "lightpush-v2.response": proto_lightpush.PushRpc,
  "metadata.request": proto_metadata.WakuMetadataRequest,
  "metadata.response": proto_metadata.WakuMetadataResponse,
  "peer-exchange.request": proto_peer_exchange.PeerExchangeRPC,
  "peer-exchange.response": proto_peer_exchange.PeerExchangeRPC,
  "transfer.message": TransferMessage,
};

// The fields of a message in the form of the file.
export function readable(value) {
  if (value instanceof Uint8Array) return toHex(value);
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return value.map(readable);
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, readable(field)]));
}
