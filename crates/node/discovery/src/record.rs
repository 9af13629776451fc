//! Node records (ENR, EIP-778) of Waku nodes (RFC 31): who a node is, where it listens, what it offers.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr as _;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use discv5::Enr;
use enr::{CombinedPublicKey, EnrPublicKey as _};
use multiaddr::{Multiaddr, PeerId, Protocol};
use thiserror::Error;
use undertone_peers::{Capabilities, PeerFacts, PeerOffer, PeerSource};

#[cfg(test)]
#[path = "tests/record.rs"]
mod tests;

/// Key of a record with the capabilities of the node, one byte of bits.
const CAPABILITIES: &str = "waku2";

/// Key of a record with a cluster and its shards as a list.
const SHARD_LIST: &str = "rs";

/// Key of a record with a cluster and its shards as a vector of bits.
const SHARD_BITS: &str = "rsv";

/// Key of a record with addresses that `ip` and `tcp` cannot express.
const MULTIADDRS: &str = "multiaddrs";

/// Length of the vector of bits, bytes.
const SHARD_BITS_BYTES: usize = 128;

/// Maximum number of addresses taken from a record of at most 300 bytes.
const ADDRESSES_MAX: usize = 16;

/// Error of a text that is no valid node record.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NodeRecordError {
    /// The text is not a signed record, or its signature is wrong.
    #[error("not a signed node record (enr:…): {reason}")]
    Malformed {
        /// Defect that was found first.
        reason: String,
    },
    /// The record is signed with a key from which no identity of libp2p follows.
    #[error("the record's key is not of secp256k1, so it names no peer")]
    OtherKey,
}

/// Record of a node, whose signature was checked.
#[derive(Clone, Debug, PartialEq)]
pub struct WakuRecord {
    enr: Enr,
    peer: PeerId,
}

impl WakuRecord {
    /// Reads a record from its text, `enr:…`.
    ///
    /// # Errors
    /// [`NodeRecordError`] if the text is no record, or its signature is wrong.
    pub fn parse(text: &str) -> Result<Self, NodeRecordError> {
        let malformed = |reason: String| NodeRecordError::Malformed { reason };
        let enr = Enr::from_str(text.trim()).map_err(malformed)?;
        Self::from_enr(enr)
    }

