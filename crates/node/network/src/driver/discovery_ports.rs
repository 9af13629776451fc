//! Channels between the network thread and discovery.

use std::net::IpAddr;
use std::sync::mpsc::SyncSender;

use libp2p::PeerId;
use tokio::sync::{mpsc, watch};
use undertone_discovery::discv5::{RecordValues, UdpPorts};
use undertone_peers::{Capabilities, PeerEntry, PeerOffer};

/// The network thread's ends of the channels to discovery. Offers come in; wishes and the node's own record go out.
pub struct DiscoveryPorts {
    /// Addresses of peers that discovery found.
    pub offers: mpsc::Receiver<PeerOffer>,
    /// Channel that signals that the node wants more peers.
    pub wishes: mpsc::Sender<()>,
    /// Memory of peers between runs.
    pub memory: PeerMemory,
    /// Whether addresses of private networks may be dialled.
    pub allows_private: bool,
    /// Services for which a node without relay wants peers, and the number of peers for each.
    pub services: Vec<(Capabilities, usize)>,
    /// Shards on which such a node wants peers, although it does not relay them itself.
    pub light_shards: Vec<u16>,
    /// Number of connections above which the least useful ones are closed.
    pub connections_max: usize,
    /// Ports of discv5, which go into the node's record.
    pub udp_ports: UdpPorts,
    /// Values of the node's own record, for discovery to sign.
    pub own: watch::Sender<OwnRecord>,
    /// The node's signed record in text form, once discv5 runs.
    pub record: watch::Receiver<Option<String>>,
}

/// Values of the node's own record, its shards, and its host's addresses that it listens on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnRecord {
    /// Values of the record.
    pub values: RecordValues,
    /// Shards on which peers are wanted.
    pub shards: Vec<u16>,
    /// IP addresses of the host that the node listens on.
    pub addresses: Vec<IpAddr>,
}

impl DiscoveryPorts {
    /// Tells discovery the values of the node's own record, the shards on which peers are wanted, and the IP addresses
    /// of the host that the node listens on.
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

    /// Returns the node's record as signed by discv5, once discv5 runs.
    pub(crate) fn record(&self) -> Option<String> {
        self.record.borrow().clone()
    }
}

/// Change to what the node remembers about a peer between runs.
pub enum PeerChange {
    /// The peer is remembered, or the facts known about it have changed.
    Remember(PeerId, Box<PeerEntry>),
    /// The peer is forgotten.
    Forget(PeerId),
}

/// Memory of peers between runs; another thread writes the changes.
#[derive(Clone, Debug)]
pub struct PeerMemory {
    changes: Option<SyncSender<PeerChange>>,
}

impl PeerMemory {
    /// Creates a memory that sends its changes to `changes`; with `None` it keeps nothing.
    pub fn new(changes: Option<SyncSender<PeerChange>>) -> Self {
        Self { changes }
    }

    /// Stores the facts known about a peer.
    pub fn remember(&self, peer: PeerId, entry: &PeerEntry) {
        self.change(PeerChange::Remember(peer, Box::new(entry.clone())));
    }

    /// Removes a peer.
    pub fn forget(&self, peer: PeerId) {
        self.change(PeerChange::Forget(peer));
    }

    fn change(&self, change: PeerChange) {
        if let Some(changes) = &self.changes {
            // A full queue loses the change; the next contact with the peer makes up for it.
            let _ = changes.try_send(change);
        }
    }
}
