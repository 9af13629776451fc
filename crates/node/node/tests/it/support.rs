//! A folder for a node, the node in it, and questions to its REST server.
#![allow(
    clippy::unwrap_used,
    reason = "only test functions are exempt, and these helpers serve them"
)]

#[allow(dead_code, reason = "the tests of the archive need more of it")]
#[path = "../../../archive/tests/archive/postgres_server.rs"]
pub(crate) mod postgres_server;
pub(crate) mod small_disk;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use undertone_membership::SqliteRegistry;
use undertone_node::assemble::{Assembled, assemble};
use undertone_node::config::{NodeConfig, Sources};
use undertone_node_process::rest::ask_async;
use undertone_rln::{Identity, IdentityFile};

/// Guards against hangs only.
pub(crate) const HANG: Duration = Duration::from_secs(120);

/// Where a node lives. Several nodes may share a registry.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
    registry: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let registry = folder.path().join("registry.sqlite");
        Self { folder, registry }
    }

    pub(crate) fn with_registry_of(other: &Self) -> Self {
        let registry = other.registry.clone();
        Self {
            registry,
            ..Self::new()
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn registry(&self) -> SqliteRegistry {
        SqliteRegistry::open_or_create(&self.registry, 100).unwrap()
    }

    /// Writes the node's identity and registers it.
    pub(crate) fn join(&self, seed: &[u8]) {
        let identity = Identity::from_seed(seed);
        IdentityFile::write(&self.path("rln-identity.json"), &identity).unwrap();
        let registry = self.registry();
        registry.register(identity.commitment(), 100).unwrap();
    }

    /// Writes the identity that `join` has registered elsewhere.
    pub(crate) fn has_identity(&self, seed: &[u8]) {
        let identity = Identity::from_seed(seed);
        IdentityFile::write(&self.path("rln-identity.json"), &identity).unwrap();
    }

    /// A node of network `local` that connects to `peers`.
    pub(crate) async fn node(&self, peers: &[String]) -> Assembled {
        assemble(&self.config(peers, &[])).await.unwrap()
    }

    /// The configuration of such a node, with more flags.
    pub(crate) fn config(&self, peers: &[String], more: &[(&str, &str)]) -> NodeConfig {
        config(self.folder.path(), &self.registry, peers, more)
    }
}

/// The configuration of a node of network `local` with its files in `folder`.
pub(crate) fn config(
    folder: &Path,
    registry: &Path,
    peers: &[String],
    more: &[(&str, &str)],
) -> NodeConfig {
    let (folder, registry) = (folder.display().to_string(), registry.display().to_string());
    let peers = peers.join(",");
    let mut flags = vec![
        ("data-dir", folder.as_str()),
        ("rln-registry", &registry),
        ("network", "local"),
        ("listen-address", "127.0.0.1"),
        ("tcp-port", "0"),
        ("rest-port", "0"),
        ("rln-tokens", "2"),
        ("rln-tokens-max-cpu", "100"),
        ("rln-verify-threads", "1"),
    ];
    flags.extend(more);
    if !peers.is_empty() {
        flags.push(("static-peers", &peers));
    }
    let flags = flags
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let config = NodeConfig::load(&Sources {
        flags: flags.collect(),
        ..Sources::default()
    });
    config.unwrap()
}

/// Asks again until `done` is satisfied with the node's metrics.
pub(crate) async fn metrics_until(
    node: &Assembled,
    done: impl Fn(&BTreeMap<String, f64>) -> bool,
) -> BTreeMap<String, f64> {
    let mut last = BTreeMap::new();
    let wait = async {
        loop {
            last = metrics(node.rest.unwrap()).await;
            if done(&last) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let waited = tokio::time::timeout(HANG, wait).await;
    assert!(waited.is_ok(), "it never came: {last:#?}");
    last
}

/// Sends a request and returns the status and the body of the answer.
pub(crate) async fn ask(rest: SocketAddr, method: &str, path: &str, body: &str) -> (u16, String) {
    let answer = ask_async(rest, method, path, body, HANG).await.unwrap();
    (answer.status, answer.body)
}

/// The page as a client sees it: each series with its labels, and its value.
pub(crate) async fn metrics(rest: SocketAddr) -> BTreeMap<String, f64> {
    let answer = ask_async(rest, "GET", "/metrics", "", HANG).await.unwrap();
    let (form, body) = (answer.content_type, answer.body);
    assert_eq!(answer.status, 200, "{body}");
    assert!(form.starts_with("application/openmetrics-text"), "{form}");
    assert_eq!(body.lines().last(), Some("# EOF"));
    let mut values = BTreeMap::new();
    for line in body.lines().filter(|line| !line.starts_with('#')) {
        let (series, value) = line.rsplit_once(' ').unwrap();
        // The last four are those that the reference node gave no prefix up to 0.38.
        let prefixes = [
            "process_",
            "undertone_",
            "libp2p_",
            "waku_",
            "logos_delivery_",
            "reconciliation_",
            "total_",
            "rendezvousPeerFoundTotal_",
            "event_loop_load",
        ];
        assert!(prefixes.iter().any(|p| series.starts_with(p)), "{line}");
        let value = value.parse().unwrap();
        let twice = values.insert(series.to_owned(), value);
        assert_eq!(twice, None, "{line}");
    }
    values
}
