//! One `undertone node` process: its start, the ways of ending it, and requests to its REST server.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use libp2p::{Multiaddr, PeerId};
use serde_json::Value;
use tokio::task::spawn_blocking;
use undertone_node::delivery_log::DeliveryLine;
use undertone_node_process::rest::HttpAnswer;
use undertone_node_process::{NodeProcess, Signal, free_port, log_tail};

use super::HostileError;
use super::rest;

/// Time limit that guards against a hanging node; no test depends on its length.
const DEADLINE: Duration = Duration::from_secs(60);

/// Interval at which state without events is polled.
pub(super) const POLL: Duration = Duration::from_millis(20);

/// Flags of the present version that earlier ones do not know. Without a token, tests can use `/admin`.
const NEW_FLAGS: [&str; 1] = ["--rest-auth=none"];

/// Parameters for starting a node.
#[derive(Clone, Debug)]
pub struct NodeSpec {
    /// Path of the program with the subcommand `node`.
    pub program: PathBuf,
    /// Name of the node in messages, and of its folder.
    pub name: String,
    /// Folder in which the node gets its own folder.
    pub folder: PathBuf,
    /// Address at which the node listens. On loopback it still dials from 127.0.0.1: the library binds only the port.
    pub ip: Ipv4Addr,
    /// Further flags in the form `--name=value`.
    pub flags: Vec<String>,
}

/// What a node reports about one of its gossip peers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PeerView {
    /// Score of the peer, if the node reports one.
    pub score: Option<f64>,
    /// Number of topics in whose mesh the peer is.
    pub meshes: usize,
}

/// Address and identity at which peers find a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Address and port on which the node listens.
    pub socket: SocketAddr,
    /// Identity of the node.
    pub peer_id: PeerId,
}

impl Target {
    /// Returns the node's multiaddress through a proxy that listens on `socket`.
    #[must_use]
    pub fn addr_at(&self, socket: SocketAddr) -> Multiaddr {
        let (ip, port) = (socket.ip(), socket.port());
        let text = format!("/ip4/{ip}/tcp/{port}/p2p/{}", self.peer_id);
        text.parse().expect("an address in this form is valid")
    }
}

/// Node, running or not; a drop kills the process.
#[derive(Debug)]
pub struct Node {
    spec: NodeSpec,
    data: PathBuf,
    process: Option<NodeProcess>,
    peer_id: PeerId,
    /// Port on which the node listens, the same after each restart.
    port: u16,
    rest: SocketAddr,
    /// Flags unknown to programs of earlier versions.
    new_flags: &'static [&'static str],
    variables: Vec<(&'static str, OsString)>,
}

impl Node {
    /// Starts a node and waits until it listens.
    pub async fn start(spec: NodeSpec) -> Result<Self, HostileError> {
        Self::start_of(spec, &NEW_FLAGS).await
    }

    /// Starts a node of an earlier version, which does not know the newest flags.
    pub async fn start_earlier(spec: NodeSpec) -> Result<Self, HostileError> {
        Self::start_of(spec, &[]).await
    }

