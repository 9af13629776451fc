//! Peers that others offer in a PRUNE (peer exchange): their signed records are verified, and the connection manager
//! decides whether they are dialled.

use libp2p::core::{PeerRecord, SignedEnvelope};
use libp2p::{Multiaddr, PeerId};
use thiserror::Error;
use undertone_message::PubsubTopic;
use undertone_peers::{Input, PeerFacts, PeerOffer, PeerSource};

use super::event_loop::EventLoop;

#[cfg(test)]
#[path = "tests/offered.rs"]
mod tests;

/// Addresses taken at most from one record.
const ADDRESSES_MAX: usize = 16;

/// Peer as a PRUNE names it.
pub(super) struct PrunedOffer<'a> {
    /// Bytes of the peer's identity.
    pub(super) identity: &'a [u8],
    /// Signed record of the peer, or nothing.
    pub(super) record: &'a [u8],
    /// Topic of the PRUNE.
    pub(super) topic: &'a PubsubTopic,
    /// Peer that sent the PRUNE.
    pub(super) told_by: PeerId,
}

/// Defect of an offer, for which the peer that made it is not blamed: it may have been deceived itself.
#[derive(Debug, PartialEq, Eq, Error)]
pub(super) enum OfferDefect {
    /// The identity is none.
    #[error("its identity is not a peer id")]
    Identity,
    /// The record is not an envelope with a record of addresses that its signer signed.
    #[error("its record is not a signed record of addresses")]
    Record,
    /// The record is that of another peer.
    #[error("its record is that of {0}")]
    OtherPeer(PeerId),
}

impl PrunedOffer<'_> {
    /// Verifies the record and returns the offer for the connection manager. Offers without a record are of use too: the
    /// manager may know where the peer listens.
    pub(super) fn verified(&self) -> Result<PeerOffer, OfferDefect> {
        let peer = PeerId::from_bytes(self.identity).map_err(|_| OfferDefect::Identity)?;
        let addresses = match self.record {
            [] => Vec::new(),
            record => addresses_of(peer, record)?,
        };
        let shard = self.topic.shard();
        let mut offer = PeerOffer::new(peer, PeerSource::Prune);
        offer.addresses = addresses;
        offer.told_by = Some(self.told_by);
        offer.facts = PeerFacts {
            cluster: shard.map(|shard| shard.cluster),
            shards: shard.map(|shard| vec![shard.index]),
            capabilities: None,
        };
        Ok(offer)
    }
}

/// Addresses in a signed record of `peer`: in the form of the specification, as go, nim and js write it, or in the older one
/// of rust-libp2p.
fn addresses_of(peer: PeerId, record: &[u8]) -> Result<Vec<Multiaddr>, OfferDefect> {
    let envelope =
        SignedEnvelope::from_protobuf_encoding(record).map_err(|_| OfferDefect::Record)?;
    let record = PeerRecord::from_signed_envelope_interop(envelope.clone())
        .or_else(|_| PeerRecord::from_signed_envelope(envelope))
        .map_err(|_| OfferDefect::Record)?;
    if record.peer_id() != peer {
        return Err(OfferDefect::OtherPeer(record.peer_id()));
    }
    let addresses = record.addresses().iter();
    Ok(addresses.take(ADDRESSES_MAX).cloned().collect())
}

impl EventLoop {
    /// Handles a peer that was offered. A node without a connection manager has only the peers that its operator named, and
    /// takes none.
    pub(super) fn offered(&mut self, offer: &PrunedOffer<'_>) {
        let Some(connections) = &self.connections else {
            return;
        };
        let told_by = offer.told_by;
        match offer.verified() {
            Ok(offer) => {
                let offer = connections.without_hearsay(offer);
                tracing::debug!(%told_by, peer = %offer.peer, "a PRUNE offers a peer");
                self.manage(Input::Offer(offer));
            }
            Err(defect) => tracing::debug!(%told_by, %defect, "an offered peer is passed over"),
        }
    }
}
