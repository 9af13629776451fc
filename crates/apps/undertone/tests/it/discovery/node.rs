//! A node as a process of the program in a host of the testbed: started, asked over REST, read from its files, killed.

use std::fs::{self, File};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use undertone_discovery::record::WakuRecord;
use undertone_fleet::processes::rest;
use undertone_node::delivery_log::DeliveryLine;
use undertone_node_process::host::{vm_peak, vm_rss};
use undertone_node_process::{NodeProcess, Signal, log_tail};
use undertone_testbed::{Host, Testbed};

/// Cluster of the preset `local`.
pub(crate) const CLUSTER: u16 = 66;

/// TCP port of libp2p.
const PORT: u16 = 60_000;

/// Log of the nodes: the dials of the connection manager too.
const LOG: &str = "info,undertone_network::driver::connection_manager=debug";

/// Interval at which a node that starts is looked at.
const START_POLL: Duration = Duration::from_millis(20);

/// Time for a process to begin to listen, on a machine with other work.
const START_LIMIT: Duration = Duration::from_secs(60);

/// Settings with which a node starts.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub(crate) shards: &'static [u16],
    pub(crate) cluster: u16,
    /// Record of the only node that it is told of.
    pub(crate) bootstrap: Option<String>,
}

/// Node and its process, which is killed when this is dropped.
pub(crate) struct Node {
    pub(crate) view: NodeView,
    pub(crate) address: Ipv4Addr,
    pub(crate) peer_id: String,
    /// Time at which it was seen to listen.
    pub(crate) listening: Option<Instant>,
    process: NodeProcess,
}

/// What is needed to ask a node and to read its files; it can be sent to a thread that watches the node.
#[derive(Clone)]
pub(crate) struct NodeView {
    testbed: Arc<Testbed>,
    pub(crate) name: String,
    pub(crate) host: usize,
    pub(crate) shards: &'static [u16],
    folder: PathBuf,
    lives: Arc<AtomicBool>,
}

impl Node {
    /// Starts a process in a host, in the folder given, which may be that of an earlier run.
    pub(crate) fn start(
        testbed: &Arc<Testbed>,
        (host, address): (usize, Ipv4Addr),
        folder: &Path,
        start: &Start,
    ) -> Self {
        fs::create_dir_all(folder).expect("the campaign's folder is its own");
        let mut command = undertone_node_process::command(env!("CARGO_BIN_EXE_undertone"));
        let shards: Vec<_> = start.shards.iter().map(ToString::to_string).collect();
        command
            .args([
                "node",
                "--network=local",
                "--rln=false",
                "--rest-admin=true",
                "--rest-auth=none",
            ])
            .args(["--discv5-discovery=true", "--peer-exchange=false"])
            .arg(format!("--shards={}", shards.join(",")))
            .arg(format!("--data-dir={}", folder.display()))
            .arg(format!(
                "--delivery-log={}",
                folder.join("deliveries").display()
            ));
        if start.cluster != CLUSTER {
            command.arg(format!("--cluster-id={}", start.cluster));
        }
        if let Some(record) = &start.bootstrap {
            command.arg(format!("--discv5-bootstrap-node={record}"));
        }
        command.env("UNDERTONE_LOG", LOG);
        let path = folder.join("log");
        let log = File::options().create(true).append(true).open(&path);
        let log = log.expect("the folder is there");
        let launched = testbed.hosts()[host].launch(&command, Some(&log));
        let child = launched.expect("the program was built, and util-linux is there");
        let name = folder.file_name().expect("it has a name");
        Self {
            view: NodeView {
                testbed: Arc::clone(testbed),
                name: name.to_string_lossy().into_owned(),
                host,
                shards: start.shards,
                folder: folder.to_owned(),
                lives: Arc::new(AtomicBool::new(true)),
            },
            address,
            peer_id: String::new(),
            listening: None,
            process: NodeProcess::new(child, path),
        }
    }

    /// Waits until it listens, and learns its identity.
    pub(crate) fn wait(&mut self) {
        let since = self.view.wait_until_it_listens();
        self.listening = Some(since.unwrap_or_else(|| panic!("{}", self.view.complaint())));
        let begun = Instant::now();
        while self.peer_id.is_empty() {
            if let Some(record) = self.view.record() {
                self.peer_id = record.peer().to_string();
            }
            let is_late = begun.elapsed() > START_LIMIT;
            assert!(!is_late, "no record: {}", self.view.complaint());
            std::thread::sleep(START_POLL);
        }
    }

