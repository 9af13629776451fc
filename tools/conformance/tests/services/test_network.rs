//! Two real nodes that relay to each other, and the light clients of a test.

use std::fs;
use std::net::Ipv4Addr;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use undertone_attacks::node::{self, Node, NodeSpec};
use undertone_conformance::{PeerCommand, programs};
use undertone_message::{ContentTopic, shard_of};
use undertone_node_process::free_port;

use crate::certificate::Certificate;
use crate::client::Client;

/// Content topic of most tests.
pub(crate) const TOPIC: &str = "/interop/1/test/proto";
/// Longest message of the network, bytes.
pub(crate) const MESSAGE_BYTES_MAX: usize = 150 << 10;

const CLUSTER: u16 = 66;
const SHARDS: u16 = 8;
/// Time limit for the nodes to be in each other's mesh.
const MESHED: Duration = Duration::from_secs(60);
/// Flag of a node that listens for plain WebSocket.
const PLAIN: &str = "--websocket=true";
/// Lines of a log that a failure shows.
const LOG_LINES: usize = 40;

/// How content topics get their shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharding {
    /// By their names, over eight shards.
    Automatic,
    /// All are on this shard.
    Static(u16),
}

/// Two nodes, `edge` and `far`, that offer all services. A failure prints the logs of nodes and clients.
pub(crate) struct TestNetwork {
    /// Node of most clients.
    pub(crate) edge: Node,
    pub(crate) far: Node,
    sharding: Sharding,
    websocket_ports: [u16; 2],
    /// Hash of the key of the certificate with which `edge` speaks TLS, if it does.
    edge_key: Option<String>,
    folder: TempDir,
}

/// One of the two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    Edge,
    Far,
}

impl TestNetwork {
    /// Starts the nodes and waits until they are in each other's mesh.
    pub(crate) async fn start(sharding: Sharding) -> Self {
        Self::start_in(TempDir::new().unwrap(), sharding, None).await
    }

    /// Starts the nodes, of which `edge` listens for secure WebSocket only, with a certificate that nobody has signed.
    pub(crate) async fn start_secure(sharding: Sharding) -> Self {
        let folder = TempDir::new().unwrap();
        let certificate = Certificate::write(folder.path());
        Self::start_in(folder, sharding, Some(certificate)).await
    }

    async fn start_in(
        folder: TempDir,
        sharding: Sharding,
        certificate: Option<Certificate>,
    ) -> Self {
        let websocket_ports = [free_port().unwrap(), free_port().unwrap()];
        let spec = |name: &str, websocket_port: u16| NodeSpec {
            program: program(),
            name: name.to_owned(),
            folder: folder.path().to_owned(),
            ip: Ipv4Addr::LOCALHOST,
            flags: flags(&folder.path().join(name), sharding, websocket_port),
        };
        let mut edge = spec("edge", websocket_ports[0]);
        if let Some(certificate) = &certificate {
            edge.flags.retain(|flag| flag != PLAIN);
            edge.flags.extend(certificate.flags());
        }
        let edge = Node::start(edge).await.unwrap();
        let mut spec = spec("far", websocket_ports[1]);
        spec.flags.push(format!("--static-peers={}", edge.addr()));
        let far = Node::start(spec).await.unwrap();
        let stage = Self {
            edge,
            far,
            sharding,
            websocket_ports,
            edge_key: certificate.map(|certificate| certificate.key_hash),
            folder,
        };
        stage.wait_mesh("start").await;
        stage
    }

    /// Waits until the nodes are in each other's mesh on all their shards.
    pub(crate) async fn wait_mesh(&self, step: &str) {
        let shards = match self.sharding {
            Sharding::Automatic => usize::from(SHARDS),
            Sharding::Static(_) => 1,
        };
        for (node, other) in [(&self.edge, &self.far), (&self.far, &self.edge)] {
            let other = other.peer_id();
            let is_meshed = node.wait_peers(MESHED, |peers| {
                peers.get(&other).is_some_and(|peer| peer.meshes == shards)
            });
            assert!(is_meshed.await, "{step}: no mesh: {}", node.state().await);
        }
    }

    /// Returns a client of one node that is not started yet.
    pub(crate) fn client_of(&self, at: At, label: &str) -> PeerCommand {
        self.at(at, programs::js_light_client().unwrap().labelled(label))
    }

