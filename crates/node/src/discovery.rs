//! Discovery of a node: starts discv5, remembers peers between runs, and joins both to the network thread by channels.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use libp2p::identity::Keypair;
use tokio::sync::{mpsc, watch};
use undertone_discovery::discv5::{self, Discv5Config, Discv5Error, Discv5Service, RecordValues};
use undertone_discovery::record::WakuRecord;
use undertone_peers::PeerOffer;

use crate::handle::NodeHandle;

mod memory;

pub(crate) use memory::PeerMemory;

/// Offers that wait for the network thread at most.
const OFFERS_MAX: usize = 256;

/// Settings of discovery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoveryConfig {
    /// UDP port of discv5; 0 lets the system choose.
    pub udp_port: u16,
    /// Records of nodes to begin with, `enr:…`. One that does not parse is logged and passed over.
    pub bootstrap: Vec<String>,
    /// Database of the peers that the node remembers.
    pub peers_file: PathBuf,
}

/// Network thread's ends of the channels to discovery: offers come in; wishes and the node's own record go out.
pub(crate) struct DiscoveryPorts {
    pub(crate) offers: mpsc::Receiver<PeerOffer>,
    pub(crate) wishes: mpsc::Sender<()>,
    pub(crate) memory: PeerMemory,
    /// Whether addresses of private networks may be dialled.
    pub(crate) allows_private: bool,
    /// Connections above which those of least use are closed.
    pub(crate) connections_max: usize,
    /// Port of discv5, which the node's record names.
    pub(crate) udp_port: u16,
    own: watch::Sender<OwnRecord>,
    record: watch::Receiver<Option<String>>,
}

/// Values of the node's own record, and its shards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct OwnRecord {
    values: RecordValues,
    shards: Vec<u16>,
}

impl DiscoveryPorts {
    /// Tells discovery the values of the node's own record, and the shards on which peers are wanted.
    pub(crate) fn tell(&self, values: RecordValues, shards: &[u16]) {
        let shards = shards.to_vec();
        let new = OwnRecord { values, shards };
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

/// Discovery that has its port and its channels, before the node runs.
pub(crate) struct PreparedDiscovery {
    socket: tokio::net::UdpSocket,
    bootstrap: Vec<WakuRecord>,
    offers: mpsc::Sender<PeerOffer>,
    wished: mpsc::Receiver<()>,
    own: watch::Receiver<OwnRecord>,
    record: watch::Sender<Option<String>>,
    remembered: Vec<PeerOffer>,
}

/// Binds the port of discv5, reads what is remembered of peers, and makes the channels.
pub(crate) async fn prepare(
    config: &DiscoveryConfig,
    listen: IpAddr,
    connections_max: u32,
) -> Result<(PreparedDiscovery, DiscoveryPorts), Discv5Error> {
    let socket = discv5::bind(SocketAddr::new(listen, config.udp_port)).await?;
    let udp_port = socket.local_addr().map_or(config.udp_port, |a| a.port());
    let mut bootstrap = Vec::new();
    for text in &config.bootstrap {
        match WakuRecord::parse(text) {
            Ok(record) => bootstrap.push(record),
            Err(error) => {
                tracing::warn!(record = %text, %error, "discv5-bootstrap-node: passed over a record");
            }
        }
    }
    let (memory, remembered) = PeerMemory::open(&config.peers_file);
    let (offers, offered) = mpsc::channel(OFFERS_MAX);
    let (wishes, wished) = mpsc::channel(1);
    let (own, own_told) = watch::channel(OwnRecord::default());
    let (record, record_told) = watch::channel(None);
    let prepared = PreparedDiscovery {
        socket,
        bootstrap,
        offers,
        wished,
        own: own_told,
        record,
        remembered,
    };
    let connections_max = usize::try_from(connections_max).unwrap_or(usize::MAX);
    let ports = DiscoveryPorts {
        offers: offered,
        wishes,
        memory,
        allows_private: is_private(listen),
        // A tenth stays free for peers that come.
        connections_max: connections_max - connections_max / 10,
        udp_port,
        own,
        record: record_told,
    };
    Ok((prepared, ports))
}

/// Whether the node listens at one address of a private network or of this host only, as in a test network: then
/// its peers are there too.
fn is_private(listen: IpAddr) -> bool {
    match listen.to_canonical() {
        IpAddr::V4(ip) => ip.is_private() || ip.is_loopback() || ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
    }
}

impl PreparedDiscovery {
    /// Starts discv5 for a node that runs.
    ///
    /// # Errors
    /// [`Discv5Error`] if the node's key or record cannot be used.
    pub(crate) async fn run(
        self,
        keypair: &Keypair,
        cluster: u16,
        node: &NodeHandle,
    ) -> Result<(), Discv5Error> {
        let Self {
            socket,
            bootstrap,
            offers,
            wished,
            own,
            record,
            remembered,
        } = self;
        let key = keypair.clone().try_into_secp256k1();
        let key = key.map_err(|_| Discv5Error::Key)?;
        let info = node.info().await.map_err(|_| Discv5Error::Key)?;
        let shards = own.borrow().shards.clone();
        let (service, found) = Discv5Service::start(Discv5Config {
            secret: key.secret().to_bytes(),
            record: info.enr_uri.ok_or(Discv5Error::Key)?,
            socket,
            bootstrap,
            cluster,
            shards,
        })
        .await?;
        for offer in remembered {
            // There is room for as many as are remembered, or the rest will be found again.
            let _ = offers.try_send(offer);
        }
        tokio::spawn(join(service, found, offers, wished, own, record));
        Ok(())
    }
}

/// Passes what discovery and the network thread have for each other, until either ends.
async fn join(
    service: Discv5Service,
    mut found: mpsc::Receiver<PeerOffer>,
    offers: mpsc::Sender<PeerOffer>,
    mut wished: mpsc::Receiver<()>,
    mut own: watch::Receiver<OwnRecord>,
    record: watch::Sender<Option<String>>,
) {
    let mut signed = service.record();
    record.send_replace(Some(signed.borrow_and_update().clone()));
    loop {
        tokio::select! {
            Some(offer) = found.recv() => {
                if offers.send(offer).await.is_err() {
                    return;
                }
            }
            wish = wished.recv() => match wish {
                Some(()) => service.look(),
                None => return,
            },
            changed = own.changed() => {
                if changed.is_err() {
                    return;
                }
                let OwnRecord { values, shards } = own.borrow_and_update().clone();
                service.set_shards(shards);
                service.set_content(values);
            }
            changed = signed.changed() => {
                if changed.is_err() {
                    return;
                }
                record.send_replace(Some(signed.borrow_and_update().clone()));
            }
        }
    }
}
