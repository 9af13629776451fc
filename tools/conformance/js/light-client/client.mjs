// A js-waku light client as the commands of README.md, in Node.js and in a page alike.
import { createLightNode, Protocols } from "@waku/sdk";
import { tellAnswers } from "./answers.mjs";
import { describeRecord, discoveries } from "./discovery.mjs";
import { describePayload, fromHex, payloadOf } from "./bytes.mjs";

// Pages after which a query counts as one that never ends.
const PAGES_MAX = 1000;

const PROTOCOLS = { store: Protocols.Store, filter: Protocols.Filter, lightpush: Protocols.LightPush };

// Starts a client. `tell(event, fields)` is called for everything that happens by itself. Returns the handlers
// of the commands.
export async function startClient(options, tell) {
  tellAnswers(tell);
  const { bootstrap, cluster, shard, shards, redial_s: redialS, only_secure: onlySecure } = options;
  const network = shards === null ? { shards: [shard] } : { numShardsInCluster: shards };
  const waku = await createLightNode({
    autoStart: false,
    defaultBootstrap: false,
    discovery: { dns: false, peerCache: false, peerExchange: false },
    bootstrapPeers: bootstrap,
    networkConfig: { clusterId: cluster, ...network },
    numPeersToUse: 1,
    connectionManager: { dialCooldown: redialS, failedDialCooldown: redialS },
    // With filtered addresses the library dials no plain ws address.
    libp2p: {
      filterMultiaddrs: onlySecure,
      hideWebSocketInfo: true,
      peerDiscovery: await discoveries(options),
    },
  });
  const { libp2p } = waku;
  libp2p.addEventListener("peer:connect", ({ detail }) => tell("connected", { peer: String(detail) }));
  libp2p.addEventListener("peer:disconnect", ({ detail }) => tell("disconnected", { peer: String(detail) }));
  libp2p.addEventListener("peer:identify", ({ detail }) =>
    tell("identified", { peer: String(detail.peerId), agent: detail.agentVersion ?? "", protocols: detail.protocols }));
  await waku.start();

  const coder = (topic) => (shards === null ? { contentTopic: topic, shardId: shard } : { contentTopic: topic });
  const encoder = (topic, ephemeral) => waku.createEncoder({ ...coder(topic), ephemeral });
  // The library finds a subscription by its decoder, so each topic has one decoder.
  const decoders = new Map();
  const decoder = (topic) => {
    if (!decoders.has(topic)) decoders.set(topic, waku.createDecoder(coder(topic)));
    return decoders.get(topic);
  };
  const describe = (message) => ({
    topic: message.contentTopic,
    pubsub_topic: message.pubsubTopic,
    hash: message.hashStr,
    ...describePayload(message.payload),
  });

  // Pages of a store in the order in which they came, until one was empty.
  async function pagesOf(topics, options) {
    const pages = [];
    for await (const page of waku.store.queryGenerator(topics.map(decoder), options)) {
      if (pages.length === PAGES_MAX) throw new Error(`no empty page among ${PAGES_MAX}`);
      const messages = await Promise.all(page);
      pages.push(messages.map((m) => ({ ...describe(m), timestamp_ms: Number(m.timestamp) })));
    }
    return pages;
  }

  const handlers = {
    wait_peers: async ({ protocols, timeout_ms }) => {
      await waku.waitForPeers(protocols.map((name) => PROTOCOLS[name]), timeout_ms);
    },
    lightpush: async ({ topic, legacy = false, ephemeral = false, ...payload }) => {
      const message = { payload: payloadOf(payload), timestamp: new Date() };
      // Without repetition by the library: a test sees the first answer.
      const options = { useLegacy: legacy, autoRetry: false };
      const { successes, failures } = await waku.lightPush.send(encoder(topic, ephemeral), message, options);
      return { successes: successes.map(String), failures: failures.map(({ error }) => error) };
    },
    subscribe: async ({ topic }) => {
      const tellMessage = (message) => tell("message", describe(message));
      return { accepted: await waku.filter.subscribe([decoder(topic)], tellMessage) };
    },
    unsubscribe: async ({ topic }) => ({ accepted: await waku.filter.unsubscribe([decoder(topic)]) }),
    query: async ({ topics, forward, page_size, start_ms, end_ms }) => ({
      pages: await pagesOf(topics, {
        paginationForward: forward,
        ...(page_size === undefined ? {} : { paginationLimit: page_size }),
        ...(start_ms === undefined ? {} : { timeStart: new Date(start_ms) }),
        ...(end_ms === undefined ? {} : { timeEnd: new Date(end_ms) }),
      }),
    }),
    query_hashes: async ({ topic, hashes }) => ({
      pages: await pagesOf([topic], { messageHashes: hashes.map(fromHex) }),
    }),
    describe_record: async ({ record }) => describeRecord(fromHex(record)),
    peers: async () => ({ peers: libp2p.getPeers().map(String) }),
    quit: async () => waku.stop(),
  };
  tell("ready", { peer: String(libp2p.peerId), addrs: [] });
  return handlers;
}