    /// Reads a record from its bytes on the wire, as peer exchange has them.
    ///
    /// # Errors
    /// [`NodeRecordError`] if the bytes are no record, or its signature is wrong.
    pub fn from_rlp(bytes: &[u8]) -> Result<Self, NodeRecordError> {
        Self::parse(&format!("enr:{}", URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// Reads a record that the library has decoded, which checked its signature.
    ///
    /// # Errors
    /// [`NodeRecordError::OtherKey`] if no identity follows from its key.
    pub fn from_enr(enr: Enr) -> Result<Self, NodeRecordError> {
        let peer = peer_of(&enr).ok_or(NodeRecordError::OtherKey)?;
        Ok(Self { enr, peer })
    }

    /// Returns the record as the library has it.
    pub fn enr(&self) -> &Enr {
        &self.enr
    }

    /// Returns the record as its bytes on the wire, for peer exchange.
    pub fn to_rlp(&self) -> Bytes {
        let text = self.enr.to_base64();
        let base64 = text.strip_prefix("enr:").unwrap_or(&text);
        // The library wrote the text, so it is valid; an empty record would be taken for none.
        URL_SAFE_NO_PAD.decode(base64).unwrap_or_default().into()
    }

    /// Returns the identity that follows from the record's key.
    pub fn peer(&self) -> PeerId {
        self.peer
    }

    /// Returns the sequence number: of two records of one node, the higher one is newer.
    pub fn sequence(&self) -> u64 {
        self.enr.seq()
    }

    /// Returns the address of the node's discv5 service.
    pub fn udp(&self) -> Option<SocketAddr> {
        let v4 = self.enr.udp4_socket().map(SocketAddr::from);
        v4.or_else(|| self.enr.udp6_socket().map(SocketAddr::from))
    }

    /// Returns the addresses at which the node's libp2p listens, without its identity.
    pub fn addresses(&self) -> Vec<Multiaddr> {
        let v4 = self.enr.tcp4_socket().map(SocketAddr::from);
        let v6 = self.enr.tcp6_socket().map(SocketAddr::from);
        let mut addresses: Vec<_> = v4.into_iter().chain(v6).map(tcp_address).collect();
        let more = self.bytes(MULTIADDRS).unwrap_or_default();
        addresses.extend(split_addresses(&more));
        addresses.truncate(ADDRESSES_MAX);
        addresses
    }

    /// Returns what the record says of cluster, shards and services.
    pub fn facts(&self) -> PeerFacts {
        let capabilities = self.bytes(CAPABILITIES);
        let capabilities = capabilities.and_then(|bytes| bytes.first().copied());
        let listed = self.bytes(SHARD_LIST).and_then(|bytes| shard_list(&bytes));
        let shards = listed.or_else(|| self.bytes(SHARD_BITS).and_then(|bytes| shard_bits(&bytes)));
        let (cluster, shards) = shards.unzip();
        PeerFacts {
            cluster,
            shards,
            capabilities: capabilities.map(Capabilities),
        }
    }

    /// Returns the node as an offer to the connection manager.
    pub fn offer(&self, source: PeerSource) -> PeerOffer {
        PeerOffer {
            addresses: self.addresses(),
            facts: self.facts(),
            sequence: Some(self.sequence()),
            ..PeerOffer::new(self.peer, source)
        }
    }

    fn bytes(&self, key: &str) -> Option<Vec<u8>> {
        // The library decodes an RLP string; another form counts as absent.
        let value: Bytes = self.enr.get_decodable(key)?.ok()?;
        Some(value.to_vec())
    }
}

/// Identity of libp2p that follows from a record's key: the key in libp2p's protobuf form, as an identity multihash.
fn peer_of(enr: &Enr) -> Option<PeerId> {
    let CombinedPublicKey::Secp256k1(key) = enr.public_key() else {
        return None;
    };
    let key = key.encode();
    let key_bytes = u8::try_from(key.len()).ok()?;
    // Type 2 is secp256k1 (libp2p, "Peer Ids and Keys").
    let mut bytes = vec![0, key_bytes + 4, 0x08, 2, 0x12, key_bytes];
    bytes.extend_from_slice(&key);
    PeerId::from_bytes(&bytes).ok()
}

fn tcp_address(socket: SocketAddr) -> Multiaddr {
    let host = match socket.ip() {
        IpAddr::V4(ip) => Protocol::Ip4(ip),
        IpAddr::V6(ip) => Protocol::Ip6(ip),
    };
    Multiaddr::empty()
        .with(host)
        .with(Protocol::Tcp(socket.port()))
}

/// Splits addresses that are each preceded by their length, 16 bits; reading ends at the first defect.
fn split_addresses(mut bytes: &[u8]) -> Vec<Multiaddr> {
    let mut addresses = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<2>() {
        let length = usize::from(u16::from_be_bytes(*length));
        let Some((address, rest)) = rest.split_at_checked(length) else {
            break;
        };
        let Ok(address) = Multiaddr::try_from(address.to_vec()) else {
            break;
        };
        addresses.push(address);
        bytes = rest;
    }
    addresses
}

/// Reads a cluster, a number of shards, and the shards, 16 bits each.
fn shard_list(bytes: &[u8]) -> Option<(u16, Vec<u16>)> {
    let (cluster, rest) = bytes.split_first_chunk::<2>()?;
    let (count, rest) = rest.split_first()?;
    if rest.len() != usize::from(*count) * 2 {
        return None;
    }
    let (shards, _) = rest.as_chunks::<2>();
    let shards = shards.iter().map(|shard| u16::from_be_bytes(*shard));
    Some((u16::from_be_bytes(*cluster), shards.collect()))
}

/// Reads a cluster and a vector of bits, one for each shard, the lowest bit first.
fn shard_bits(bytes: &[u8]) -> Option<(u16, Vec<u16>)> {
    let (cluster, bits) = bytes.split_first_chunk::<2>()?;
    if bits.len() != SHARD_BITS_BYTES {
        return None;
    }
    let shards = (0u16..).zip(bits).flat_map(|(index, byte)| {
        let set = (0u16..8).filter(move |bit| byte >> bit & 1 == 1);
        set.map(move |bit| index * 8 + bit)
    });
    Some((u16::from_be_bytes(*cluster), shards.collect()))
}
