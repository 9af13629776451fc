//! Discovery of a node: starts discv5 and the reading of node lists in DNS, remembers peers between runs, and connects
//! all sources to the network thread by channels.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Instant;

use bytes::Bytes;
use libp2p::identity::Keypair;
use thiserror::Error;
use tokio::sync::{mpsc, watch};
use undertone_discovery::discv5::{self, Discv5Config, Discv5Error, Discv5Service, Discv5Sockets};
use undertone_discovery::dns::tree::TreeUrl;
use undertone_discovery::dns::{self, DnsConfig, DnsError};
use undertone_discovery::record::WakuRecord;
use undertone_peers::{Capabilities, PeerOffer, PeerSource};

use crate::services::{ExchangeClient, RunningServices};
use undertone_network::driver::{DiscoveryPorts, OwnRecord};
use undertone_network::handle::NodeHandle;

mod exchange;
mod memory;
mod rendezvous;

use exchange::{EXCHANGE_PAUSE, ask, read_records};
use rendezvous::RendezvousParts;

/// Maximum number of offers waiting for the network thread.
const OFFERS_MAX: usize = 256;

/// Services for which a node without relay wants peers: two filter peers, two lightpush peers and two stores, and one
/// of each in reserve.
const LIGHT_SERVICES: [(Capabilities, usize); 3] = [
    (Capabilities::FILTER, 3),
    (Capabilities::LIGHTPUSH, 3),
    (Capabilities::STORE, 3),
];

/// Settings of discovery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoveryConfig {
    /// UDP port of discv5; 0 lets the system choose; `None` without discv5.
    pub udp_port: Option<u16>,
    /// Bootstrap records, `enr:…`. An invalid one is logged and skipped.
    pub bootstrap: Vec<String>,
    /// Signed lists of nodes in DNS.
    pub node_lists: Vec<TreeUrl>,
    /// Name servers to ask for these lists; empty for the system's.
    pub name_servers: Vec<SocketAddr>,
    /// Whether the node registers at rendezvous points, and asks them for other nodes.
    pub rendezvous: bool,
    /// Database of remembered peers.
    pub peers_file: PathBuf,
}

/// Settings of discovery, and what it needs to know about the node.
pub struct DiscoveryOptions {
    /// Ways of discovery that the configuration asks for.
    pub config: DiscoveryConfig,
    /// Addresses that the node listens on.
    pub listen: Vec<IpAddr>,
    /// Maximum number of connections of the node.
    pub connections_max: u32,
    /// Whether the node relays.
    pub is_relay: bool,
    /// Shards that the node relays, or wants messages from.
    pub shards: Vec<u16>,
}

