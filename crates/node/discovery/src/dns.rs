//! Discovery by DNS: reads signed trees of node records repeatedly, and passes on the records of this node's cluster.

use std::net::SocketAddr;
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{NameServerConfig, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng as _};
use thiserror::Error;
use tokio::sync::mpsc;
use tokio::time::sleep;

use crate::record::WakuRecord;

pub mod tree;

#[cfg(test)]
#[path = "tests/dns.rs"]
mod tests;

use tree::{TreeDefect, TreeLimits, TreeUrl, TreeWalk};

/// Pause after a walk that found nodes.
const AGAIN: Duration = Duration::from_secs(30 * 60);

/// Pause after a walk that found nobody; doubles up to [`AGAIN`].
const RETRY: Duration = Duration::from_secs(5);

/// Maximum number of waiting records; when it is reached, the walk waits too.
const RECORDS_MAX: usize = 64;

/// Configuration of discovery by DNS.
#[derive(Clone, Debug)]
pub struct DnsConfig {
    /// Trees to read.
    pub trees: Vec<TreeUrl>,
    /// Name servers to ask; empty for the system's.
    pub name_servers: Vec<SocketAddr>,
    /// Cluster of this node; records of other clusters are skipped.
    pub cluster: u16,
    /// Seed of the random order in which a tree is read.
    pub seed: [u8; 32],
}

/// Error of starting discovery by DNS.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DnsError {
    /// The system's configuration of name servers cannot be read.
    #[error(
        "the system's name servers are not known ({reason}); name one with dns-discovery-name-server"
    )]
    NoNameServers {
        /// Error of the library.
        reason: String,
    },
}

/// Starts to read trees in the current runtime; the receiver yields the nodes. Reading ends when it is dropped.
///
/// # Errors
/// [`DnsError`] if no name server is known.
pub fn start(config: DnsConfig) -> Result<mpsc::Receiver<WakuRecord>, DnsError> {
    let resolver = resolver(&config.name_servers)?;
    let (records, found) = mpsc::channel(RECORDS_MAX);
    tokio::spawn(read_again_and_again(config, resolver, records));
    Ok(found)
}

fn resolver(name_servers: &[SocketAddr]) -> Result<TokioResolver, DnsError> {
    let failed = |reason: String| DnsError::NoNameServers { reason };
    let builder = match name_servers {
        [] => TokioResolver::builder_tokio().map_err(|error| failed(error.to_string()))?,
        servers => {
            let servers = servers.iter().map(|address| {
                let mut server = NameServerConfig::udp_and_tcp(address.ip());
                for connection in &mut server.connections {
                    connection.port = address.port();
                }
                server
            });
            let config = ResolverConfig::from_parts(None, Vec::new(), servers.collect());
            TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
        }
    };
    builder.build().map_err(|error| failed(error.to_string()))
}

async fn read_again_and_again(
    config: DnsConfig,
    resolver: TokioResolver,
    records: mpsc::Sender<WakuRecord>,
) {
    let mut rng = ChaCha8Rng::from_seed(config.seed);
    let mut retry = RETRY;
    loop {
        let walk_rng = ChaCha8Rng::from_rng(&mut rng);
        let walk = TreeWalk::new(&config.trees, TreeLimits::default(), walk_rng);
        let read = read(walk, &resolver, config.cluster, &records);
        let found = tokio::select! {
            found = read => found,
            () = records.closed() => return,
        };
        let wait = match found {
            0 => retry,
            _ => AGAIN,
        };
        retry = match found {
            0 => (retry * 2).min(AGAIN),
            _ => RETRY,
        };
        let trees: Vec<&str> = config.trees.iter().map(TreeUrl::domain).collect();
        match found {
            0 => {
                let again_s = wait.as_secs();
                tracing::warn!(?trees, again_s, "no node of this cluster was found in DNS");
            }
            _ => tracing::info!(?trees, found, "nodes were found in DNS"),
        }
        tokio::select! {
            () = sleep(wait) => {}
            () = records.closed() => return,
        }
    }
}

/// Reads trees once; returns the number of nodes found.
async fn read(
    mut walk: TreeWalk,
    resolver: &TokioResolver,
    cluster: u16,
    records: &mpsc::Sender<WakuRecord>,
) -> usize {
    let mut found = 0;
    while let Some(name) = walk.next_name() {
        let texts = texts_of(resolver, &name).await;
        match walk.answer(&texts) {
            Ok(Some(record)) if record.facts().cluster == Some(cluster) => {
                found += 1;
                if records.send(record).await.is_err() {
                    return found;
                }
            }
            Ok(_) => {}
            Err(defect @ TreeDefect::NoEntry) => tracing::debug!(%name, %defect, "passed over"),
            Err(defect) => {
                tracing::warn!(%name, %defect, "an entry of a tree of nodes was passed over");
            }
        }
    }
    found
}

/// Returns the TXT records of a name, each joined from its parts; empty if the name cannot be resolved.
async fn texts_of(resolver: &TokioResolver, name: &str) -> Vec<String> {
    // The trailing dot disables the system's search domains.
    let lookup = match resolver.txt_lookup(format!("{name}.")).await {
        Ok(lookup) => lookup,
        Err(error) => {
            tracing::debug!(%name, %error, "a name was not resolved");
            return Vec::new();
        }
    };
    let records = lookup.answers().iter().filter_map(|record| {
        let hickory_resolver::proto::rr::RData::TXT(txt) = &record.data else {
            return None;
        };
        let parts: Vec<u8> = txt
            .txt_data
            .iter()
            .flat_map(|part| part.iter().copied())
            .collect();
        String::from_utf8(parts).ok()
    });
    records.collect()
}
