//! Node discovery version 5 with Waku's protocol id: looks for nodes on demand, and offers those that fit.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use bytes::Bytes;
use discv5::{ConfigBuilder, Discv5, Enr, Event, ListenConfig, ProtocolIdentity};
use enr::{CombinedKey, NodeId};
use thiserror::Error;
use tokio::net::UdpSocket;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};
use undertone_peers::{AddressRules, PeerFacts, PeerOffer, PeerSource};

use crate::record::{NodeRecordError, WakuRecord};

mod host_addresses;
#[cfg(test)]
mod tests;

use host_addresses::HostAddresses;

/// Protocol id of Waku's discovery, in place of `discv5`.
const WAKU_PROTOCOL: ProtocolIdentity = ProtocolIdentity {
    protocol_id: *b"d5waku",
    protocol_version: [0, 1],
};

/// Keys of a record that change while the node runs; those that [`Discv5Service::set_content`] leaves out are removed.
const NODE_KEYS: [&str; 6] = ["rs", "rsv", "waku2", "multiaddrs", "tcp", "tcp6"];

/// Nodes that one look-up should find.
const LOOKUP_NODES: usize = 16;

/// Shortest time between two look-ups; it doubles as long as they find nobody new.
const LOOKUP_PAUSE_MIN: Duration = Duration::from_secs(1);

/// Longest time between two look-ups while peers are wanted.
const LOOKUP_PAUSE_MAX: Duration = Duration::from_secs(30);

/// Time between look-ups while nobody is wanted, which keep the table of nodes fresh.
const LOOKUP_IDLE: Duration = Duration::from_secs(300);

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
    /// Socket of the service, see [`bind`].
    pub socket: UdpSocket,
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

