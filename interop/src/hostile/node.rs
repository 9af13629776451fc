//! One `undertone node` process: started, ended in every way, asked over REST.

use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use libp2p::{Multiaddr, PeerId};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;
use undertone_node::delivery_log::Line;

use super::HostileError;
use super::rest::{self, Answer};

mod ports;

/// Guards against a node that hangs; no test depends on its length.
const DEADLINE: Duration = Duration::from_secs(60);

/// How often state is looked at of which there are no events.
pub(super) const POLL: Duration = Duration::from_millis(20);

/// How a node is started.
#[derive(Clone, Debug)]
pub struct NodeSpec {
    /// Program with the subcommand `node`.
    pub program: PathBuf,
    /// Name in messages, and of its folder.
    pub name: String,
    /// Folder under which the node gets one of its own.
    pub folder: PathBuf,
    /// Where it listens, and from where it dials.
    pub ip: Ipv4Addr,
    /// Further flags, as `--name=value`.
    pub flags: Vec<String>,
}

/// What a node knows of one of its gossip peers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PeerView {
    /// Its score, if the node shows one.
    pub score: Option<f64>,
    /// Number of topics in whose mesh it is.
    pub meshes: usize,
}

/// Where peers find a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Address and port on which it listens.
    pub socket: SocketAddr,
    /// Its identity.
    pub peer_id: PeerId,
}

impl Target {
    /// The node's address as seen through a proxy that listens on `socket`.
    #[must_use]
    pub fn addr_at(&self, socket: SocketAddr) -> Multiaddr {
        let (ip, port) = (socket.ip(), socket.port());
        let text = format!("/ip4/{ip}/tcp/{port}/p2p/{}", self.peer_id);
        text.parse().expect("an address in this form is valid")
    }
}

/// A node, running or not. Dropping it kills the process.
#[derive(Debug)]
pub struct Node {
    spec: NodeSpec,
    data: PathBuf,
    child: Option<Child>,
    peer_id: PeerId,
    /// The same in all its lives.
    port: u16,
    rest: SocketAddr,
}

impl Node {
    /// Starts a node and waits until it listens.
    pub async fn start(spec: NodeSpec) -> Result<Self, HostileError> {
        let data = spec.folder.join(&spec.name);
        fs::create_dir_all(&data).map_err(HostileError::io("cannot make a node's folder"))?;
        let mut node = Self {
            spec,
            data,
            child: None,
            peer_id: PeerId::random(),
            port: ports::free()?,
            rest: SocketAddr::from(([127, 0, 0, 1], 0)),
        };
        node.launch().await?;
        Ok(node)
    }

