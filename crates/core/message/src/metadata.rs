//! Metadata exchange `/vac/waku/metadata/1.0.0` (RFC 66): cluster and shards of a peer.
//!
//! Request and response have the same form. nwaku sends a request to every new peer and disconnects
//! those that do not answer or belong to another cluster.

use thiserror::Error;
use undertone_wire::{FieldReader, FieldValue, put_bytes_field, put_varint, put_varint_field};

use crate::wire::WireError;

#[cfg(test)]
#[path = "tests/metadata.rs"]
mod tests;

/// Identifier of the metadata protocol.
pub const PROTOCOL_ID: &str = "/vac/waku/metadata/1.0.0";

/// Maximum length of a request or response, in bytes; also bounds the number of shards.
pub const MAX_METADATA_BYTES: usize = 1024;

const CLUSTER_ID: u32 = 1;
const SHARDS_UNPACKED: u32 = 2;
const SHARDS: u32 = 3;

/// Metadata with which a node describes itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WakuMetadata {
    /// Cluster id of the node's network.
    pub cluster_id: Option<u32>,
    /// Indices of the shards in which the node takes part.
    pub shards: Vec<u32>,
}

/// Error of encoding or decoding metadata.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MetadataError {
    /// The metadata is longer than [`MAX_METADATA_BYTES`].
    #[error("metadata of {size_bytes} bytes; at most {MAX_METADATA_BYTES} are accepted")]
    TooLarge {
        /// Length of the metadata, in bytes.
        size_bytes: usize,
    },
    /// The metadata is not valid protobuf.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// A number declared as 32 bits wide holds more.
    #[error("field {field} holds {value}, which does not fit 32 bits")]
    Exceeds32Bits {
        /// Number of the field.
        field: u32,
        /// Value that was read.
        value: u64,
    },
}

impl WakuMetadata {
    /// Encodes the metadata as protobuf, without a length prefix; shards are written in the
    /// deprecated field 2 and again, packed, in field 3, since old peers read only the former.
    ///
    /// # Errors
    /// [`MetadataError::TooLarge`] when the result is longer than [`MAX_METADATA_BYTES`].
    pub fn encode(&self) -> Result<Vec<u8>, MetadataError> {
        let mut out = Vec::new();
        if let Some(cluster_id) = self.cluster_id {
            put_varint_field(&mut out, CLUSTER_ID, u64::from(cluster_id));
        }
        for shard in &self.shards {
            put_varint_field(&mut out, SHARDS_UNPACKED, u64::from(*shard));
        }
        if !self.shards.is_empty() {
            let mut packed = Vec::new();
            self.shards
                .iter()
                .for_each(|shard| put_varint(&mut packed, u64::from(*shard)));
            put_bytes_field(&mut out, SHARDS, &packed);
        }
        check_size(&out)?;
        Ok(out)
    }

    /// Decodes metadata written by [`encode`](Self::encode) or another implementation: field 3 if
    /// it holds shards, else field 2 packed, else field 2 unpacked.
    ///
    /// # Errors
    /// [`MetadataError`] when the input is too long, is not protobuf, or holds a number over 32 bits.
    pub fn decode(input: &[u8]) -> Result<Self, MetadataError> {
        check_size(input)?;
        let mut cluster_id = None;
        let mut current = Vec::new();
        let mut old_packed = Vec::new();
        let mut old_unpacked = Vec::new();
        let mut fields = FieldReader::new(input);
        while let Some((number, value)) = fields.field().map_err(WireError::from)? {
            match (number, value) {
                (CLUSTER_ID, FieldValue::Varint(value)) => {
                    cluster_id = Some(narrow(number, value)?);
                }
                (SHARDS_UNPACKED, FieldValue::Varint(value)) => {
                    old_unpacked.push(narrow(number, value)?);
                }
                (SHARDS_UNPACKED, FieldValue::Bytes(bytes)) => {
                    unpack(number, bytes, &mut old_packed)?;
                }
                (SHARDS, FieldValue::Varint(value)) => current.push(narrow(number, value)?),
                (SHARDS, FieldValue::Bytes(bytes)) => unpack(number, bytes, &mut current)?,
                _ => {}
            }
        }
        let shards = [current, old_packed, old_unpacked];
        let shards = shards
            .into_iter()
            .find(|list| !list.is_empty())
            .unwrap_or_default();
        Ok(Self { cluster_id, shards })
    }
}

fn check_size(bytes: &[u8]) -> Result<(), MetadataError> {
    if bytes.len() > MAX_METADATA_BYTES {
        return Err(MetadataError::TooLarge {
            size_bytes: bytes.len(),
        });
    }
    Ok(())
}

fn unpack(field: u32, packed: &[u8], into: &mut Vec<u32>) -> Result<(), MetadataError> {
    let mut numbers = FieldReader::new(packed);
    while !numbers.is_empty() {
        into.push(narrow(field, numbers.varint().map_err(WireError::from)?)?);
    }
    Ok(())
}

fn narrow(field: u32, value: u64) -> Result<u32, MetadataError> {
    u32::try_from(value).map_err(|_| MetadataError::Exceeds32Bits { field, value })
}
