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
use undertone_discovery::discv5::UdpPorts;
use undertone_message::PubsubTopic;
use undertone_peers::Capabilities;

use addresses::{RecordAddresses, is_for_browsers};

mod addresses;
mod rlp;
#[cfg(test)]
#[path = "tests/record.rs"]
mod tests;

/// Maximum length of a record, bytes (EIP-778).
const RECORD_BYTES_MAX: usize = 300;

/// Bytes of a record for its signature, its sequence number and the enclosing list.
const SIGNED_BYTES: usize = 64 + 2 + 9 + 3;

/// Bytes of a record for its public key: the key's name and 33 bytes.
const PUBLIC_KEY_BYTES: usize = 10 + 34;

/// From this number of shards on, they are written as a bit vector instead of a list.
const LISTED_SHARDS_MAX: usize = 64;

/// Length of the bit vector, bytes.
const SHARD_BITS: usize = 128;

/// Keys and values of a record, sorted by key as the signature requires.
type RecordContent = BTreeMap<&'static [u8], Vec<u8>>;

/// Signed record of the node, kept so that an unchanged one is not signed again.
#[derive(Debug)]
pub struct NodeRecord {
    key: Option<Signer>,
    /// Services that the node offers; the value of the key `waku2`.
    capabilities: Capabilities,
    /// Ports of discv5, if the node runs it.
    udp_ports: UdpPorts,
    last: RefCell<Option<EncodedRecord>>,
    /// Addresses without room in the record, as last logged.
    left_out: RefCell<Vec<Multiaddr>>,
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

/// The record last signed; its sequence number stays the same while its content does.
#[derive(Debug)]
struct EncodedRecord {
    content: RecordContent,
    sequence: u64,
    uri: String,
}

impl NodeRecord {
    /// Creates the record of the node with this identity. Only secp256k1 keys can sign it.
    pub fn new(keypair: &Keypair, capabilities: Capabilities, udp_ports: UdpPorts) -> Self {
        let signer = || {
            let keypair = keypair.clone().try_into_secp256k1().ok()?;
            let secret = SigningKey::from_slice(&keypair.secret().to_bytes()).ok()?;
            let public = keypair.public().to_bytes().to_vec();
            Some(Signer { secret, public })
        };
        Self {
            key: signer(),
            capabilities,
            udp_ports,
            last: RefCell::default(),
            left_out: RefCell::default(),
        }
    }

    /// Returns the record in text form, `enr:…`, with a new sequence number when its content has changed.
    pub fn uri(
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
    /// Returns the values that change while the node runs. They are for discv5, which signs the record itself.
    pub(crate) fn values(
        &self,
        addresses: &[Multiaddr],
        cluster_id: u16,
        joined: &BTreeSet<PubsubTopic>,
    ) -> Vec<(&'static [u8], Vec<u8>)> {
        let mut content = self.content(addresses, cluster_id, joined);
        // discv5 knows its own port and learns the node's IP address from other nodes. The TCP port may be one that a
        // router has opened since the start.
        let changes = |key: &[u8]| {
            let services = matches!(key, b"rs" | b"rsv" | b"waku2");
            services || matches!(key, b"multiaddrs" | b"tcp" | b"tcp6")
        };
        content.retain(|key, _| changes(key));
        content.into_iter().collect()
    }

    /// Returns the content of the record without the public key.
    fn content(
        &self,
        addresses: &[Multiaddr],
        cluster_id: u16,
        joined: &BTreeSet<PubsubTopic>,
    ) -> RecordContent {
        let (content, left_out) = content(
            self.capabilities,
            self.udp_ports,
            addresses,
            cluster_id,
            joined,
        );
        self.log_left_out(left_out);
        content
    }

    /// Logs which addresses the record leaves out, each time that they change.
    fn log_left_out(&self, left_out: Vec<Multiaddr>) {
        let mut last = self.left_out.borrow_mut();
        if *last == left_out {
            return;
        }
        for address in left_out.iter().filter(|address| !last.contains(address)) {
            match is_for_browsers(address) {
                true => tracing::warn!(
                    %address,
                    "the node's record has no room for the address that browsers need, so they do not find the node; a \
                     shorter name, fewer shards or fewer of ext-multiaddr make room"
                ),
                false => tracing::info!(%address, "the node's record has no room for this address"),
            }
        }
        *last = left_out;
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

/// Returns the content of a record without its public key, and the addresses for which it has no room.
fn content(
    capabilities: Capabilities,
    udp_ports: UdpPorts,
    addresses: &[Multiaddr],
    cluster_id: u16,
    joined: &BTreeSet<PubsubTopic>,
) -> (RecordContent, Vec<Multiaddr>) {
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
    let addresses = RecordAddresses::of(addresses);
    if let Some((ip, port)) = addresses.v4 {
        content.insert(b"ip", ip.octets().to_vec());
        content.insert(b"tcp", port_value(port));
        content.extend(udp_ports.v4.map(|port| (&b"udp"[..], port_value(port))));
    }
    let mut left_out = Vec::new();
    if let Some((ip, port)) = addresses.v6 {
        let mut with_v6 = content.clone();
        with_v6.insert(b"ip6", ip.octets().to_vec());
        with_v6.insert(b"tcp6", port_value(port));
        with_v6.extend(udp_ports.v6.map(|port| (&b"udp6"[..], port_value(port))));
        // Browsers have no other way in, so their address takes precedence over IPv6: few other nodes have only IPv6.
        let needed = addresses.others.first();
        let needed = needed.filter(|first| is_for_browsers(first));
        let is_pushed_out = |needed| {
            let bytes = entry_bytes(needed);
            bytes > room(&with_v6) && bytes <= room(&content)
        };
        if free_bytes(&with_v6).is_some() && !needed.is_some_and(is_pushed_out) {
            content = with_v6;
        } else {
            left_out.push(Multiaddr::from(ip).with(Protocol::Tcp(port)));
        }
    }
    let mut room = room(&content);
    let mut multiaddrs = Vec::new();
    for address in addresses.others {
        let bytes = address.to_vec();
        match u16::try_from(bytes.len()) {
            Ok(len) if entry_bytes(&address) <= room => {
                room -= entry_bytes(&address);
                multiaddrs.extend(len.to_be_bytes());
                multiaddrs.extend(bytes);
            }
            _ => left_out.push(address),
        }
    }
    if !multiaddrs.is_empty() {
        content.insert(b"multiaddrs", multiaddrs);
    }
    (content, left_out)
}

/// Returns the free bytes of a record with this content; `None` if it is too long.
fn free_bytes(content: &RecordContent) -> Option<usize> {
    let taken: usize = content.iter().map(|(k, v)| k.len() + v.len() + 3).sum();
    RECORD_BYTES_MAX.checked_sub(SIGNED_BYTES + PUBLIC_KEY_BYTES + taken)
}

/// Returns the bytes available for `multiaddrs` beside a content.
fn room(content: &RecordContent) -> usize {
    let free = free_bytes(content).unwrap_or_default();
    free.saturating_sub(b"multiaddrs".len() + 4)
}

/// Returns the bytes that an address takes in `multiaddrs`, including its length prefix.
fn entry_bytes(address: &Multiaddr) -> usize {
    address.len() + 2
}

/// Encodes a port; integers in a record have no leading zeros.
fn port_value(port: u16) -> Vec<u8> {
    let bytes = port.to_be_bytes().into_iter();
    bytes.skip_while(|byte| *byte == 0).collect()
}

/// Encodes the shards: a list if they are few, a bit vector if they are many.
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
