//! Signed address records: those of this node, and those of others, which are verified.

use bytes::Bytes;
use libp2p::core::signed_envelope::ReadPayloadError;
use libp2p::core::{PeerRecord, SignedEnvelope};
use libp2p::identity::{Keypair, SigningError};
use libp2p::{Multiaddr, PeerId};
use thiserror::Error;
use undertone_services::rendezvous::{
    FORMER_RECORD_PAYLOAD_TYPE, PeerRecordLimits, RECORD_DOMAIN, RECORD_PAYLOAD_TYPE,
    WakuPeerRecord,
};
use undertone_services::rpc::RpcFrameError;

#[cfg(test)]
#[path = "tests/record.rs"]
mod tests;

/// Addresses signed by a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PeerAddresses {
    /// Peer that signed them.
    pub(crate) peer: PeerId,
    /// Its claimed listen addresses; never empty.
    pub(crate) addresses: Vec<Multiaddr>,
}

/// Defect of a signed record.
#[derive(Debug, PartialEq, Eq, Error)]
pub(crate) enum RecordDefect {
    /// The bytes are not an envelope with a supported type of key.
    #[error("not a signed envelope")]
    Envelope,
    /// The signature does not match the key and the record.
    #[error("its signature is not valid")]
    Signature,
    /// The envelope does not contain an address record.
    #[error("not a record of addresses")]
    Kind,
    /// The record cannot be read.
    #[error("its record: {0}")]
    Record(#[from] RpcFrameError),
    /// The record is about another peer than the signer.
    #[error("it is about another peer than its signer")]
    OtherPeer,
    /// The record contains no readable address.
    #[error("it has no address")]
    NoAddress,
}

impl PeerAddresses {
    /// Verifies an envelope and reads its record. Also accepts libp2p's own record, which older releases of nwaku sign.
    pub(crate) fn open(envelope: &[u8]) -> Result<Self, RecordDefect> {
        let limits = PeerRecordLimits::default();
        if envelope.len() > limits.max_bytes {
            return Err(RecordDefect::Envelope);
        }
        let envelope =
            SignedEnvelope::from_protobuf_encoding(envelope).map_err(|_| RecordDefect::Envelope)?;
        for payload_type in [RECORD_PAYLOAD_TYPE, FORMER_RECORD_PAYLOAD_TYPE] {
            match envelope.payload_and_signing_key(RECORD_DOMAIN.to_owned(), payload_type) {
                Ok((payload, key)) => {
                    let record = WakuPeerRecord::decode(payload, &limits)?;
                    let peer = key.to_peer_id();
                    if record.peer != peer.to_bytes() {
                        return Err(RecordDefect::OtherPeer);
                    }
                    let addresses = record.addresses.into_iter();
                    return Self::new(
                        peer,
                        addresses.filter_map(|address| address.to_vec().try_into().ok()),
                    );
                }
                Err(ReadPayloadError::InvalidSignature) => return Err(RecordDefect::Signature),
                Err(ReadPayloadError::UnexpectedPayloadType { .. }) => {}
            }
        }
        // This also compares the peer with the signer.
        let record = PeerRecord::from_signed_envelope_interop(envelope);
        let record = record.map_err(|_| RecordDefect::Kind)?;
        let addresses = record.addresses().iter().take(limits.max_addresses);
        Self::new(record.peer_id(), addresses.cloned())
    }

    fn new(peer: PeerId, addresses: impl Iterator<Item = Multiaddr>) -> Result<Self, RecordDefect> {
        let addresses: Vec<_> = addresses.collect();
        match addresses.is_empty() {
            true => Err(RecordDefect::NoAddress),
            false => Ok(Self { peer, addresses }),
        }
    }
}

/// Whether bytes are a record signed by `peer` itself.
pub(in crate::services) fn is_record_of(peer: PeerId, envelope: &[u8]) -> bool {
    match PeerAddresses::open(envelope) {
        Ok(opened) => opened.peer == peer,
        Err(defect) => {
            tracing::debug!(%peer, %defect, "a peer registers with a bad record");
            false
        }
    }
}

/// Signs a record of this node's addresses; `sequence` must grow with each record.
pub(crate) fn sign_record(
    keypair: &Keypair,
    sequence: u64,
    addresses: &[Multiaddr],
) -> Result<Bytes, SigningError> {
    let record = WakuPeerRecord {
        peer: keypair.public().to_peer_id().to_bytes().into(),
        sequence,
        addresses: addresses.iter().map(|one| one.to_vec().into()).collect(),
        mix_key: String::new(),
    };
    let envelope = SignedEnvelope::new(
        keypair,
        RECORD_DOMAIN.to_owned(),
        RECORD_PAYLOAD_TYPE.to_vec(),
        record.encode(),
    )?;
    Ok(envelope.into_protobuf_encoding().into())
}
