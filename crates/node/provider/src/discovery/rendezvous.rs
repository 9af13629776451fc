//! Rendezvous as a source of peers: registers this node at a peer that keeps registrations, and asks such peers for
//! others.

use std::collections::BTreeMap;
use std::time::Duration;
use undertone_network::handle::Stopped;

use bytes::Bytes;
use libp2p::identity::Keypair;
use libp2p::{Multiaddr, PeerId};
use tokio::sync::{mpsc, watch};
use undertone_peers::address::without_peer;
use undertone_peers::{AddressRules, PeerFacts, PeerOffer, PeerSource};
use undertone_services::rendezvous::{FoundRegistration, shard_namespace};

use super::OwnRecord;
use crate::services::{PeerAddresses, RendezvousClient, ServiceFailure, Turn};
use undertone_network::handle::NodeHandle;

mod pauses;
mod registrar;

#[cfg(test)]
#[path = "tests/rendezvous.rs"]
mod tests;

use pauses::Pauses;
use registrar::Registrar;

/// Number of registrations per request (as in nwaku).
const WANTED: u64 = 12;

/// Maximum number of shards requested per round.
const SHARDS_MAX: usize = 8;

/// Pause after a round that brought peers, and longest pause otherwise (as in nwaku).
const ASK_PAUSE: Duration = Duration::from_secs(60);

/// Pause after the first round that brought no peers: others may be about to register.
const ASK_AGAIN: Duration = Duration::from_secs(5);

/// Maximum number of addresses in this node's record, and maximum of their total bytes.
const ADDRESSES_MAX: usize = 16;
const ADDRESSES_BYTES_MAX: usize = 1_600;

/// Maximum number of cookies kept; without a cookie, a peer starts from the beginning.
const COOKIES_MAX: usize = 64;

/// State shared by registering and asking.
#[derive(Clone)]
pub(super) struct RendezvousParts {
    pub(super) client: RendezvousClient,
    pub(super) node: NodeHandle,
    pub(super) keypair: Keypair,
    pub(super) cluster: u16,
    /// Whether this node's private addresses may be told to others.
    pub(super) allows_private: bool,
    /// Whether this node registers: it does if it relays, because then others want to connect to it.
    pub(super) registers: bool,
    pub(super) own: watch::Receiver<OwnRecord>,
    pub(super) offers: mpsc::Sender<PeerOffer>,
}

impl RendezvousParts {
    /// Returns the shards of this node, or those on which it wants peers.
    fn shards(&self) -> Vec<u16> {
        self.own.borrow().shards.clone()
    }

    /// Returns this node's addresses that others would accept, as far as they fit into a record.
    async fn announced(&self) -> Result<Vec<Multiaddr>, ServiceFailure> {
        let info = self.node.info().await;
        let info = info?;
        let rules = AddressRules {
            allows_private: self.allows_private,
            ..AddressRules::default()
        };
        // The record contains the identity only once.
        let told = info.listen_addresses.iter().map(without_peer);
        Ok(fitting(told.filter(|address| rules.accepts(address))))
    }
}

/// Returns the first addresses, as many as fit into a record that every rendezvous point accepts.
fn fitting(addresses: impl Iterator<Item = Multiaddr>) -> Vec<Multiaddr> {
    let mut bytes = 0;
    let fits = |address: &Multiaddr| {
        bytes += address.len();
        bytes <= ADDRESSES_BYTES_MAX
    };
    addresses.take_while(fits).take(ADDRESSES_MAX).collect()
}

/// Starts to register, and to ask for peers at each wish on the returned channel, until the node ends.
pub(super) fn start(parts: RendezvousParts) -> mpsc::Sender<()> {
    let (wishes, wished) = mpsc::channel(1);
    if parts.registers {
        tokio::spawn(Registrar::new(parts.clone()).run());
    }
    let asker = Asker {
        own: parts.keypair.public().to_peer_id(),
        parts,
        turn: Turn::default(),
        cookies: BTreeMap::new(),
    };
    tokio::spawn(asker.run(wished));
    wishes
}

