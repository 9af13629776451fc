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
use crate::services::{PeerAddresses, RendezvousClient, ServiceFailure};
use undertone_network::handle::NodeHandle;

mod pauses;
mod registrar;

#[cfg(test)]
#[path = "tests/rendezvous.rs"]
mod tests;

use pauses::Pauses;
use registrar::Registrar;

/// Registrations that one question asks for (nwaku).
const WANTED: u64 = 12;

/// Shards of which one round asks.
const SHARDS_MAX: usize = 8;

/// Shortest time between two rounds of questions that bring peers, and longest one otherwise (nwaku).
const ASK_PAUSE: Duration = Duration::from_secs(60);

/// Time after the first round that brings nobody: others may be about to register.
const ASK_AGAIN: Duration = Duration::from_secs(5);

/// Addresses in this node's record, and bytes of all of them, at most.
const ADDRESSES_MAX: usize = 16;
const ADDRESSES_BYTES_MAX: usize = 1_600;

/// Cookies that are kept at most; without one a peer begins anew.
const COOKIES_MAX: usize = 64;

/// Shared parts of registering and asking.
#[derive(Clone)]
pub(super) struct RendezvousParts {
    pub(super) client: RendezvousClient,
    pub(super) node: NodeHandle,
    pub(super) keypair: Keypair,
    pub(super) cluster: u16,
    /// Whether others may be told this node's addresses of private networks.
    pub(super) allows_private: bool,
    /// Whether this node relays, so that others would want to connect to it.
    pub(super) registers: bool,
    pub(super) own: watch::Receiver<OwnRecord>,
    pub(super) offers: mpsc::Sender<PeerOffer>,
}

impl RendezvousParts {
    /// Shards of this node, or those on which it wants peers.
    fn shards(&self) -> Vec<u16> {
        self.own.borrow().shards.clone()
    }

    /// Those of this node's addresses that others would take, as long as they fit into a record.
    async fn announced(&self) -> Result<Vec<Multiaddr>, ServiceFailure> {
        let info = self.node.info().await;
        let info = info?;
        let rules = AddressRules {
            allows_private: self.allows_private,
            ..AddressRules::default()
        };
        // The record names the identity once.
        let told = info.listen_addresses.iter().map(without_peer);
        Ok(fitting(told.filter(|address| rules.accepts(address))))
    }
}

/// The first addresses, as many as fit into a record that every point takes.
fn fitting(addresses: impl Iterator<Item = Multiaddr>) -> Vec<Multiaddr> {
    let mut bytes = 0;
    let fits = |address: &Multiaddr| {
        bytes += address.len();
        bytes <= ADDRESSES_BYTES_MAX
    };
    addresses.take_while(fits).take(ADDRESSES_MAX).collect()
}

/// Starts registering, and asking at each wish that the returned channel brings, until the node ends.
pub(super) fn start(parts: RendezvousParts) -> mpsc::Sender<()> {
    let (wishes, wished) = mpsc::channel(1);
    if parts.registers {
        tokio::spawn(Registrar::new(parts.clone()).run());
    }
    let asker = Asker {
        own: parts.keypair.public().to_peer_id(),
        parts,
        turn: 0,
        cookies: BTreeMap::new(),
    };
    tokio::spawn(asker.run(wished));
    wishes
}

/// Task that asks for peers.
struct Asker {
    parts: RendezvousParts,
    own: PeerId,
    /// Number of rounds so far, by which each asks another peer.
    turn: usize,
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
            // A wish that comes meanwhile waits in the channel, and is still one then.
            tokio::time::sleep(pause).await;
        }
    }

    /// Asks one peer, another one each time, for those registered on each shard.
    async fn ask(&mut self) -> Result<Vec<PeerOffer>, ServiceFailure> {
        let points = self.parts.client.points()?;
        let point = &points[self.turn % points.len().max(1)];
        self.turn = self.turn.wrapping_add(1);
        let mut found = FoundPeers::new(self.own, self.parts.cluster);
        for shard in self.parts.shards().into_iter().take(SHARDS_MAX) {
            let namespace = shard_namespace(self.parts.cluster, shard);
            let key = (point.clone(), namespace);
            // It is used once, so that a peer that refuses it is asked without it the next time.
            let cookie = self.cookies.remove(&key);
            let client = &self.parts.client;
            let asked = client.discover(point, &key.1, WANTED, cookie.as_deref());
            let (teller, answer) = match asked.await {
                Ok(answer) => answer,
                // What came before is of use.
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

/// Peers that one teller has named, each once.
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

    /// Takes what `teller` says of a shard. A registration is passed over if it is one of another namespace, its peer has
    /// not signed its record, or it is this node's own; the teller is not blamed, because it may run other rules.
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