/// Reason why discovery did not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DiscoveryError {
    /// discv5 did not start.
    #[error(
        "discv5-udp-port: {0}; choose another port, or switch discv5 off with --discv5-discovery=false"
    )]
    Discv5(#[from] Discv5Error),
    /// No name server is known.
    #[error("dns-discovery: {0}; or switch it off with --dns-discovery=false")]
    Dns(#[from] DnsError),
    /// The operating system provides no random bytes.
    #[error("no random bytes from the operating system: {0}")]
    Random(#[from] std::io::Error),
}

/// Discovery with its ports and channels, before the node runs.
pub struct PreparedDiscovery {
    sockets: Option<Discv5Sockets>,
    bootstrap: Vec<WakuRecord>,
    node_lists: Vec<TreeUrl>,
    name_servers: Vec<SocketAddr>,
    offers: mpsc::Sender<PeerOffer>,
    wished: mpsc::Receiver<()>,
    own: watch::Receiver<OwnRecord>,
    record: watch::Sender<Option<String>>,
    known: watch::Sender<Vec<Bytes>>,
    remembered: Vec<PeerOffer>,
    rendezvous: Option<RendezvousRole>,
    allows_private: bool,
}

/// How a node uses rendezvous points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RendezvousRole {
    /// Whether it registers there.
    registers: bool,
}

/// Binds the ports of discv5, loads the remembered peers, and creates the channels.
///
/// # Errors
/// [`DiscoveryError`] if the port is in use.
pub async fn prepare(
    options: DiscoveryOptions,
    known: watch::Sender<Vec<Bytes>>,
) -> Result<(PreparedDiscovery, DiscoveryPorts), DiscoveryError> {
    let DiscoveryOptions {
        config,
        listen,
        connections_max,
        is_relay,
        shards,
    } = options;
    let sockets = config.udp_port.map(|port| discv5::bind(&listen, port));
    let sockets = sockets.transpose()?;
    let udp_ports = sockets.as_ref().map(Discv5Sockets::ports);
    let mut bootstrap = Vec::new();
    for text in &config.bootstrap {
        match WakuRecord::parse(text) {
            Ok(record) => bootstrap.push(record),
            Err(error) => {
                tracing::warn!(record = %text, %error, "discv5-bootstrap-node: passed over a record");
            }
        }
    }
    let listens_in_private = listen.iter().copied().all(is_private);
    let allows_private = listens_in_private || bootstrap.iter().any(is_in_private_network);
    let (memory, remembered) = memory::open(&config.peers_file);
    let (offers, offered) = mpsc::channel(OFFERS_MAX);
    let (wishes, wished) = mpsc::channel(1);
    let (own, own_told) = watch::channel(OwnRecord::default());
    let (record, record_told) = watch::channel(None);
    let prepared = PreparedDiscovery {
        sockets,
        bootstrap,
        node_lists: config.node_lists,
        name_servers: config.name_servers,
        offers,
        wished,
        own: own_told,
        record,
        known,
        remembered,
        rendezvous: config.rendezvous.then_some(RendezvousRole {
            registers: is_relay,
        }),
        allows_private,
    };
    let connections_max = usize::try_from(connections_max).unwrap_or(usize::MAX);
    let ports = DiscoveryPorts {
        offers: offered,
        wishes,
        memory,
        allows_private,
        services: match is_relay {
            true => Vec::new(),
            false => LIGHT_SERVICES.to_vec(),
        },
        light_shards: shards,
        // A tenth stays free for inbound peers.
        connections_max: connections_max - connections_max / 10,
        udp_ports: udp_ports.unwrap_or_default(),
        own,
        record: record_told,
    };
    Ok((prepared, ports))
}

/// Whether an address is private or loopback. If the node listens on no others, as in a test network, its peers have
/// such addresses too.
fn is_private(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(ip) => ip.is_private() || ip.is_loopback() || ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
    }
}

/// Whether a bootstrap record from the operator is in a private network: then the whole network is.
fn is_in_private_network(bootstrap: &WakuRecord) -> bool {
    bootstrap.udp().is_some_and(|udp| is_private(udp.ip()))
}

impl PreparedDiscovery {
    /// Starts discv5 and the reading of node lists for a running node.
    ///
    /// # Errors
    /// [`DiscoveryError`] if the node's key or record cannot be used, or no name server is known.
    pub async fn run(
        self,
        keypair: &Keypair,
        cluster: u16,
        node: &NodeHandle,
        services: &RunningServices,
    ) -> Result<(), DiscoveryError> {
        let Self {
            sockets,
            bootstrap,
            node_lists,
            name_servers,
            offers,
            wished,
            own,
            record,
            known,
            remembered,
            rendezvous,
            allows_private,
        } = self;
        let mut listed = None;
        if !node_lists.is_empty() {
            let mut seed = [0; 32];
            getrandom::fill(&mut seed).map_err(std::io::Error::from)?;
            listed = Some(dns::start(DnsConfig {
                trees: node_lists,
                name_servers,
                cluster,
                seed,
            })?);
        }
        let mut discv5 = None;
        if let Some(sockets) = sockets {
            let key = keypair.clone().try_into_secp256k1();
            let key = key.map_err(|_| Discv5Error::Key)?;
            let info = node.info().await.map_err(|_| Discv5Error::Key)?;
            let config = Discv5Config {
                secret: key.secret().to_bytes(),
                record: info.enr_uri.ok_or(Discv5Error::Key)?,
                sockets,
                bootstrap,
                cluster,
                shards: own.borrow().shards.clone(),
                allows_private,
            };
            discv5 = Some(Discv5Service::start(config).await?);
        }
        for offer in remembered {
            // There is room for all remembered peers; otherwise, the rest will be found again.
            let _ = offers.try_send(offer);
        }
        let (service, found) = discv5.unzip();
        let rendezvous = rendezvous.map(|role| {
            rendezvous::start(RendezvousParts {
                client: services.rendezvous.clone(),
                node: node.clone(),
                keypair: keypair.clone(),
                cluster,
                allows_private,
                registers: role.registers,
                own: own.clone(),
                offers: offers.clone(),
            })
        });
        let sources = PeerSources {
            service,
            found,
            listed,
            cluster,
            exchange: services.exchange.clone(),
            rendezvous,
        };
        tokio::spawn(sources.join(offers, wished, own, (record, known)));
        Ok(())
    }
}

