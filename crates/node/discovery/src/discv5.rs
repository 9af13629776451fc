//! Node discovery version 5 with Waku's protocol id: looks up nodes on demand, and offers those that fit.

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

/// Number of nodes that must report the same address of this node before its record contains it.
const ADDRESS_VOTES: usize = 3;

/// Maximum number of offers waiting for the connection manager; more are dropped, because the nodes will be found
/// again.
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
    /// Records of bootstrap nodes.
    pub bootstrap: Vec<WakuRecord>,
    /// Cluster of this node; nodes of other clusters are not offered.
    pub cluster: u16,
    /// Shards of this node; nodes that relay none of them are not offered.
    pub shards: Vec<u16>,
    /// Whether nodes in private networks and on this host may be contacted, as in a test network.
    pub allows_private: bool,
}

/// Error of starting discv5.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Discv5Error {
    /// The port cannot be bound.
    #[error("cannot listen on UDP {address}: {error}")]
    Listen {
        /// Address to bind.
        address: SocketAddr,
        /// Error of the operating system.
        error: std::io::Error,
    },
    /// The node's own record is not valid.
    #[error("the node's own record: {0}")]
    Record(#[from] NodeRecordError),
    /// The key is not a valid secp256k1 secret, or does not belong to the record.
    #[error("the node's key cannot sign its record; discv5 needs a key of secp256k1")]
    Key,
    /// The library did not start.
    #[error("discv5 did not start: {reason}")]
    Start {
        /// Error of the library.
        reason: String,
    },
}

/// Binds the sockets of the service: one at the first address of each family, all at one port. With port 0, the system
/// chooses a port for each, so that the node's record can name them.
///
/// Nodes with both families are contacted over IPv6 alone. So in addition to an IPv4 address, the IPv6 wildcard (`::`)
/// is used only if the machine currently reaches the Internet by IPv6.
///
/// # Errors
/// [`Discv5Error::Listen`] if a port is in use or not permitted.
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

/// Running discv5 service; it ends when this value is dropped.
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
    /// Starts the service in the current runtime. The receiver yields the nodes that fit.
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
        // The library does not share its key, and has no operation to remove a value from the record.
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
        // On loopback all nodes of a test share one address, so the limit per network does not apply there.
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

    /// Has the service look up nodes soon. Has no effect while an earlier wish is waiting.
    pub fn look(&self) {
        // A full queue means that a look-up is about to start.
        let _ = self.wishes.try_send(());
    }

    /// Adds a node found by DNS or another source.
    pub fn add(&self, node: WakuRecord) {
        // A full queue loses the record; the waiting ones suffice.
        let _ = self.more.try_send(node);
    }

    /// Sets the shards of this node: nodes that relay none of them are not offered.
    pub fn set_shards(&self, wanted: Vec<u16>) {
        let mut shards = self.shards.write().unwrap_or_else(|lock| lock.into_inner());
        *shards = wanted;
    }

    /// Sets the shards, capabilities, TCP ports and further addresses in the node's record (`rs`, `rsv`, `waku2`,
    /// `tcp`, `tcp6`, `multiaddrs`). The record gets a new sequence number if they differ. Keys of these that are left
    /// out are removed.
    pub fn set_content(&self, wanted: RecordValues) {
        self.content.send_if_modified(|content| {
            let is_new = *content != wanted;
            *content = wanted;
            is_new
        });
    }

    /// Sets the IP addresses of the host that the node listens on. If the record contains one of them and the host
    /// loses it, the record gets another one, and a new sequence number. For an address that the host never had itself,
    /// the reports of other nodes decide.
    pub fn set_addresses(&self, listening: Vec<IpAddr>) {
        self.addresses.send_if_modified(|addresses| {
            let is_new = *addresses != listening;
            *addresses = listening;
            is_new
        });
    }

    /// Returns a receiver of the node's current record, updated on each change.
    pub fn record(&self) -> watch::Receiver<String> {
        self.record.clone()
    }

    /// Returns a receiver of the records of known nodes that fit, raw RLP, for peer exchange.
    pub fn known(&self) -> watch::Receiver<Vec<Bytes>> {
        self.known.clone()
    }
}

/// Whether a record belongs to a Waku node.
fn is_waku(enr: &Enr) -> bool {
    enr.get_raw_rlp("waku2").is_some()
}

/// Whether a record belongs to a Waku node whose discv5 addresses are all public. Strangers may name any address, and
/// must not cause packets to hosts in this host's own network.
fn is_public_waku(enr: &Enr) -> bool {
    let rules = AddressRules::default();
    let v4 = enr.udp4_socket().map(SocketAddr::from);
    let v6 = enr.udp6_socket().map(SocketAddr::from);
    let mut sockets = v4.into_iter().chain(v6);
    is_waku(enr) && sockets.all(|socket| rules.accepts_ip(socket.ip()))
}