    /// Kills the process with SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.view.lives.store(false, Ordering::Relaxed);
        self.process.kill();
    }

    /// Ends the process as its service manager would.
    pub(crate) fn stop(&mut self) {
        self.view.lives.store(false, Ordering::Relaxed);
        self.process.signal(Signal::TERM);
        self.process.wait_for_end(START_LIMIT);
    }

    /// Whether the process has ended without being told to.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.view.lives() && self.process.status().is_some()
    }

    /// Memory in use and its greatest value so far, KiB.
    pub(crate) fn memory_kib(&self) -> Option<(u64, u64)> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).ok()?;
        Some((vm_rss(&status)?, vm_peak(&status)?))
    }

    /// Whether it has listened for so long at a time.
    pub(crate) fn has_lived(&self, for_s: u64, at: Instant) -> bool {
        let since = self
            .listening
            .and_then(|since| at.checked_duration_since(since));
        since.is_some_and(|lived| lived >= Duration::from_secs(for_s))
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
    }
}

impl NodeView {
    fn in_host(&self) -> &Host {
        &self.testbed.hosts()[self.host]
    }

    pub(crate) fn lives(&self) -> bool {
        self.lives.load(Ordering::Relaxed)
    }

    /// Waits until the kernel says that somebody listens at the port of libp2p; returns the time.
    pub(crate) fn wait_until_it_listens(&self) -> Option<Instant> {
        // Local port and state in the kernel's table; 0A is LISTEN.
        let port = format!(":{PORT:04X}");
        let begun = Instant::now();
        while self.lives() && begun.elapsed() < START_LIMIT {
            let table = self
                .in_host()
                .spawn(|| fs::read_to_string("/proc/thread-self/net/tcp"));
            let table = table.ok()?.join().ok()?.unwrap_or_default();
            let mut sockets = table
                .lines()
                .map(|line| line.split_whitespace().collect::<Vec<_>>());
            if sockets
                .any(|socket| socket.len() > 3 && socket[1].ends_with(&port) && socket[3] == "0A")
            {
                return Some(Instant::now());
            }
            std::thread::sleep(START_POLL);
        }
        None
    }

    /// Answer to a GET request, if the node gives one of JSON.
    pub(crate) fn get(&self, path: &str) -> Option<Value> {
        let answer = rest::ask_in(self.in_host(), "GET", path, "").ok()?.ok()?;
        serde_json::from_str(&answer.body).ok()
    }

    /// Status of the answer to a POST request, 0 if there is none.
    pub(crate) fn post(&self, path: &str, json: &Value) -> u16 {
        let answer = rest::ask_in(self.in_host(), "POST", path, &json.to_string());
        let answer = answer.ok().and_then(Result::ok);
        answer.map_or(0, |answer| answer.status)
    }

    /// The node's own record, as it is now.
    pub(crate) fn record(&self) -> Option<WakuRecord> {
        let info = self.get("/info")?;
        WakuRecord::parse(info["enrUri"].as_str()?).ok()
    }

    /// Addresses of connected peers, each with its identity at the end.
    pub(crate) fn connected(&self) -> Vec<String> {
        let peers = self.get("/admin/v1/peers/connected").unwrap_or_default();
        addresses(&peers)
    }

    /// Addresses of the peers in the node's mesh of a shard.
    pub(crate) fn mesh(&self, shard: u16) -> Vec<String> {
        let on = self.get(&format!("/admin/v1/peers/mesh/on/{shard}"));
        addresses(&on.unwrap_or_default()["peers"])
    }

    /// Addresses of peers that relay a shard.
    pub(crate) fn relays(&self, shard: u16) -> Vec<String> {
        let on = self.get(&format!("/admin/v1/peers/relay/on/{shard}"));
        addresses(&on.unwrap_or_default()["peers"])
    }

    /// Whether it has a mesh of so many peers on each of its shards.
    pub(crate) fn has_mesh(&self, peers: usize) -> bool {
        self.shards
            .iter()
            .all(|shard| self.mesh(*shard).len() >= peers)
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    /// Deliveries so far: content topic, time of arrival and whether it was the publisher.
    pub(crate) fn deliveries(&self) -> Vec<Arrival> {
        let text = fs::read_to_string(self.folder.join("deliveries")).unwrap_or_default();
        let lines = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        lines
            .filter_map(|line| match line {
                DeliveryLine::Delivered {
                    content_topic,
                    from,
                    received_ns,
                    validated_ns,
                    ..
                } => Some(Arrival {
                    content_topic,
                    is_own: from.is_none(),
                    at_ns: if from.is_none() {
                        received_ns
                    } else {
                        validated_ns
                    },
                }),
                DeliveryLine::Proved { .. } => None,
            })
            .collect()
    }

    /// Name, and the end of the log, for a failure.
    pub(crate) fn complaint(&self) -> String {
        let end = log_tail(&self.folder.join("log"));
        format!("{} does not start; the end of its log:\n{end}", self.name)
    }
}

/// Delivery of a message at a node.
pub(crate) struct Arrival {
    pub(crate) content_topic: String,
    pub(crate) is_own: bool,
    /// Time of the machine's monotonic clock: of sending at the publisher, else when the message was found valid.
    pub(crate) at_ns: u64,
}

fn addresses(peers: &Value) -> Vec<String> {
    let peers = peers.as_array().into_iter().flatten();
    peers
        .filter_map(|peer| Some(peer["multiaddr"].as_str()?.to_owned()))
        .collect()
}