/// Running sources of peers.
struct PeerSources {
    service: Option<Discv5Service>,
    found: Option<mpsc::Receiver<PeerOffer>>,
    listed: Option<mpsc::Receiver<WakuRecord>>,
    cluster: u16,
    exchange: ExchangeClient,
    /// Channel for wishes to the task that asks rendezvous points.
    rendezvous: Option<mpsc::Sender<()>>,
}

impl PeerSources {
    /// Passes values between discovery and the network thread, until the node ends.
    async fn join(
        self,
        offers: mpsc::Sender<PeerOffer>,
        mut wished: mpsc::Receiver<()>,
        mut own: watch::Receiver<OwnRecord>,
        (record, known): (watch::Sender<Option<String>>, watch::Sender<Vec<Bytes>>),
    ) {
        let Self {
            service,
            mut found,
            mut listed,
            cluster,
            exchange,
            rendezvous,
        } = self;
        let (exchanged_in, mut exchanged) = mpsc::channel(1);
        let mut next_exchange = Instant::now();
        let mut records = service.as_ref().map(Discv5Service::known);
        let mut signed = service.as_ref().map(Discv5Service::record);
        loop {
            if let Some(signed) = &mut signed {
                let now = signed.borrow_and_update().clone();
                record.send_replace(Some(now));
            }
            tokio::select! {
                offer = next(&mut found) => {
                    if offers.send(offer).await.is_err() {
                        return;
                    }
                }
                node = next(&mut listed) => {
                    if offers.send(node.offer(PeerSource::Dns)).await.is_err() {
                        return;
                    }
                    if let Some(service) = &service {
                        service.add(node);
                    }
                }
                wish = wished.recv() => {
                    if wish.is_none() {
                        return;
                    }
                    if let Some(service) = &service {
                        service.look();
                    }
                    if let Some(rendezvous) = &rendezvous {
                        // A full channel means that a request is about to be sent.
                        let _ = rendezvous.try_send(());
                    }
                    if next_exchange <= Instant::now() {
                        next_exchange = Instant::now() + EXCHANGE_PAUSE;
                        tokio::spawn(ask(exchange.clone(), exchanged_in.clone()));
                    }
                }
                Some((teller, enrs)) = exchanged.recv() => {
                    for node in read_records(teller, &enrs, cluster) {
                        let mut offer = node.offer(PeerSource::PeerExchange);
                        offer.told_by = Some(teller);
                        if offers.send(offer).await.is_err() {
                            return;
                        }
                        if let Some(service) = &service {
                            service.add(node);
                        }
                    }
                }
                () = changed(&mut records) => {
                    if let Some(records) = &mut records {
                        known.send_replace(records.borrow_and_update().clone());
                    }
                }
                changed = own.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    let OwnRecord {
                        values,
                        shards,
                        addresses,
                    } = own.borrow_and_update().clone();
                    if let Some(service) = &service {
                        service.set_shards(shards);
                        service.set_content(values);
                        service.set_addresses(addresses);
                    }
                }
                () = changed(&mut signed) => {}
            }
        }
    }
}

/// Returns the next value of a source; waits forever without the source or after its end.
async fn next<T>(source: &mut Option<mpsc::Receiver<T>>) -> T {
    if let Some(receiver) = source {
        if let Some(value) = receiver.recv().await {
            return value;
        }
        *source = None;
    }
    std::future::pending().await
}

/// Waits until a value changes; forever without discv5.
async fn changed<T>(record: &mut Option<watch::Receiver<T>>) {
    if let Some(receiver) = record {
        if receiver.changed().await.is_ok() {
            return;
        }
        *record = None;
    }
    std::future::pending::<()>().await;
}
