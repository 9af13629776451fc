//! Node record (ENR, EIP-778): the node's identity, address and shards, signed with its key.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use k256::ecdsa::{Signature, SigningKey, signature::hazmat::PrehashSigner as _};
use libp2p::Multiaddr;
use libp2p::identity::Keypair;
use libp2p::multiaddr::Protocol;
use sha3::{Digest as _, Keccak256};
use undertone_message::PubsubTopic;
use undertone_peers::Capabilities;

use super::peers::{ip_of, without_peer_id};

mod rlp;
#[cfg(test)]
mod tests;

/// Longest record, bytes (EIP-778).
const RECORD_BYTES_MAX: usize = 300;

/// Bytes of a record taken by its signature, its sequence number and the enclosing list.
const SIGNED_BYTES: usize = 64 + 2 + 9 + 3;

/// Bytes of a record taken by its public key: the name of the key, and 33 bytes.
const PUBLIC_KEY_BYTES: usize = 10 + 34;

/// From this number of shards on, shards are written as a bit vector instead of a list.
const LISTED_SHARDS_MAX: usize = 64;

/// Length of the bit vector, bytes.
const SHARD_BITS: usize = 128;

/// Keys and values of a record, sorted by key as the signature requires.
type RecordContent = BTreeMap<&'static [u8], Vec<u8>>;

/// Signed record of the node, kept so that an unchanged one is not signed again.
#[derive(Debug)]
pub(crate) struct NodeRecord {
    key: Option<Signer>,
    /// Services that the node offers, the value of the key `waku2`.
    capabilities: Capabilities,
    /// Port of discv5, if the node runs it.
    udp_port: Option<u16>,
    last: RefCell<Option<EncodedRecord>>,
}

struct Signer {
    secret: SigningKey,
    /// Public key in compressed form.
    public: Vec<u8>,
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Signer")
    }
}

/// The record signed last; its sequence number stays the same while its content does.
#[derive(Debug)]
struct EncodedRecord {
    content: RecordContent,
    sequence: u64,
    uri: String,
}

impl NodeRecord {
    /// Creates the record of the node with this identity. Only secp256k1 keys can sign records.
    pub(crate) fn new(
        keypair: &Keypair,
        capabilities: Capabilities,
        udp_port: Option<u16>,
    ) -> Self {
        let signer = || {
            let keypair = keypair.clone().try_into_secp256k1().ok()?;
            let secret = SigningKey::from_slice(&keypair.secret().to_bytes()).ok()?;
            let public = keypair.public().to_bytes().to_vec();
            Some(Signer { secret, public })
        };
        Self {
            key: signer(),
            capabilities,
            udp_port,
            last: RefCell::new(None),
        }
    }

    /// Returns the record in text form, `enr:…`, with a new sequence number when its content has changed.
    pub(crate) fn uri(
        &self,
        addresses: &[Multiaddr],
        cluster_id: u16,
        joined: &BTreeSet<PubsubTopic>,
    ) -> Option<String> {
        let signer = self.key.as_ref()?;
        let mut content = self.content(addresses, cluster_id, joined);
        content.insert(b"secp256k1", signer.public.clone());
        let mut last = self.last.borrow_mut();
        if let Some(written) = &*last
            && written.content == content
        {
            return Some(written.uri.clone());
        }
        // Sequence numbers must grow from run to run, so they start from the time in milliseconds.
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
        let now_ms = since_1970.unwrap_or_default().as_millis();
        let least = last.as_ref().map_or(1, |written| written.sequence + 1);
        let sequence = u64::try_from(now_ms).unwrap_or(u64::MAX).max(least);
        let uri = signer.sign(sequence, &content)?;
        *last = Some(EncodedRecord {
            content,
            sequence,
            uri: uri.clone(),
        });
        Some(uri)
    }
}

impl NodeRecord {
    /// Returns the values that change while the node runs, for discv5, which signs the record itself.
    pub(crate) fn values(
        &self,
        addresses: &[Multiaddr],
        cluster_id: u16,
        joined: &BTreeSet<PubsubTopic>,
    ) -> Vec<(&'static [u8], Vec<u8>)> {
        let mut content = self.content(addresses, cluster_id, joined);
        // discv5 knows its own port, and learns the node's IP address from other nodes. The TCP port may be one that a router
        // has opened since the start.
        let changes = |key: &[u8]| {
            let services = matches!(key, b"rs" | b"rsv" | b"waku2");
            services || matches!(key, b"multiaddrs" | b"tcp" | b"tcp6")
        };
        content.retain(|key, _| changes(key));
        content.into_iter().collect()
    }

    /// Content of the record but for the public key.
    fn content(
        &self,
        addresses: &[Multiaddr],
        cluster_id: u16,
        joined: &BTreeSet<PubsubTopic>,
    ) -> RecordContent {
        content(
            self.capabilities,
            self.udp_port,
            addresses,
            cluster_id,
            joined,
        )
    }
}

impl Signer {
    fn sign(&self, sequence: u64, content: &RecordContent) -> Option<String> {
        let mut items = rlp::integer(sequence);
        for (key, value) in content {
            items.extend(rlp::bytes(key));
            items.extend(rlp::bytes(value));
        }
        let hash = Keccak256::digest(rlp::list(&items));
        let signature: Signature = self.secret.sign_prehash(&hash).ok()?;
        let mut record = rlp::bytes(&signature.to_bytes());
        record.extend(items);
        Some(format!(
            "enr:{}",
            URL_SAFE_NO_PAD.encode(rlp::list(&record))
        ))
    }
}