/// Task that asks for peers.
struct Asker {
    parts: RendezvousParts,
    own: PeerId,
    turn: Turn,
    cookies: BTreeMap<(Multiaddr, String), Bytes>,
}

impl Asker {
    async fn run(mut self, mut wished: mpsc::Receiver<()>) {
        let mut pauses = Pauses::new(ASK_AGAIN, ASK_PAUSE);
        while wished.recv().await.is_some() {
            let pause = match self.ask().await {
                Ok(found) if !found.is_empty() => {
                    for offer in found {
                        if self.parts.offers.send(offer).await.is_err() {
                            return;
                        }
                    }
                    pauses.succeeded();
                    ASK_PAUSE
                }
                Ok(_) => pauses.failed(),
                Err(ServiceFailure::Stopped(Stopped)) => return,
                Err(error) => {
                    match error {
                        ServiceFailure::BadAnswer { .. } => {
                            tracing::warn!(%error, "a rendezvous point answered with something else");
                        }
                        _ => tracing::debug!(%error, "no peers from rendezvous"),
                    }
                    pauses.failed()
                }
            };
            // A wish that arrives meanwhile waits in the channel, and is still valid afterwards.
            tokio::time::sleep(pause).await;
        }
    }

    /// Asks one peer, a different one each time, for the nodes registered on each shard.
    async fn ask(&mut self) -> Result<Vec<PeerOffer>, ServiceFailure> {
        let point = self.parts.client.next_point(&mut self.turn)?;
        let mut found = FoundPeers::new(self.own, self.parts.cluster);
        for shard in self.parts.shards().into_iter().take(SHARDS_MAX) {
            let namespace = shard_namespace(self.parts.cluster, shard);
            let key = (point.clone(), namespace);
            // A cookie is used once, so that a peer that rejects it is asked without one the next time.
            let cookie = self.cookies.remove(&key);
            let client = &self.parts.client;
            let asked = client.discover(&point, &key.1, WANTED, cookie.as_deref());
            let (teller, answer) = match asked.await {
                Ok(answer) => answer,
                // The earlier answers are still useful.
                Err(_) if !found.offers.is_empty() => break,
                Err(error) => return Err(error),
            };
            found.add(teller, shard, &answer.found);
            if let Some(cookie) = answer.cookie {
                if self.cookies.len() >= COOKIES_MAX {
                    self.cookies.clear();
                }
                self.cookies.insert(key, cookie);
            }
        }
        Ok(found.offers())
    }
}

/// Peers named by one rendezvous point, each once.
struct FoundPeers {
    own: PeerId,
    cluster: u16,
    offers: BTreeMap<PeerId, PeerOffer>,
}

impl FoundPeers {
    fn new(own: PeerId, cluster: u16) -> Self {
        Self {
            own,
            cluster,
            offers: BTreeMap::new(),
        }
    }

    /// Adds what `teller` reports about a shard. Skips a registration for another namespace, with a record not signed
    /// by its peer, or of this node itself. The teller is not blamed, because it may follow other rules.
    fn add(&mut self, teller: PeerId, shard: u16, found: &[FoundRegistration]) {
        let namespace = shard_namespace(self.cluster, shard);
        for one in found.iter().filter(|one| one.namespace == namespace) {
            let opened = match PeerAddresses::open(&one.record) {
                Ok(opened) if opened.peer == self.own => continue,
                Ok(opened) => opened,
                Err(defect) => {
                    tracing::debug!(%teller, %defect, "a registered peer is passed over");
                    continue;
                }
            };
            let offer = self.offers.entry(opened.peer).or_insert_with(|| PeerOffer {
                facts: PeerFacts {
                    cluster: Some(self.cluster),
                    shards: Some(Vec::new()),
                    capabilities: None,
                },
                told_by: Some(teller),
                ..PeerOffer::new(opened.peer, PeerSource::Rendezvous)
            });
            offer.addresses = opened.addresses;
            if let Some(shards) = &mut offer.facts.shards
                && !shards.contains(&shard)
            {
                shards.push(shard);
            }
        }
    }

    fn offers(self) -> Vec<PeerOffer> {
        self.offers.into_values().collect()
    }
}
