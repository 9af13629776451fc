//! Task that keeps this node registered. It uses one peer after the other, because nodes that look for it ask different
//! ones.

use std::time::{Duration, SystemTime, UNIX_EPOCH};
use undertone_network::handle::Stopped;

use bytes::Bytes;
use libp2p::Multiaddr;
use undertone_services::rendezvous::shard_namespace;

use super::{Pauses, RendezvousParts};
use crate::services::{ServiceFailure, Turn, sign_record};

/// Lifetime of a registration, seconds (as in nwaku): the shortest that is accepted, so that a node that leaves is soon
/// forgotten.
const TTL_S: u64 = 60;

/// Time between registrations. At any time the node is registered at the last three peers; where there are fewer, two
/// renewals may fail.
const RENEWAL: Duration = Duration::from_secs(20);

/// Interval of checks for a peer that keeps registrations, while none is connected.
const LOOK: Duration = Duration::from_secs(2);

/// First and longest pause after failures (as in nwaku).
const RETRY: Duration = Duration::from_secs(5);
const RETRY_MAX: Duration = Duration::from_secs(300);

/// Maximum number of shards on which a node registers.
const SHARDS_MAX: usize = 32;

/// Task that keeps this node registered.
pub(super) struct Registrar {
    parts: RendezvousParts,
    turn: Turn,
    record: Option<OwnSigned>,
}

/// This node's signed record. It stays the same while the addresses do, so that servers need not verify it again.
struct OwnSigned {
    addresses: Vec<Multiaddr>,
    sequence: u64,
    envelope: Bytes,
}

impl Registrar {
    pub(super) fn new(parts: RendezvousParts) -> Self {
        Self {
            parts,
            turn: Turn::default(),
            record: None,
        }
    }

    /// Registers and renews until the node ends.
    pub(super) async fn run(mut self) {
        let mut pauses = Pauses::new(RETRY, RETRY_MAX);
        while !self.parts.offers.is_closed() {
            let pause = match self.register().await {
                Ok(true) => {
                    pauses.succeeded();
                    RENEWAL
                }
                Ok(false) | Err(ServiceFailure::NoPeer { .. }) => LOOK,
                Err(ServiceFailure::Stopped(Stopped)) => return,
                Err(error) => {
                    tracing::debug!(%error, "not registered at a rendezvous point");
                    pauses.failed()
                }
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// Registers all shards at one peer. Returns whether there was anything to register.
    async fn register(&mut self) -> Result<bool, ServiceFailure> {
        let point = self.parts.client.next_point(&mut self.turn)?;
        let addresses = self.parts.announced().await?;
        let shards = self.parts.shards();
        if addresses.is_empty() || shards.is_empty() {
            return Ok(false);
        }
        let Some(record) = self.signed(addresses) else {
            return Ok(false);
        };
        for shard in shards.into_iter().take(SHARDS_MAX) {
            let namespace = shard_namespace(self.parts.cluster, shard);
            let client = &self.parts.client;
            client.register(&point, &namespace, &record, TTL_S).await?;
        }
        Ok(true)
    }

    /// Returns the signed record of some addresses; `None` if the node's key cannot sign.
    fn signed(&mut self, addresses: Vec<Multiaddr>) -> Option<Bytes> {
        if let Some(record) = &self.record
            && record.addresses == addresses
        {
            return Some(record.envelope.clone());
        }
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
        let last = self.record.as_ref().map_or(0, |record| record.sequence);
        // A clock that was set back must not make the new record older than the last one.
        let sequence = since_1970.unwrap_or_default().as_secs().max(last + 1);
        match sign_record(&self.parts.keypair, sequence, &addresses) {
            Ok(envelope) => {
                self.record = Some(OwnSigned {
                    addresses,
                    sequence,
                    envelope: envelope.clone(),
                });
                Some(envelope)
            }
            Err(error) => {
                tracing::warn!(%error, "rendezvous: the node's record cannot be signed");
                None
            }
        }
    }
}
