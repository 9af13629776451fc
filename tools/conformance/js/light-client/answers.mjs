// Tells every answer of a server as js-waku decodes it. The library keeps status codes and descriptions to
// itself, so the decoders of its protobuf package are wrapped: all its parts call them through these objects.
import { proto_filter_v2, proto_lightpush, proto_metadata, proto_peer_exchange, proto_store } from "@waku/proto";
import { toHex } from "./bytes.mjs";

const status = ({ statusCode, statusDesc }) => ({ status: statusCode ?? null, text: statusDesc ?? null });

// The decoders, and what is told of that which they return.
const DECODERS = [
  [proto_lightpush.LightPushResponseV3, "lightpush-v3", (a) => ({ ...status(a), peers: a.relayPeerCount ?? null })],
  [
    proto_lightpush.PushRpc,
    "lightpush-v2",
    ({ response }) => ({ status: response?.isSuccess ? 200 : 0, text: response?.info ?? null }),
  ],
  [proto_filter_v2.FilterSubscribeResponse, "filter", status],
  [
    proto_store.StoreQueryResponse,
    "store",
    (a) => ({
      ...status(a),
      hashes: a.messages.map(({ messageHash }) => toHex(messageHash ?? [])),
      cursor: a.paginationCursor === undefined ? null : toHex(a.paginationCursor),
    }),
  ],
  // The library decodes requests and responses of this protocol with the same decoder.
  [proto_metadata.WakuMetadataResponse, "metadata", (a) => ({ cluster: a.clusterId ?? null, shards: a.shards })],
  [
    proto_peer_exchange.PeerExchangeRPC,
    "peer-exchange",
    ({ response }) => ({ records: response?.peerInfos.map(({ enr }) => toHex(enr ?? [])) ?? null }),
  ],
];

export function tellAnswers(tell) {
  for (const [type, kind, describe] of DECODERS) {
    const decode = type.decode;
    type.decode = (...input) => {
      const answer = decode(...input);
      tell("answer", { kind, ...describe(answer) });
      return answer;
    };
  }
}