    async fn start_of(
        spec: NodeSpec,
        new_flags: &'static [&'static str],
    ) -> Result<Self, HostileError> {
        let data = spec.folder.join(&spec.name);
        fs::create_dir_all(&data).map_err(HostileError::io("cannot make a node's folder"))?;
        let mut node = Self {
            spec,
            data,
            process: None,
            peer_id: PeerId::random(),
            port: free_port().map_err(HostileError::io("no port is free for a node"))?,
            rest: SocketAddr::from(([127, 0, 0, 1], 0)),
            new_flags,
            variables: Vec::new(),
        };
        node.launch().await?;
        Ok(node)
    }

    /// Starts the process, with the same identity and port as before if it ran before.
    pub async fn launch(&mut self) -> Result<(), HostileError> {
        let mut command = undertone_node_process::command(&self.spec.program);
        command.arg("node").arg("--json");
        for (name, value) in [
            ("data-dir", self.data.display().to_string()),
            ("delivery-log", self.delivery_log().display().to_string()),
            ("listen-address", self.spec.ip.to_string()),
            ("tcp-port", self.port.to_string()),
            ("rest-port", "0".to_owned()),
            ("rest-admin", "true".to_owned()),
            ("log-level", "info".to_owned()),
        ] {
            command.arg(format!("--{name}={value}"));
        }
        command.args(self.new_flags).args(&self.spec.flags);
        let variables = self.variables.iter();
        command.envs(variables.map(|(name, value)| (name, value)));
        let log = self.log_path();
        let starting = spawn_blocking(move || NodeProcess::start(&mut command, &log, DEADLINE));
        let started = starting.await.expect("starting a node does not panic");
        let (process, ready) = started.map_err(|source| HostileError::Start {
            name: self.spec.name.clone(),
            source,
        })?;
        self.process = Some(process);
        let peer_id = ready.peer_id.parse();
        self.peer_id = peer_id.expect("a node prints its own identity");
        self.rest = ready.rest;
        Ok(())
    }

    /// Returns the node's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// Returns the node's identity.
    #[must_use]
    pub fn peer_id(&self) -> PeerId {
        self.peer_id
    }

    /// Returns the address and port on which the node listens.
    #[must_use]
    pub fn socket(&self) -> SocketAddr {
        SocketAddr::from((self.spec.ip, self.port))
    }

    /// Returns address and identity at which peers find the node.
    #[must_use]
    pub fn target(&self) -> Target {
        Target {
            socket: self.socket(),
            peer_id: self.peer_id,
        }
    }

    /// Returns the multiaddress on which the node listens, with `/p2p`.
    #[must_use]
    pub fn addr(&self) -> Multiaddr {
        self.target().addr_at(self.socket())
    }

    /// Returns the address of the node's REST server, which changes with each start.
    #[must_use]
    pub fn rest(&self) -> SocketAddr {
        self.rest
    }

    /// Returns the process id, if the process runs.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        Some(self.process.as_ref()?.id())
    }

    /// Returns the folder of the node's files.
    #[must_use]
    pub fn data(&self) -> &Path {
        &self.data
    }

    fn log_path(&self) -> PathBuf {
        self.data.join("log")
    }

    fn delivery_log(&self) -> PathBuf {
        self.data.join("deliveries")
    }

    /// Replaces the node's program with the present version, from the next start on.
    pub fn upgrade(&mut self, program: PathBuf) {
        self.spec.program = program;
        self.new_flags = &NEW_FLAGS;
    }

    /// Replaces the node's flags, from the next start on.
    pub fn set_flags(&mut self, flags: Vec<String>) {
        self.spec.flags = flags;
    }

    /// Sets environment variables of the process, from the next start on.
    pub fn set_variables(&mut self, variables: Vec<(&'static str, OsString)>) {
        self.variables = variables;
    }

    /// Ends the process with SIGTERM, and waits for its end.
    pub async fn terminate(&mut self) {
        self.signal(Signal::TERM);
        let Some(mut process) = self.process.take() else {
            return;
        };
        // The drop at the end kills a process that is still running.
        let ending = spawn_blocking(move || process.wait_for_end(DEADLINE));
        if !matches!(ending.await, Ok(Some(_))) {
            eprintln!(
                "node {} did not end within {DEADLINE:?} of SIGTERM",
                self.spec.name
            );
        }
    }

    /// Kills the process, so that it cannot notify its peers.
    pub async fn kill(&mut self) {
        if let Some(process) = self.process.take() {
            let _ = spawn_blocking(move || drop(process)).await;
        }
    }

    /// Suspends the process with SIGSTOP.
    pub fn suspend(&self) {
        self.signal(Signal::STOP);
    }

    /// Resumes a suspended process with SIGCONT.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        if let Some(process) = &self.process {
            process.signal(signal);
        }
    }

    /// Publishes a message on a pubsub topic; returns whether the node accepted it.
    pub async fn publish(&self, pubsub_topic: &str, content_topic: &str, payload: &[u8]) -> bool {
        let path = format!("/relay/v1/messages/{}", pubsub_topic.replace('/', "%2F"));
        let body = serde_json::json!({
            "payload": STANDARD.encode(payload),
            "contentTopic": content_topic,
        });
        match rest::request(self.rest, "POST", &path, Some(&body.to_string())).await {
            Ok(answer) => answer.status == 200,
            Err(_) => false,
        }
    }

    /// Sends a request to the REST server; returns status and body, or `None` if no answer comes.
    pub async fn ask(&self, method: &str, path: &str, body: Option<&str>) -> Option<(u16, String)> {
        let answer = rest::request(self.rest, method, path, body).await.ok()?;
        Some((answer.status, answer.body))
    }

    /// Makes the node connect to a peer; returns whether it did.
    pub async fn connect(&self, peer: &Multiaddr) -> bool {
        let body = serde_json::json!([peer.to_string()]).to_string();
        let answer = rest::request(self.rest, "POST", "/admin/v1/peers", Some(&body)).await;
        answer.is_ok_and(|answer| answer.status == 200)
    }

    /// Returns the node's gossip peers.
    pub async fn peers(&self) -> Result<BTreeMap<PeerId, PeerView>, HostileError> {
        let mut peers: BTreeMap<PeerId, PeerView> = BTreeMap::new();
        for (peer, score) in self.grouped("/admin/v1/peers/relay").await? {
            peers.entry(peer).or_default().score = score;
        }
        for (peer, _) in self.grouped("/admin/v1/peers/mesh").await? {
            peers.entry(peer).or_default().meshes += 1;
        }
        Ok(peers)
    }

    /// Returns what the node reports about one gossip peer, if it is connected.
    pub async fn peer(&self, peer: PeerId) -> Result<Option<PeerView>, HostileError> {
        Ok(self.peers().await?.remove(&peer))
    }

    async fn grouped(&self, path: &str) -> Result<Vec<(PeerId, Option<f64>)>, HostileError> {
        let request = || format!("GET {path}");
        let answer = rest::request(self.rest, "GET", path, None)
            .await
            .map_err(HostileError::io("cannot ask a node over REST"))?;
        let HttpAnswer { status, body, .. } = answer;
        if status != 200 {
            return Err(HostileError::Refused {
                name: self.spec.name.clone(),
                request: request(),
                status,
                body,
            });
        }
        let shards: Vec<Value> =
            serde_json::from_str(&body).map_err(|source| HostileError::Body {
                name: self.spec.name.clone(),
                request: request(),
                source,
            })?;
        let peers = shards
            .iter()
            .filter_map(|shard| shard["peers"].as_array())
            .flatten();
        let read = peers.filter_map(|peer| {
            let (_, id) = peer["multiaddr"].as_str()?.rsplit_once("/p2p/")?;
            Some((id.parse().ok()?, peer["score"].as_f64()))
        });
        Ok(read.collect())
    }

    /// Waits until the state of the node's peers satisfies `enough`; returns `false` after `patience`.
    pub async fn wait_peers(
        &self,
        patience: Duration,
        enough: impl Fn(&BTreeMap<PeerId, PeerView>) -> bool,
    ) -> bool {
        wait_until(patience, || async {
            self.peers().await.is_ok_and(|peers| enough(&peers))
        })
        .await
    }

    /// Returns the deliveries so far, by content topic, with times of the machine's monotonic clock.
    #[must_use]
    pub fn delivered(&self) -> BTreeMap<String, Delivered> {
        let text = fs::read_to_string(self.delivery_log()).unwrap_or_default();
        let lines = text
            .lines()
            .filter_map(|line| match serde_json::from_str(line).ok()? {
                DeliveryLine::Delivered {
                    content_topic,
                    received_ns,
                    validated_ns,
                    ..
                } => Some((
                    content_topic,
                    Delivered {
                        received_ns,
                        validated_ns,
                    },
                )),
                _ => None,
            });
        lines.collect()
    }

    /// Returns the node's peers in REST's format and the end of its log, for error messages.
    pub async fn state(&self) -> String {
        let answer = rest::request(self.rest, "GET", "/admin/v1/peers", None).await;
        let peers = answer.map_or_else(|error| error.to_string(), |answer| answer.body);
        let (name, id) = (&self.spec.name, self.peer_id);
        format!(
            "{name} {id} has the peers {peers} and logged:\n{}",
            self.log_tail()
        )
    }

    /// Returns the node's log of all its runs.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.log_path()).unwrap_or_default()
    }

    /// Returns the last lines of the node's log, for error messages.
    #[must_use]
    pub fn log_tail(&self) -> String {
        log_tail(&self.log_path())
    }
}

/// Times at which a node received and validated a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// Time at which the first copy was complete, or at which the node sent its own message, nanoseconds.
    pub received_ns: u64,
    /// Time at which the message was found valid, nanoseconds.
    pub validated_ns: u64,
}

/// Polls until a condition holds; returns `false` after `patience`.
pub async fn wait_until<F: Future<Output = bool>>(
    patience: Duration,
    mut holds: impl FnMut() -> F,
) -> bool {
    let until = Instant::now() + patience;
    loop {
        if holds().await {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        tokio::time::sleep(POLL).await;
    }
}

/// Returns the nodes' program: `UNDERTONE_HOSTILE_NODE`, or `undertone` beside the program `beside`.
#[must_use]
pub fn program(beside: &Path) -> PathBuf {
    match std::env::var_os("UNDERTONE_HOSTILE_NODE") {
        Some(path) => path.into(),
        None => beside.with_file_name("undertone"),
    }
}
