//! A node without relay and services of its own, used to query a peer's store.

use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};

use undertone_node::Multiaddr;
use undertone_node::assemble::{Assembled, assemble};
use undertone_node::config::{KEYS, Kind, NodeConfig, Sources};
use undertone_node::services::ServiceFailure;
use undertone_node::services::ServicesConfig;
use undertone_services::store::{HistoryReader, ReadPage};

use super::options::TemporaryFolder;
use crate::commands::Failure;

/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(500);

/// Status codes of a store that may answer later.
const BUSY: [u32; 2] = [429, 503];

/// Client of one peer's store.
pub(super) struct StoreClient {
    node: Assembled,
    peer: Multiaddr,
    patience: Duration,
    _folder: TemporaryFolder,
}

impl StoreClient {
    /// Starts a node to query `peer`, in the network that these sources configure.
    pub(super) async fn start(
        mut sources: Sources,
        peer: Multiaddr,
        patience: Duration,
    ) -> Result<Self, Failure> {
        let folder = TemporaryFolder::new()?;
        // Whatever the configuration says, this node offers no services and does not look for other peers.
        let offers = |name: &str| {
            ["metrics-server", "peer-exchange", "relay", "rest", "rln"].contains(&name)
                || ["filter", "lightpush", "store", "websocket"].contains(&name)
                || name.ends_with("-discovery")
        };
        let off = KEYS
            .iter()
            .filter(|key| key.kind == Kind::Bool && offers(key.name));
        let off = off.map(|key| (key.name.to_owned(), "false".to_owned()));
        sources.flags.extend(off);
        let mut config =
            NodeConfig::load(&sources).map_err(|error| Failure::usage(error.to_string()))?;
        config.services = ServicesConfig::default();
        config.static_peers.clear();
        config.delivery_log = None;
        config.listen_addresses = vec![IpAddr::V4(Ipv4Addr::LOCALHOST)];
        config.tcp_port = 0;
        config.node_key_file = folder.0.join("node-key");
        config.data_dir.clone_from(&folder.0);
        let node = assemble(&config).await;
        Ok(Self {
            node: node.map_err(|error| Failure::new(error.to_string()))?,
            peer,
            patience,
            _folder: folder,
        })
    }

    /// Returns the next page of the history; `None` after the last one. Retries while the store is busy or
    /// unreachable, until the patience is used up.
    pub(super) async fn page(
        &self,
        reader: &mut HistoryReader,
    ) -> Result<Option<ReadPage>, Failure> {
        let began = Instant::now();
        loop {
            let answer = self
                .node
                .services
                .handle
                .read_history(&self.peer, reader)
                .await;
            let failure = match answer {
                Ok(page) => return Ok(page),
                Err(failure) => failure,
            };
            let may_help = match &failure {
                ServiceFailure::Dial { .. } | ServiceFailure::TimedOut { .. } => true,
                ServiceFailure::Refused { status, .. } => BUSY.contains(status),
                _ => false,
            };
            if !may_help || began.elapsed() >= self.patience {
                return Err(explained(&failure));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Stops the node.
    pub(super) async fn stop(self) {
        self.node.stop().await;
    }
}

fn explained(failure: &ServiceFailure) -> Failure {
    let failed = Failure::new(format!("the store: {failure}"));
    match failure {
        ServiceFailure::BadAnswer { .. } => failed.with_help(
            "what this store says is not even consistent; nothing of it was judged, ask another one",
        ),
        ServiceFailure::Dial { .. } | ServiceFailure::TimedOut { .. } => {
            failed.with_help("check the address, --network and that the peer serves store")
        }
        _ => failed,
    }
}