    /// Starts the process; with the same identity and port if it ran before.
    pub async fn launch(&mut self) -> Result<(), HostileError> {
        let log = self.data.join("log");
        let stderr = fs::OpenOptions::new().create(true).append(true).open(&log);
        let stderr = stderr.map_err(HostileError::io("cannot make a node's log file"))?;
        let mut command = Command::new(&self.spec.program);
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
        // The flags alone decide.
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"UNDERTONE_") {
                command.env_remove(name);
            }
        }
        let mut child = command
            .args(&self.spec.flags)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .kill_on_drop(true)
            .spawn()
            .map_err(|source| HostileError::Program {
                program: self.spec.program.clone(),
                source,
            })?;
        let stdout = child.stdout.take().expect("stdout was asked to be piped");
        let mut lines = BufReader::new(stdout).lines();
        self.child = Some(child);
        let line = timeout(DEADLINE, lines.next_line()).await;
        let ready = line.ok().and_then(Result::ok).flatten();
        let ready = ready.and_then(|line| self.read_ready(&line));
        ready.ok_or_else(|| HostileError::NotReady {
            name: self.spec.name.clone(),
            log,
        })
    }

    fn read_ready(&mut self, line: &str) -> Option<()> {
        let ready: Value = serde_json::from_str(line).ok()?;
        self.peer_id = ready["peerId"].as_str()?.parse().ok()?;
        self.rest = ready["rest"]
            .as_str()?
            .strip_prefix("http://")?
            .parse()
            .ok()?;
        Some(())
    }

    /// Name of the node.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// Identity of the node.
    #[must_use]
    pub fn peer_id(&self) -> PeerId {
        self.peer_id
    }

    /// Address and port on which it listens.
    #[must_use]
    pub fn socket(&self) -> SocketAddr {
        SocketAddr::from((self.spec.ip, self.port))
    }

    /// Where peers find it.
    #[must_use]
    pub fn target(&self) -> Target {
        Target {
            socket: self.socket(),
            peer_id: self.peer_id,
        }
    }

    /// Address on which it listens, with `/p2p`.
    #[must_use]
    pub fn addr(&self) -> Multiaddr {
        self.target().addr_at(self.socket())
    }

    /// Its process, if it runs.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref()?.id()
    }

    /// Folder of its files.
    #[must_use]
    pub fn data(&self) -> &Path {
        &self.data
    }

    fn delivery_log(&self) -> PathBuf {
        self.data.join("deliveries")
    }

    /// Replaces its flags, from the next start on.
    pub fn set_flags(&mut self, flags: Vec<String>) {
        self.spec.flags = flags;
    }

    /// Asks it to end in good order, and waits until it has.
    pub async fn terminate(&mut self) {
        self.signal(Signal::TERM);
        if let Some(mut child) = self.child.take()
            && timeout(DEADLINE, child.wait()).await.is_err()
        {
            // Dropping the child kills it.
            eprintln!(
                "node {} did not end within {DEADLINE:?} of SIGTERM",
                self.spec.name
            );
        }
    }

    /// Kills it, so that it can tell nobody.
    pub async fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill().await;
        }
    }

    /// Stops its process without ending it.
    pub fn suspend(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets a suspended process go on.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let pid = self.pid().and_then(|pid| i32::try_from(pid).ok());
        if let Some(pid) = pid.and_then(Pid::from_raw) {
            // It may have ended by itself, which whoever waits for it will see.
            let _ = kill_process(pid, signal);
        }
    }

    /// Publishes a message on a pubsub topic; whether the node took it.
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

    /// Has it connect to a peer; whether it did.
    pub async fn connect(&self, peer: &Multiaddr) -> bool {
        let body = serde_json::json!([peer.to_string()]).to_string();
        let answer = rest::request(self.rest, "POST", "/admin/v1/peers", Some(&body)).await;
        answer.is_ok_and(|answer| answer.status == 200)
    }

    /// Its gossip peers.
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

    /// What it knows of one gossip peer.
    pub async fn peer(&self, peer: PeerId) -> Result<Option<PeerView>, HostileError> {
        Ok(self.peers().await?.remove(&peer))
    }

    async fn grouped(&self, path: &str) -> Result<Vec<(PeerId, Option<f64>)>, HostileError> {
        let request = || format!("GET {path}");
        let answer = rest::request(self.rest, "GET", path, None)
            .await
            .map_err(HostileError::io("cannot ask a node over REST"))?;
        let Answer { status, body } = answer;
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

    /// Waits until the state of its peers is the one asked for; whether it came to that.
    pub async fn wait_peers(
        &self,
        patience: Duration,
        enough: impl Fn(&BTreeMap<PeerId, PeerView>) -> bool,
    ) -> bool {
        let until = Instant::now() + patience;
        loop {
            if self.peers().await.is_ok_and(|peers| enough(&peers)) {
                return true;
            }
            if Instant::now() >= until {
                return false;
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// What it has delivered so far: content topic and time, of the machine's monotonic clock.
    #[must_use]
    pub fn delivered(&self) -> BTreeMap<String, Delivered> {
        let text = fs::read_to_string(self.delivery_log()).unwrap_or_default();
        let lines = text
            .lines()
            .filter_map(|line| match serde_json::from_str(line).ok()? {
                Line::Delivered {
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

    /// Its peers, as REST lists them, and the end of its log: for messages about what went wrong.
    pub async fn state(&self) -> String {
        let answer = rest::request(self.rest, "GET", "/admin/v1/peers", None).await;
        let peers = answer.map_or_else(|error| error.to_string(), |answer| answer.body);
        let (name, id) = (&self.spec.name, self.peer_id);
        format!(
            "{name} {id} has the peers {peers} and logged:\n{}",
            self.log_tail()
        )
    }

    /// The end of its log, for messages about what went wrong.
    #[must_use]
    pub fn log_tail(&self) -> String {
        let text = fs::read_to_string(self.data.join("log")).unwrap_or_default();
        let lines: Vec<_> = text.lines().rev().take(15).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }
}

/// When a node got a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// When the first copy was complete; for the node's own messages, when they were sent.
    pub received_ns: u64,
    /// When it was found valid.
    pub validated_ns: u64,
}

/// Where the program of the nodes is: `UNDERTONE_HOSTILE_NODE`, or `undertone` beside the program `beside`.
#[must_use]
pub fn program(beside: &Path) -> PathBuf {
    match std::env::var_os("UNDERTONE_HOSTILE_NODE") {
        Some(path) => path.into(),
        None => beside.with_file_name("undertone"),
    }
}
