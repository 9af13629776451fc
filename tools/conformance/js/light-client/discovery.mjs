// How a client finds nodes beside those that it is told, and what js-waku reads of a node's record.
import { DnsNodeDiscovery, wakuDnsDiscovery, wakuPeerExchangeDiscovery } from "@waku/discovery";
import { EnrDecoder } from "@waku/enr";

// Discoveries of libp2p as the options name them.
export async function discoveries({ peer_exchange, ask_again_s, dns_list, dns_server }) {
  const found = [];
  if (peer_exchange) found.push(wakuPeerExchangeDiscovery({ TTL: 1000 * ask_again_s }));
  if (dns_list !== null) found.push(await listed(dns_list, dns_server));
  return found;
}

// The library's reader of lists with its own client of DNS over HTTPS, which has no setting for the server.
async function listed(url, server) {
  const dns = await DnsNodeDiscovery.dnsOverHttp();
  if (server !== null) dns.dns.resolver.setServers([server]);
  return (components) => {
    const discovery = wakuDnsDiscovery([url])(components);
    discovery.nextPeer = () => dns.getNextPeer([url]);
    return discovery;
  };
}

// A record as the library decodes it, which verifies the signature.
export async function describeRecord(rlp) {
  const record = await EnrDecoder.fromRLP(rlp);
  const services = Object.entries(record.waku2 ?? {});
  return {
    peer: String(record.peerId),
    cluster: record.shardInfo?.clusterId ?? null,
    shards: record.shardInfo?.shards ?? [],
    services: services.filter(([, offered]) => offered).map(([name]) => name),
    addrs: record.getAllLocationMultiaddrs().map(String),
  };
}
