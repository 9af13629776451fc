//! A node as a program in a namespace, asked over REST from within it.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::AsFd as _;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use serde_json::Value;
use undertone_node_process::{NodeProcess, Signal, rest};

use super::net::{Host, Wall, within};

/// Address of REST within the namespace.
const REST: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8645);

/// Time limit for an answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(15);

/// Time limit for a node to end.
const END_LIMIT: Duration = Duration::from_secs(60);

/// A running node.
pub(crate) struct Node {
    pub(crate) name: String,
    namespace: String,
    _folder: tempfile::TempDir,
    process: NodeProcess,
}

impl Node {
    /// Starts a node and waits until REST answers.
    pub(crate) fn start(host: &Host, flags: &[&str], peers: &[String]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("log");
        let log = fs::File::create(&path).expect("the folder is there");
        let mut command = within(&host.namespace, env!("CARGO_BIN_EXE_undertone"));
        command
            .args([
                "node",
                "--network=local",
                "--rln=false",
                "--rest-admin=true",
                "--rest-auth=none",
                "--shards=0",
            ])
            .args(["--log-level=debug", "--quic-support=true"])
            .args(flags)
            .arg("--data-dir")
            .arg(folder.path())
            .args(peers.iter().map(|peer| format!("--static-peers={peer}")))
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a file can be shared"))
            .stderr(log);
        let child = command.spawn().expect("the program was built");
        let node = Self {
            name: host.name.clone(),
            namespace: host.namespace.clone(),
            _folder: folder,
            process: NodeProcess::new(child, path),
        };
        let answers = super::wait(super::REACHING, || node.get("/info").is_some());
        assert!(answers, "{} does not start: {}", node.name, node.log());
        node
    }

    /// Asks REST from a thread in the namespace; returns the body of an answer that says success.
    fn ask(&self, method: &str, path: &str, json: &str) -> Option<String> {
        let namespace = fs::File::open(format!("/run/netns/{}", self.namespace)).ok()?;
        let asking = || {
            let network = Some(LinkNameSpaceType::Network);
            move_into_link_name_space(namespace.as_fd(), network).ok()?;
            rest::ask(REST, method, path, json, ANSWER_LIMIT).ok()
        };
        let answer = thread::scope(|scope| scope.spawn(asking).join().ok()?)?;
        (answer.status == 200).then_some(answer.body)
    }

    fn text(&self, path: &str) -> Option<String> {
        self.ask("GET", path, "")
    }

    fn get(&self, path: &str) -> Option<Value> {
        serde_json::from_str(&self.text(path)?).ok()
    }

    /// All addresses that the node tells.
    pub(crate) fn addresses(&self) -> Vec<String> {
        let info = self.get("/info").expect("the node runs");
        let all = info["listenAddresses"].as_array().expect("a list");
        let all = all
            .iter()
            .map(|address| address.as_str().expect("a text").to_owned());
        all.collect()
    }

    /// Addresses of the node that are of the Internet.
    pub(crate) fn announced(&self) -> Vec<String> {
        let all = self.addresses().into_iter();
        all.filter(|address| address.starts_with("/ip4/45."))
            .collect()
    }

    /// What peers say about reaching the node.
    pub(crate) fn reachable(&self) -> String {
        let info = self.get("/info").expect("the node runs");
        info["reachable"].as_str().expect("a text").to_owned()
    }

    fn id(&self) -> String {
        let address = self.addresses().remove(0);
        address
            .rsplit('/')
            .next()
            .expect("it ends in /p2p/ID")
            .to_owned()
    }

    /// Whether the node knows how it is reached behind such a wall.
    pub(crate) fn is_settled(&self, wall: Wall) -> bool {
        let announced = self.announced();
        let is_relayed = announced
            .iter()
            .any(|address| address.contains("/p2p-circuit"));
        match wall {
            Wall::None => self.reachable() == "yes",
            Wall::Cone | Wall::Symmetric => is_relayed,
            Wall::Upnp | Wall::Pmp => !announced.is_empty() && self.reachable() == "yes",
        }
    }

    /// Dials all addresses, one after the other, until one leads to the peer.
    pub(crate) fn connect(&self, addresses: &[String]) {
        for address in addresses {
            let body = serde_json::to_string(&[address]).expect("a list of texts");
            if self.ask("POST", "/admin/v1/peers", &body).is_some() {
                return;
            }
        }
    }

    /// Means by which the node is connected to another one.
    pub(crate) fn connected_by(&self, other: &Self) -> Option<&'static str> {
        let peers = self.get("/admin/v1/peers")?;
        let id = other.id();
        let is_it = |peer: &&Value| {
            peer["multiaddr"]
                .as_str()
                .is_some_and(|at| at.ends_with(&id))
        };
        let peer = peers.as_array()?.iter().find(is_it)?;
        if peer["connected"] != "Connected" {
            return None;
        }
        match peer["multiaddr"].as_str()?.contains("/p2p-circuit") {
            true => Some("relayed"),
            false => Some("direct"),
        }
    }

    /// Lines of the metrics that begin with a name.
    pub(crate) fn metric(&self, name: &str) -> String {
        let text = self.text("/metrics").unwrap_or_default();
        let lines = text.lines().filter(|line| line.starts_with(name));
        lines.collect::<Vec<_>>().join(", ")
    }

    /// End of the node's log.
    pub(crate) fn log(&self) -> String {
        self.process.log_tail()
    }

    /// Ends the node as its service manager would.
    pub(crate) fn stop(mut self) {
        // `ip netns exec` becomes the program, so it is the process itself.
        self.process.signal(Signal::TERM);
        self.process.wait_for_end(END_LIMIT);
    }
}