/// Binds the socket of the service; port 0 lets the system choose, so that the node's record can name the port.
///
/// # Errors
/// [`Discv5Error::Listen`] if the port is in use, or may not be used.
pub async fn bind(address: SocketAddr) -> Result<UdpSocket, Discv5Error> {
    let socket = UdpSocket::bind(address).await;
    socket.map_err(|error| Discv5Error::Listen { address, error })
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
            socket,
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
        let listen = socket.local_addr().map_err(|error| Discv5Error::Start {
            reason: error.to_string(),
        })?;
        let socket = Arc::new(socket);
        let (ipv4, ipv6) = match listen.ip() {
            IpAddr::V4(_) => (Some(socket), None),
            IpAddr::V6(_) => (None, Some(socket)),
        };
        let is_local = listen.ip().is_loopback();
        let mut config = ConfigBuilder::new(ListenConfig::FromSockets { ipv4, ipv6 })
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
        let task = LookupTask {
            discv5,
            signing,
            cluster,
            shards: Arc::clone(&shards),
            offers,
            record: record_out,
            known: known_out,
            addresses: HostAddresses::default(),
            pause: LOOKUP_PAUSE_MIN,
        };
        for node in bootstrap {
            task.begin_with(&node);
        }
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

/// Whether a record tells more than the one known of its node, which the library would replace by any.
fn is_news(known: Option<&Enr>, found: &WakuRecord) -> bool {
    known.is_none_or(|known| known.seq() < found.sequence())
}

/// Whether a node is of use: of the same cluster, and on one of the shards.
fn fits(facts: &PeerFacts, cluster: u16, shards: &[u16]) -> bool {
    let is_same = facts.cluster == Some(cluster);
    let relays = |list: &Vec<u16>| list.iter().any(|shard| shards.contains(shard));
    is_same && facts.shards.as_ref().is_some_and(relays)
}

/// Task that looks for nodes when they are wanted.
struct LookupTask {
    discv5: Discv5,
    /// Key of the node's record.
    signing: CombinedKey,
    cluster: u16,
    shards: Arc<RwLock<Vec<u16>>>,
    offers: mpsc::Sender<PeerOffer>,
    record: watch::Sender<String>,
    known: watch::Sender<Vec<Bytes>>,
    addresses: HostAddresses,
    pause: Duration,
}

impl LookupTask {
    /// Adds a node to begin with, which is offered as a peer too.
    fn begin_with(&self, node: &WakuRecord) {
        if let Err(reason) = self.discv5.add_enr(node.enr().clone()) {
            let peer = node.peer();
            tracing::warn!(%peer, reason, "a bootstrap record cannot be used for discv5");
        }
        self.offer(node);
    }

    /// Adds a node that another source has found, unless a newer record of it is known. The table refuses those that may
    /// not be asked ([`is_public_waku`]).
    fn add(&self, node: &WakuRecord) {
        let known = self.discv5.find_enr(&node.enr().node_id());
        if is_news(known.as_ref(), node)
            && let Err(reason) = self.discv5.add_enr(node.enr().clone())
        {
            let peer = node.peer();
            tracing::debug!(%peer, reason, "a record is not taken into the table of discv5");
        }
    }

    async fn run(
        mut self,
        mut events: mpsc::Receiver<Event>,
        mut wished: mpsc::Receiver<()>,
        (mut contents, mut addressed): (
            watch::Receiver<RecordValues>,
            watch::Receiver<Vec<IpAddr>>,
        ),
        mut added: mpsc::Receiver<WakuRecord>,
    ) {
        let mut is_wished = true;
        let mut next = Instant::now();
        let mut idle = Instant::now() + LOOKUP_IDLE;
        loop {
            let wake = match is_wished {
                true => next,
                false => idle,
            };
            tokio::select! {
                wish = wished.recv() => match wish {
                    Some(()) => is_wished = true,
                    None => break,
                },
                changed = contents.changed() => match changed {
                    Ok(()) => self.update_record(&contents.borrow_and_update().clone()),
                    Err(_) => break,
                },
                changed = addressed.changed() => match changed {
                    Ok(()) => {
                        self.addresses.set(addressed.borrow_and_update().clone());
                        if self.leave_lost_addresses() {
                            self.tell_record();
                            // Nodes that are asked from the new address learn of it.
                            is_wished = true;
                            next = Instant::now();
                        }
                    }
                    Err(_) => break,
                },
                Some(node) = added.recv() => self.add(&node),
                Some(event) = events.recv() => self.on_event(event),
                () = sleep_until(wake) => {
                    is_wished = false;
                    self.look_up().await;
                    next = Instant::now() + self.pause;
                    idle = Instant::now() + LOOKUP_IDLE;
                }
            }
        }
        self.discv5.shutdown();
    }

    /// Looks for nodes around a random point of the network, and offers those of the table that fit.
    async fn look_up(&mut self) {
        let shards = self.shards();
        let cluster = self.cluster;
        let is_wanted = move |enr: &Enr| {
            let record = WakuRecord::from_enr(enr.clone());
            record.is_ok_and(|record| fits(&record.facts(), cluster, &shards))
        };
        let search =
            self.discv5
                .find_node_predicate(NodeId::random(), Box::new(is_wanted), LOOKUP_NODES);
        let found = match search.await {
            Ok(found) => found,
            Err(error) => {
                tracing::debug!(%error, "a discv5 look-up failed");
                Vec::new()
            }
        };
        let known_before = self.known.borrow().len();
        let records = found.into_iter().chain(self.discv5.table_entries_enr());
        let records: Vec<_> = records
            .filter_map(|enr| WakuRecord::from_enr(enr).ok())
            .filter(|record| fits(&record.facts(), cluster, &self.shards()))
            .collect();
        for record in &records {
            self.offer(record);
        }
        let mut known: Vec<Bytes> = records.iter().map(WakuRecord::to_rlp).collect();
        known.sort();
        known.dedup();
        self.pause = match known.len() > known_before {
            true => LOOKUP_PAUSE_MIN,
            false => (self.pause * 2).min(LOOKUP_PAUSE_MAX),
        };
        tracing::debug!(nodes = known.len(), "a discv5 look-up ended");
        self.known.send_replace(known);
        self.tell_record();
    }

    fn on_event(&mut self, event: Event) {
        match event {
            Event::Discovered(enr) | Event::SessionEstablished(enr, _) => {
                if let Ok(record) = WakuRecord::from_enr(enr)
                    && fits(&record.facts(), self.cluster, &self.shards())
                {
                    self.offer(&record);
                }
            }
            Event::SocketUpdated(address) => {
                tracing::info!(%address, "other nodes see this node at a new address");
                // Some said so before it was lost.
                self.leave_lost_addresses();
                self.tell_record();
            }
            _ => {}
        }
    }

    fn offer(&self, record: &WakuRecord) {
        // A full queue loses the offer; the node will be found again.
        let _ = self.offers.try_send(record.offer(PeerSource::Discv5));
    }

    fn update_record(&mut self, content: &RecordValues) {
        self.remove_stale(content);
        let own = self.discv5.local_enr();
        for (key, value) in content {
            let old: Option<Bytes> = own.get_decodable(key).and_then(Result::ok);
            if old.as_deref() == Some(value.as_slice()) {
                continue;
            }
            let key = String::from_utf8_lossy(key);
            if let Err(error) = self.discv5.enr_insert(&key, &value.as_slice()) {
                tracing::warn!(%key, ?error, "the node's record has no room for a value");
            }
        }
        self.tell_record();
    }

    /// Removes keys that the record has and the node no longer says, such as the list of shards when they become a bit
    /// vector: a record with both would name shards that the node has left.
    fn remove_stale(&self, content: &RecordValues) {
        let enr = self.discv5.external_enr();
        let mut enr = enr.write();
        for key in NODE_KEYS {
            let is_said = content.iter().any(|(said, _)| *said == key.as_bytes());
            if is_said || enr.get_raw_rlp(key).is_none() {
                continue;
            }
            if let Err(error) = enr.remove_key(key, &self.signing) {
                tracing::warn!(%key, ?error, "a value cannot be removed from the node's record");
            }
        }
    }

    /// Replaces addresses in the record that the host has lost; returns whether there were any.
    fn leave_lost_addresses(&self) -> bool {
        let own = self.discv5.local_enr();
        let (v4, v6) = (own.udp4_socket(), own.udp6_socket());
        let named = v4.map(SocketAddr::from).into_iter();
        let named = named.chain(v6.map(SocketAddr::from));
        let mut has_moved = false;
        for old in named {
            if let Some(ip) = self.addresses.replacement(old.ip()) {
                tracing::info!(from = %old.ip(), to = %ip, "the address of this node has changed");
                let new = SocketAddr::new(ip, old.port());
                has_moved |= self.discv5.update_local_enr_socket(new, false);
            }
        }
        has_moved
    }

    fn tell_record(&self) {
        let record = self.discv5.local_enr().to_base64();
        self.record.send_if_modified(|told| {
            let is_new = *told != record;
            *told = record;
            is_new
        });
    }

    fn shards(&self) -> Vec<u16> {
        let shards = self.shards.read().unwrap_or_else(|lock| lock.into_inner());
        shards.clone()
    }
}
