//! Record of a node's addresses, as the reference node signs it for rendezvous, without its envelope.

use bytes::Bytes;
use undertone_wire::{FieldValue, put_bytes_field, put_varint_field};

use crate::rpc::{self, RpcFrameError};

#[cfg(test)]
#[path = "tests/record.rs"]
mod tests;

const PEER: u32 = 1;
const SEQUENCE: u32 = 2;
const ADDRESS: u32 = 3;
const MIX_KEY: u32 = 4;

/// Limits on a record that another node has signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerRecordLimits {
    /// Maximum length of a record, in bytes.
    pub max_bytes: usize,
    /// Maximum length of a peer id, in bytes; those of common key types have 34 to 39.
    pub max_peer_bytes: usize,
    /// Maximum number of addresses taken from a record.
    pub max_addresses: usize,
    /// Maximum length of an address, in bytes; longer ones are ignored.
    pub max_address_bytes: usize,
    /// Maximum length of a mix protocol key, in bytes: 32 bytes in hexadecimal digits, with some to spare.
    pub max_mix_key_bytes: usize,
}

impl Default for PeerRecordLimits {
    fn default() -> Self {
        Self {
            max_bytes: 4096,
            max_peer_bytes: 64,
            max_addresses: 16,
            max_address_bytes: 256,
            max_mix_key_bytes: 128,
        }
    }
}

/// Record of a node's addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WakuPeerRecord {
    /// Bytes of the node's peer id.
    pub peer: Bytes,
    /// Sequence number that grows with each record of the node: seconds since 1970.
    pub sequence: u64,
    /// Addresses as binary multiaddresses.
    pub addresses: Vec<Bytes>,
    /// Key of the mix protocol in hexadecimal; empty for a node without one.
    pub mix_key: String,
}

impl WakuPeerRecord {
    /// Encodes the record as protobuf. The mix protocol key is written even when empty, since nwaku requires the field.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_bytes_field(&mut out, PEER, &self.peer);
        put_varint_field(&mut out, SEQUENCE, self.sequence);
        for address in &self.addresses {
            put_bytes_field(&mut out, ADDRESS, address);
        }
        rpc::put_text(&mut out, MIX_KEY, &self.mix_key);
        out
    }

    /// Decodes a record. Addresses that are too long, or beyond the maximum number, are ignored.
    ///
    /// # Errors
    /// [`RpcFrameError`] when the bytes are no record or exceed `limits`.
    pub fn decode(record: &[u8], limits: &PeerRecordLimits) -> Result<Self, RpcFrameError> {
        rpc::check_size(record, limits.max_bytes)?;
        let mut decoded = Self::default();
        for field in rpc::fields(record) {
            match field? {
                (PEER, FieldValue::Bytes(bytes)) => {
                    rpc::check_size(bytes, limits.max_peer_bytes)?;
                    decoded.peer = Bytes::copy_from_slice(bytes);
                }
                (SEQUENCE, FieldValue::Varint(value)) => decoded.sequence = value,
                (ADDRESS, FieldValue::Bytes(bytes)) => {
                    let has_room = decoded.addresses.len() < limits.max_addresses;
                    if has_room && bytes.len() <= limits.max_address_bytes {
                        decoded.addresses.push(Bytes::copy_from_slice(bytes));
                    }
                }
                (MIX_KEY, FieldValue::Bytes(bytes)) => {
                    let key = rpc::text("mixKey", bytes, limits.max_mix_key_bytes)?;
                    decoded.mix_key = key.to_owned();
                }
                _ => {}
            }
        }
        match decoded.peer.is_empty() {
            true => Err(RpcFrameError::Missing { field: "peerId" }),
            false => Ok(decoded),
        }
    }
}
