//! Channels between the network thread and discovery.

use std::net::IpAddr;
use std::sync::mpsc::SyncSender;

use libp2p::PeerId;
use tokio::sync::{mpsc, watch};
use undertone_discovery::discv5::{RecordValues, UdpPorts};
use undertone_peers::{Capabilities, PeerEntry, PeerOffer};

/// Network thread's ends of the channels to discovery: offers come in; wishes and the node's own record go out.
pub(crate) struct DiscoveryPorts {
    pub(crate) offers: mpsc::Receiver<PeerOffer>,
    pub(crate) wishes: mpsc::Sender<()>,
    pub(crate) memory: PeerMemory,
    /// Whether addresses of private networks may be dialled.
    pub(crate) allows_private: bool,
    /// Services of which a node without relay wants peers, and how many.
    pub(crate) services: Vec<(Capabilities, usize)>,
    /// Shards on which such a node wants peers, although it relays none itself.
    pub(crate) light_shards: Vec<u16>,
    /// Connections above which those of least use are closed.
    pub(crate) connections_max: usize,
    /// Ports of discv5, which the node's record names.
    pub(crate) udp_ports: UdpPorts,
    pub(crate) own: watch::Sender<OwnRecord>,
    pub(crate) record: watch::Receiver<Option<String>>,
}

/// Values of the node's own record, its shards, and the addresses of the host at which it listens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OwnRecord {
    pub(crate) values: RecordValues,
    pub(crate) shards: Vec<u16>,
    pub(crate) addresses: Vec<IpAddr>,
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
pub(crate) enum PeerChange {
    Remember(PeerId, Box<PeerEntry>),
    Forget(PeerId),
}

/// Memory of peers between runs; changes are written elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct PeerMemory {
    changes: Option<SyncSender<PeerChange>>,
}

impl PeerMemory {
    /// Makes a memory whose changes go to `changes`; `None` for one that keeps nothing.
    pub(crate) fn new(changes: Option<SyncSender<PeerChange>>) -> Self {
        Self { changes }
    }

    /// Keeps what is known of a peer.
    pub(crate) fn remember(&self, peer: PeerId, entry: &PeerEntry) {
        self.change(PeerChange::Remember(peer, Box::new(entry.clone())));
    }

    /// Removes a peer.
    pub(crate) fn forget(&self, peer: PeerId) {
        self.change(PeerChange::Forget(peer));
    }

    fn change(&self, change: PeerChange) {
        if let Some(changes) = &self.changes {
            // A full queue loses the change, which the next contact with the peer makes good.
            let _ = changes.try_send(change);
        }
    }
}
