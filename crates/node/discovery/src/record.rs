//! Node records (ENR, EIP-778) of Waku nodes (RFC 31): identity, addresses and services of a node.

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

/// Key of the node's capabilities in a record, one byte of flags.
const CAPABILITIES: &str = "waku2";

/// Key of a cluster and its shards as a list.
const SHARD_LIST: &str = "rs";

/// Key of a cluster and its shards as a bit vector.
const SHARD_BITS: &str = "rsv";

/// Key of the addresses that `ip` and `tcp` cannot express.
const MULTIADDRS: &str = "multiaddrs";

/// Length of the bit vector, bytes.
const SHARD_BITS_BYTES: usize = 128;

/// Maximum number of addresses taken from a record of at most 300 bytes.
const ADDRESSES_MAX: usize = 16;

/// Error of a text that is not a valid node record.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NodeRecordError {
    /// The text is not a signed record, or its signature is wrong.
    #[error("not a signed node record (enr:…): {reason}")]
    Malformed {
        /// The first defect found.
        reason: String,
    },
    /// The record is signed with a type of key that yields no libp2p identity.
    #[error("the record's key is not of secp256k1, so it names no peer")]
    OtherKey,
}

/// Record of a node with a verified signature.
#[derive(Clone, Debug, PartialEq)]
pub struct WakuRecord {
    enr: Enr,
    peer: PeerId,
}

impl WakuRecord {
    /// Reads a record from its text, `enr:…`.
    ///
    /// # Errors
    /// [`NodeRecordError`] if the text is not a record, or its signature is wrong.
    pub fn parse(text: &str) -> Result<Self, NodeRecordError> {
        let malformed = |reason: String| NodeRecordError::Malformed { reason };
        let enr = Enr::from_str(text.trim()).map_err(malformed)?;
        Self::from_enr(enr)
    }

    /// Reads a record from its wire format, as used by peer exchange.
    ///
    /// # Errors
    /// [`NodeRecordError`] if the bytes are not a record, or its signature is wrong.
    pub fn from_rlp(bytes: &[u8]) -> Result<Self, NodeRecordError> {
        Self::parse(&format!("enr:{}", URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// Converts a record decoded by the library, which has checked its signature.
    ///
    /// # Errors
    /// [`NodeRecordError::OtherKey`] if its key yields no identity.
    pub fn from_enr(enr: Enr) -> Result<Self, NodeRecordError> {
        let peer = peer_of(&enr).ok_or(NodeRecordError::OtherKey)?;
        Ok(Self { enr, peer })
    }

    /// Returns the record as the library's type.
    pub fn enr(&self) -> &Enr {
        &self.enr
    }

    /// Returns the record in its wire format, for peer exchange.
    pub fn to_rlp(&self) -> Bytes {
        let text = self.enr.to_base64();
        let base64 = text.strip_prefix("enr:").unwrap_or(&text);
        // The library wrote the text, so it is valid; an empty result would count as no record.
        URL_SAFE_NO_PAD.decode(base64).unwrap_or_default().into()
    }

    /// Returns the identity that the record's key yields.
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

    /// Returns the addresses at which the node's libp2p listens, without `/p2p`.
    pub fn addresses(&self) -> Vec<Multiaddr> {
        let v4 = self.enr.tcp4_socket().map(SocketAddr::from);
        let v6 = self.enr.tcp6_socket().map(SocketAddr::from);
        let mut addresses: Vec<_> = v4.into_iter().chain(v6).map(tcp_address).collect();
        let more = self.bytes(MULTIADDRS).unwrap_or_default();
        addresses.extend(split_addresses(&more));
        addresses.truncate(ADDRESSES_MAX);
        addresses
    }

    /// Returns the record's statements about cluster, shards and services.
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

/// Returns the libp2p identity of a record's key: the key in libp2p's protobuf encoding, as an identity multihash.
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

/// Splits addresses that each have a 16-bit length prefix; stops at the first defect.
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

/// Reads a cluster and a bit vector with one bit per shard, the lowest bit first.
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
