//! Peers that others offer in a PRUNE (peer exchange). Their signed records are verified, and the connection manager
//! decides whether to dial them.

use libp2p::core::{PeerRecord, SignedEnvelope};
use libp2p::{Multiaddr, PeerId};
use thiserror::Error;
use undertone_message::PubsubTopic;
use undertone_peers::{Input, PeerFacts, PeerOffer, PeerSource};

use super::event_loop::EventLoop;

#[cfg(test)]
#[path = "tests/px_offers.rs"]
mod tests;

/// Maximum number of addresses taken from one record.
const ADDRESSES_MAX: usize = 16;

/// A peer named in a PRUNE.
pub(super) struct PrunedOffer<'a> {
    /// Bytes of the peer's identity.
    pub(super) identity: &'a [u8],
    /// Signed record of the peer; empty if there is none.
    pub(super) record: &'a [u8],
    /// Topic of the PRUNE.
    pub(super) topic: &'a PubsubTopic,
    /// Peer that sent the PRUNE.
    pub(super) told_by: PeerId,
}

/// Defect of an offer. The peer that made the offer is not blamed: it may have been deceived itself.
#[derive(Debug, PartialEq, Eq, Error)]
pub(super) enum OfferDefect {
    /// The identity is not a valid peer id.
    #[error("its identity is not a peer id")]
    Identity,
    /// The record is not a validly signed envelope with a peer record.
    #[error("its record is not a signed record of addresses")]
    Record,
    /// The record belongs to another peer.
    #[error("its record is that of {0}")]
    OtherPeer(PeerId),
}

impl PrunedOffer<'_> {
    /// Verifies the record and returns the offer for the connection manager. Offers without a record are useful too:
    /// the manager may already know the peer's addresses.
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

/// Returns the addresses in a signed record of `peer`. Accepts the format of the specification, which go, nim and js
/// write, and the older one of rust-libp2p.
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
    /// Handles an offered peer. A node without a connection manager only uses the peers named by its operator and
    /// ignores offers.
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
