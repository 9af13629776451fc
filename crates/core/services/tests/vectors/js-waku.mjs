// Writes the frames of js-waku's own codecs, one `name hex` a line: npm i @waku/proto@0.0.15 && node js-waku.mjs > js-waku.txt
import { proto_filter_v2 as filter, proto_lightpush as lightpush, proto_peer_exchange as px } from "@waku/proto";

const requestId = "6b9e0e0e-5b0a-4c7e-9d1a-2f1f0c3d4e5f";
const pubsubTopic = "/waku/2/rs/1/0";
const message = {
  payload: new TextEncoder().encode("hello"),
  contentTopic: "/my-app/1/chat/proto",
  timestamp: 1700000000000000000n,
  ephemeral: true,
};
const { FilterSubscribeRequest: Request, FilterSubscribeResponse: Response, MessagePush } = filter;
const Kind = Request.FilterSubscribeType;
const topics = [message.contentTopic, "/my-app/1/news/proto"];
const vectors = {
  "filter ping": Request.encode({ requestId, filterSubscribeType: Kind.SUBSCRIBER_PING, pubsubTopic: "", contentTopics: [] }),
  "filter subscribe": Request.encode({ requestId, filterSubscribeType: Kind.SUBSCRIBE, pubsubTopic, contentTopics: topics }),
  "filter unsubscribe": Request.encode({ requestId, filterSubscribeType: Kind.UNSUBSCRIBE, pubsubTopic, contentTopics: topics }),
  "filter unsubscribe-all": Request.encode({ requestId, filterSubscribeType: Kind.UNSUBSCRIBE_ALL, pubsubTopic, contentTopics: [] }),
  "filter response": Response.encode({ requestId, statusCode: 404, statusDesc: "NOT_FOUND: peer has no subscriptions" }),
  "filter push": MessagePush.encode({ wakuMessage: message, pubsubTopic }),
  "lightpush v3 request": lightpush.LightPushRequestV3.encode({ requestId, pubsubTopic, message }),
  "lightpush v3 request without topic": lightpush.LightPushRequestV3.encode({ requestId, message }),
  "lightpush v3 response": lightpush.LightPushResponseV3.encode({ requestId, statusCode: 200, relayPeerCount: 5 }),
  "lightpush v3 refusal": lightpush.LightPushResponseV3.encode({ requestId, statusCode: 505, statusDesc: "no peers" }),
  "lightpush v2 request": lightpush.PushRpc.encode({ requestId, request: { pubsubTopic, message } }),
  "lightpush v2 response": lightpush.PushRpc.encode({ requestId, response: { isSuccess: true, info: "OK" } }),
  "lightpush v2 refusal": lightpush.PushRpc.encode({ requestId, response: { isSuccess: false, info: "no peers" } }),
  "peer-exchange request": px.PeerExchangeRPC.encode({ query: { numPeers: 7n } }),
  "peer-exchange response": px.PeerExchangeRPC.encode({ response: { peerInfos: [{ enr: new Uint8Array([1, 2, 3]) }, {}] } }),
};
for (const [name, bytes] of Object.entries(vectors)) {
  console.log(name.replaceAll(" ", "-"), Buffer.from(bytes).toString("hex"));
}