    /// Adds the address of one node, and its network, to the command of a client.
    pub(crate) fn at(&self, at: At, command: PeerCommand) -> PeerCommand {
        let (node, port) = match at {
            At::Edge => (&self.edge, self.websocket_ports[0]),
            At::Far => (&self.far, self.websocket_ports[1]),
        };
        let peer = node.peer_id();
        let addr = match (at, &self.edge_key) {
            // In a page, libp2p dials no private IP address by secure WebSocket.
            (At::Edge, Some(_)) => format!("/dns4/localhost/tcp/{port}/wss/p2p/{peer}"),
            _ => format!("/ip4/127.0.0.1/tcp/{port}/ws/p2p/{peer}"),
        };
        let command = command.option("bootstrap", addr);
        match self.sharding {
            Sharding::Automatic => command.option("shards", SHARDS),
            Sharding::Static(shard) => command.option("shard", shard),
        }
    }

    /// SHA-256 of the public key in the certificate of `edge`, as browsers want it; panics without a certificate.
    pub(crate) fn edge_key(&self) -> &str {
        self.edge_key.as_deref().unwrap()
    }

    /// Starts a client whose log is shown on a failure.
    pub(crate) async fn start_client(&self, command: &PeerCommand) -> Client {
        Client::start(command, self.folder.path()).await
    }

    /// Starts a client of one node that uses its services.
    pub(crate) async fn client(&self, at: At, label: &str) -> Client {
        let mut client = self.start_client(&self.client_of(at, label)).await;
        client.wait_peers().await;
        client
    }

    /// Returns the pubsub topic of a content topic.
    pub(crate) fn pubsub_topic(&self, content_topic: &str) -> String {
        let shard = match self.sharding {
            Sharding::Automatic => {
                let topic = ContentTopic::parse(content_topic).unwrap();
                shard_of(&topic, NonZeroU16::new(SHARDS).unwrap())
            }
            Sharding::Static(shard) => shard,
        };
        format!("/waku/2/rs/{CLUSTER}/{shard}")
    }

    /// Publishes by the relay of a node, over REST.
    pub(crate) async fn publish(&self, at: At, content_topic: &str, text: &str) {
        let node = match at {
            At::Edge => &self.edge,
            At::Far => &self.far,
        };
        let topic = self.pubsub_topic(content_topic);
        let is_accepted = node.publish(&topic, content_topic, text.as_bytes()).await;
        assert!(is_accepted, "publish {text}: {}", node.state().await);
    }
}

impl Drop for TestNetwork {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for path in logs(self.folder.path()) {
                let text = fs::read(&path).unwrap_or_default();
                let text = String::from_utf8_lossy(&text);
                let lines: Vec<_> = text.lines().collect();
                let last = &lines[lines.len().saturating_sub(LOG_LINES)..];
                eprintln!("--- the end of {}\n{}", path.display(), last.join("\n"));
            }
        }
    }
}

/// Log files of clients (`LABEL.log`) and nodes (`NAME/log`).
fn logs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| match entry.path() {
        path if path.is_dir() => path.join("log"),
        path => path,
    });
    paths.filter(|path| path.is_file()).collect()
}

fn flags(data: &Path, sharding: Sharding, websocket_port: u16) -> Vec<String> {
    let network = match sharding {
        Sharding::Automatic => vec!["--network=twn".to_owned()],
        Sharding::Static(shard) => vec!["--network=local".to_owned(), format!("--shards={shard}")],
    };
    let database = data.join("store.sqlite3");
    let others = [
        format!("--cluster-id={CLUSTER}"),
        format!("--max-message-bytes={MESSAGE_BYTES_MAX}"),
        "--rln=false".to_owned(),
        PLAIN.to_owned(),
        format!("--ws-port={websocket_port}"),
        "--store=true".to_owned(),
        format!("--store-message-db-url=sqlite://{}", database.display()),
        "--filter=true".to_owned(),
        "--lightpush=true".to_owned(),
        "--peer-exchange=true".to_owned(),
    ];
    network.into_iter().chain(others).collect()
}

/// Path of the nodes' program.
pub(crate) fn program() -> PathBuf {
    let program = node::program(Path::new(env!("CARGO_BIN_EXE_undertone-peer")));
    assert!(
        program.exists(),
        "{} is missing: build it with `cargo build --package undertone`, or run `cargo xtask test --only services`",
        program.display()
    );
    program
}
