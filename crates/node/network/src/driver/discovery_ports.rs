//! Channels between the network thread and discovery.

use std::net::IpAddr;
use std::sync::mpsc::SyncSender;

use libp2p::PeerId;
use tokio::sync::{mpsc, watch};
use undertone_discovery::discv5::{RecordValues, UdpPorts};
use undertone_peers::{Capabilities, PeerEntry, PeerOffer};

/// Network thread's ends of the channels to discovery: offers come in; wishes and the node's own record go out.
pub struct DiscoveryPorts {
    /// Addresses of peers that discovery found.
    pub offers: mpsc::Receiver<PeerOffer>,
    /// Signals that the node wants more peers.
    pub wishes: mpsc::Sender<()>,
    /// Memory of peers between runs.
    pub memory: PeerMemory,
    /// Whether addresses of private networks may be dialled.
    pub allows_private: bool,
    /// Services of which a node without relay wants peers, and how many.
    pub services: Vec<(Capabilities, usize)>,
    /// Shards on which such a node wants peers, although it relays none itself.
    pub light_shards: Vec<u16>,
    /// Connections above which those of least use are closed.
    pub connections_max: usize,
    /// Ports of discv5, which the node's record names.
    pub udp_ports: UdpPorts,
    /// Values of the node's own record, for discovery to sign.
    pub own: watch::Sender<OwnRecord>,
    /// The node's signed record in text form, once discv5 runs.
    pub record: watch::Receiver<Option<String>>,
}

/// Values of the node's own record, its shards, and the addresses of the host at which it listens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnRecord {
    /// Values of the record.
    pub values: RecordValues,
    /// Shards on which peers are wanted.
    pub shards: Vec<u16>,
    /// IP addresses of the host at which the node listens.
    pub addresses: Vec<IpAddr>,
}

impl DiscoveryPorts {
    /// Tells discovery the values of the node's own record, the shards on which peers are wanted, and the IP addresses of
    /// the host at which the node listens.
    pub(crate) fn tell(&self, values: RecordValues, shards: &[u16], addresses: Vec<IpAddr>) {
        let shards = match shards {
            [] => self.light_shards.clone(),
            relayed => relayed.to_vec(),
        };
        let new = OwnRecord {
            values,
            shards,
            addresses,
        };
        self.own.send_if_modified(|own| {
            let is_new = *own != new;
            if is_new {
                *own = new;
            }
            is_new
        });
    }

    /// Returns the node's record as discv5 has it, once it runs.
    pub(crate) fn record(&self) -> Option<String> {
        self.record.borrow().clone()
    }
}

/// Change of what is remembered of a peer between runs.
pub enum PeerChange {
    /// A peer is remembered, or what is known of it has changed.
    Remember(PeerId, Box<PeerEntry>),
    /// A peer is forgotten.
    Forget(PeerId),
}

/// Memory of peers between runs; changes are written elsewhere.
#[derive(Clone, Debug)]
pub struct PeerMemory {
    changes: Option<SyncSender<PeerChange>>,
}

impl PeerMemory {
    /// Makes a memory whose changes go to `changes`; `None` for one that keeps nothing.
    pub fn new(changes: Option<SyncSender<PeerChange>>) -> Self {
        Self { changes }
    }

    /// Keeps what is known of a peer.
    pub fn remember(&self, peer: PeerId, entry: &PeerEntry) {
        self.change(PeerChange::Remember(peer, Box::new(entry.clone())));
    }

    /// Removes a peer.
    pub fn forget(&self, peer: PeerId) {
        self.change(PeerChange::Forget(peer));
    }

    fn change(&self, change: PeerChange) {
        if let Some(changes) = &self.changes {
            // A full queue loses the change, which the next contact with the peer makes good.
            let _ = changes.try_send(change);
        }
    }
}