fn content(
    capabilities: Capabilities,
    udp_port: Option<u16>,
    addresses: &[Multiaddr],
    cluster_id: u16,
    joined: &BTreeSet<PubsubTopic>,
) -> RecordContent {
    let mut content = RecordContent::new();
    content.insert(b"id", b"v4".to_vec());
    content.insert(b"waku2", vec![capabilities.0]);
    let shards: BTreeSet<u16> = joined
        .iter()
        .filter_map(PubsubTopic::shard)
        .filter(|shard| shard.cluster == cluster_id)
        .map(|shard| shard.index)
        .collect();
    let (key, value) = shards_value(cluster_id, &shards);
    content.insert(key, value);
    if let Some((ip, port)) = best_tcp(addresses) {
        let (key, tcp_key, udp_key): (&[u8], &[u8], &[u8]) = match ip.len() {
            4 => (b"ip", b"tcp", b"udp"),
            _ => (b"ip6", b"tcp6", b"udp6"),
        };
        content.insert(key, ip);
        content.insert(tcp_key, port_value(port));
        if let Some(port) = udp_port {
            content.insert(udp_key, port_value(port));
        }
    }
    let mut multiaddrs = Vec::new();
    let taken: usize = content.iter().map(|(k, v)| k.len() + v.len() + 3).sum();
    let room = RECORD_BYTES_MAX
        .saturating_sub(SIGNED_BYTES + PUBLIC_KEY_BYTES + taken + b"multiaddrs".len() + 4);
    // Addresses that `ip` and `tcp` cannot express, such as WebSocket and host names.
    let mut others: Vec<_> = addresses
        .iter()
        .filter(|address| plain_tcp(address).is_none())
        .collect();
    others.sort_by_key(|address| is_of_this_host(address));
    for address in others {
        // The record names the node, so its address need not.
        let bytes = without_peer_id(address).to_vec();
        let Ok(len) = u16::try_from(bytes.len()) else {
            continue;
        };
        if multiaddrs.len() + bytes.len() + 2 <= room {
            multiaddrs.extend(len.to_be_bytes());
            multiaddrs.extend(bytes);
        }
    }
    if !multiaddrs.is_empty() {
        content.insert(b"multiaddrs", multiaddrs);
    }
    content
}

/// Whether only this host itself reaches the address. A record may have no room for all, so these come last.
fn is_of_this_host(address: &Multiaddr) -> bool {
    ip_of(address).is_some_and(|ip| ip.is_loopback() || ip.is_unspecified())
}

/// Encodes a port; integers of a record have no leading zeros.
fn port_value(port: u16) -> Vec<u8> {
    let bytes = port.to_be_bytes().into_iter();
    bytes.skip_while(|byte| *byte == 0).collect()
}

/// Encodes the shards: few as a list, many as a bit vector.
fn shards_value(cluster_id: u16, shards: &BTreeSet<u16>) -> (&'static [u8], Vec<u8>) {
    let mut value = cluster_id.to_be_bytes().to_vec();
    if let Ok(count) = u8::try_from(shards.len())
        && shards.len() < LISTED_SHARDS_MAX
    {
        value.push(count);
        value.extend(shards.iter().flat_map(|shard| shard.to_be_bytes()));
        return (b"rs", value);
    }
    let mut bits = [0u8; SHARD_BITS];
    for shard in shards {
        if let Some(byte) = bits.get_mut(usize::from(shard / 8)) {
            *byte |= 1 << (shard % 8);
        }
    }
    value.extend(bits);
    (b"rsv", value)
}

/// IP address and port of an address that consists of only these and perhaps a peer id.
fn plain_tcp(address: &Multiaddr) -> Option<(Vec<u8>, u16)> {
    let mut parts = address.iter();
    let ip = match parts.next()? {
        Protocol::Ip4(ip) => ip.octets().to_vec(),
        Protocol::Ip6(ip) => ip.octets().to_vec(),
        _ => return None,
    };
    match (parts.next()?, parts.next()) {
        (Protocol::Tcp(port), None | Some(Protocol::P2p(_))) => Some((ip, port)),
        _ => None,
    }
}

/// The address that other nodes most likely reach: those of private networks behind those of the Internet, loopback and
/// unspecified last; IPv4 before IPv6.
fn best_tcp(addresses: &[Multiaddr]) -> Option<(Vec<u8>, u16)> {
    let rank = |(ip, _): &(Vec<u8>, u16)| {
        let reach = match ip.as_slice() {
            [0 | 127, _, _, _] => 2,
            [10, _, _, _] | [172, 16..=31, _, _] | [192, 168, _, _] | [169, 254, _, _] => 1,
            [100, 64..=127, _, _] => 1,
            [_, _, _, _] => 0,
            [0xfc..=0xfd, ..] | [0xfe, 0x80..=0xbf, ..] => 1,
            bytes if bytes[..15].iter().all(|byte| *byte == 0) => 2,
            _ => 0,
        };
        (reach, ip.len())
    };
    addresses.iter().filter_map(plain_tcp).min_by_key(rank)
}
