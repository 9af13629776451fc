//! Node discovery version 5 with Waku's protocol id: looks for nodes on demand, and offers those that fit.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, RwLock};

use bytes::Bytes;
use discv5::{ConfigBuilder, Discv5, Enr, ListenConfig, ProtocolIdentity};
use enr::CombinedKey;
use thiserror::Error;
use tokio::sync::{mpsc, watch};
use undertone_peers::{AddressRules, PeerOffer};

use crate::record::{NodeRecordError, WakuRecord};

mod host_addresses;
mod lookup;
mod sockets;
mod target;
#[cfg(test)]
#[path = "tests/discv5.rs"]
mod tests;

use lookup::{LookupParts, LookupTask};
pub use sockets::{Discv5Sockets, UdpPorts, source_v4, source_v6};

/// Protocol id of Waku's discovery, in place of `discv5`.
const WAKU_PROTOCOL: ProtocolIdentity = ProtocolIdentity {
    protocol_id: *b"d5waku",
    protocol_version: [0, 1],
};

/// Nodes that must report the same address of this node before its record has it.
const ADDRESS_VOTES: usize = 3;

/// Offers that wait for the connection manager at most; more are dropped, as they will be found again.
const OFFERS_MAX: usize = 256;

/// Keys and values of a node record, apart from those of its identity and addresses.
pub type RecordValues = Vec<(&'static [u8], Vec<u8>)>;

/// Configuration of discv5.
#[derive(Debug)]
pub struct Discv5Config {
    /// Secret key of the node's identity, secp256k1.
    pub secret: [u8; 32],
    /// Record of this node, signed with that key, `enr:…`.
    pub record: String,
    /// Sockets of the service, see [`bind`].
    pub sockets: Discv5Sockets,
    /// Records of nodes to begin with.
    pub bootstrap: Vec<WakuRecord>,
    /// Cluster of this node; nodes of others are not offered.
    pub cluster: u16,
    /// Shards of this node; nodes that relay none of them are not offered.
    pub shards: Vec<u16>,
    /// Whether nodes in private networks and on this host are asked, as in a test network.
    pub allows_private: bool,
}

/// Error of starting discv5.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Discv5Error {
    /// The port cannot be bound.
    #[error("cannot listen on UDP {address}: {error}")]
    Listen {
        /// Address that was asked for.
        address: SocketAddr,
        /// Error of the operating system.
        error: std::io::Error,
    },
    /// The node's own record is not valid.
    #[error("the node's own record: {0}")]
    Record(#[from] NodeRecordError),
    /// The key is no secret of secp256k1, or does not belong to the record.
    #[error("the node's key cannot sign its record; discv5 needs a key of secp256k1")]
    Key,
    /// The library did not start.
    #[error("discv5 did not start: {reason}")]
    Start {
        /// Error of the library.
        reason: String,
    },
}

/// Binds the sockets of the service: one at the first address of each family, at one port; port 0 lets the system choose one
/// for each, so that the node's record can name them.
///
/// Nodes with both families are asked over IPv6 alone. So, beside an IPv4 address, all addresses of IPv6 (`::`) count only on a
/// machine that reaches the Internet by it at present.
///
/// # Errors
/// [`Discv5Error::Listen`] if a port is in use, or may not be used.
pub fn bind(addresses: &[IpAddr], port: u16) -> Result<Discv5Sockets, Discv5Error> {
    let first = |is_v4: bool| addresses.iter().find(|ip| ip.is_ipv4() == is_v4).copied();
    let ipv4 = first(true);
    let ipv6 = first(false);
    let ipv6 = ipv6.filter(|ip| !ip.is_unspecified() || ipv4.is_none() || source_v6().is_some());
    let bind = |ip: IpAddr| {
        let address = SocketAddr::new(ip, port);
        sockets::bind(address).map_err(|error| Discv5Error::Listen { address, error })
    };
    Ok(Discv5Sockets {
        ipv4: ipv4.map(bind).transpose()?,
        ipv6: ipv6.map(bind).transpose()?,
    })
}

/// Running discv5 service; it ends when this is dropped.
#[derive(Debug)]
pub struct Discv5Service {
    wishes: mpsc::Sender<()>,
    shards: Arc<RwLock<Vec<u16>>>,
    content: watch::Sender<RecordValues>,
    addresses: watch::Sender<Vec<IpAddr>>,
    more: mpsc::Sender<WakuRecord>,
    record: watch::Receiver<String>,
    known: watch::Receiver<Vec<Bytes>>,
}

impl Discv5Service {
    /// Starts the service in the current runtime. Nodes that fit come by the receiver.
    ///
    /// # Errors
    /// [`Discv5Error`] names the address or the defect.
    pub async fn start(
        config: Discv5Config,
    ) -> Result<(Self, mpsc::Receiver<PeerOffer>), Discv5Error> {
        let Discv5Config {
            mut secret,
            record,
            sockets,
            bootstrap,
            cluster,
            shards,
            allows_private,
        } = config;
        let own = WakuRecord::parse(&record)?;
        // The library keeps its key to itself, and signs no removal.
        let mut signing = secret;
        let signing = CombinedKey::secp256k1_from_bytes(&mut signing);
        let signing = signing.map_err(|_| Discv5Error::Key)?;
        let key = CombinedKey::secp256k1_from_bytes(&mut secret).map_err(|_| Discv5Error::Key)?;
        let is_local = sockets.are_of_this_host();
        let listen = ListenConfig::FromSockets {
            ipv4: sockets.ipv4.map(Arc::new),
            ipv6: sockets.ipv6.map(Arc::new),
        };
        let mut config = ConfigBuilder::new(listen)
            .protocol_identity(WAKU_PROTOCOL)
            .table_filter(match allows_private {
                true => is_waku,
                false => is_public_waku,
            })
            .enr_peer_update_min(ADDRESS_VOTES)
            .auto_nat_listen_duration(None)
            .build();
        let start = |reason: String| Discv5Error::Start { reason };
        // On loopback all nodes of a test share one address; elsewhere a network is no crowd.
        config.ip_limit = !is_local;
        config.enr_update = !is_local;
        let mut discv5 =
            Discv5::new(own.enr().clone(), key, config).map_err(|_| Discv5Error::Key)?;
        discv5
            .start()
            .await
            .map_err(|error| start(error.to_string()))?;
        let events = discv5.event_stream().await;
        let events = events.map_err(|error| start(error.to_string()))?;

        let (wishes, wished) = mpsc::channel(1);
        let (content, contents) = watch::channel(RecordValues::new());
        let (addresses, addressed) = watch::channel(Vec::new());
        let (more, added) = mpsc::channel(OFFERS_MAX);
        let (record_out, record) = watch::channel(own.enr().to_base64());
        let (known_out, known) = watch::channel(Vec::new());
        let (offers, offered) = mpsc::channel(OFFERS_MAX);
        let shards = Arc::new(RwLock::new(shards));
        let task = LookupTask::new(LookupParts {
            discv5,
            signing,
            bootstrap,
            cluster,
            shards: Arc::clone(&shards),
            offers,
            record: record_out,
            known: known_out,
        });
        tokio::spawn(task.run(events, wished, (contents, addressed), added));
        let service = Self {
            wishes,
            shards,
            content,
            addresses,
            more,
            record,
            known,
        };
        Ok((service, offered))
    }

    /// Has the service look for nodes soon. A wish while one waits changes nothing.
    pub fn look(&self) {
        // A full queue means that a look-up is about to start.
        let _ = self.wishes.try_send(());
    }

    /// Adds a node to begin with, which DNS or another source has found.
    pub fn add(&self, node: WakuRecord) {
        // A full queue loses the record; the others in it will do.
        let _ = self.more.try_send(node);
    }

    /// Sets the shards of this node: nodes that relay none of them are not offered.
    pub fn set_shards(&self, wanted: Vec<u16>) {
        let mut shards = self.shards.write().unwrap_or_else(|lock| lock.into_inner());
        *shards = wanted;
    }

    /// Sets the shards, capabilities, TCP ports and further addresses in the node's record (`rs`, `rsv`, `waku2`, `tcp`,
    /// `tcp6`, `multiaddrs`), which gets a new sequence number if they differ from its own. Those of these keys that are left out are removed.
    pub fn set_content(&self, wanted: RecordValues) {
        self.content.send_if_modified(|content| {
            let is_new = *content != wanted;
            *content = wanted;
            is_new
        });
    }

    /// Sets the IP addresses of the host at which the node listens. A record that names one of them names another one, and
    /// gets a new sequence number, when the host loses it; what other nodes say decides where it never was the host's own.
    pub fn set_addresses(&self, listening: Vec<IpAddr>) {
        self.addresses.send_if_modified(|addresses| {
            let is_new = *addresses != listening;
            *addresses = listening;
            is_new
        });
    }

    /// Returns the node's record as it is now, and each time it changes.
    pub fn record(&self) -> watch::Receiver<String> {
        self.record.clone()
    }

    /// Returns the receiver of the records of known nodes that fit, raw RLP, for peer exchange.
    pub fn known(&self) -> watch::Receiver<Vec<Bytes>> {
        self.known.clone()
    }
}

/// Whether a record is that of a Waku node.
fn is_waku(enr: &Enr) -> bool {
    enr.get_raw_rlp("waku2").is_some()
}

/// Whether a record is that of a Waku node whose discv5 service can be in the Internet: strangers name whomever they like,
/// and nobody in this host's own network shall get packets because of them.
fn is_public_waku(enr: &Enr) -> bool {
    let rules = AddressRules::default();
    let v4 = enr.udp4_socket().map(SocketAddr::from);
    let v6 = enr.udp6_socket().map(SocketAddr::from);
    let mut sockets = v4.into_iter().chain(v6);
    is_waku(enr) && sockets.all(|socket| rules.accepts_ip(socket.ip()))
}
