//! A node as a program in a namespace, asked over REST from within it.

use std::fs;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::net::{Host, Wall, within};

/// Address of REST within the namespace.
const REST: &str = "http://127.0.0.1:8645";

/// A running node.
pub(crate) struct Node {
    pub(crate) name: String,
    namespace: String,
    folder: tempfile::TempDir,
    child: Child,
}

impl Node {
    /// Starts a node and waits until REST answers.
    pub(crate) fn start(host: &Host, flags: &[&str], peers: &[String]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let log = fs::File::create(folder.path().join("log")).expect("the folder is there");
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
            folder,
            child,
        };
        let answers = super::wait(super::REACHING, || node.get("/info").is_some());
        assert!(answers, "{} does not start: {}", node.name, node.log());
        node
    }

    fn curl(&self) -> Command {
        let mut command = within(&self.namespace, "curl");
        command.args(["--silent", "--fail", "--max-time", "15"]);
        command
    }

    fn text(&self, path: &str) -> Option<String> {
        let output = self.curl().arg(format!("{REST}{path}")).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then_some(text)
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
            let mut post = self.curl();
            post.args([
                "--header",
                "content-type: application/json",
                "--data",
                &body,
            ]);
            let output = post.arg(format!("{REST}/admin/v1/peers")).output();
            if output.is_ok_and(|output| output.status.success()) {
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
        let text = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(40)..].join("\n")
    }

    /// Ends the node as its service manager would.
    pub(crate) fn stop(mut self) {
        let pid = self.child.id().to_string();
        // `ip netns exec` becomes the program, so it is the child itself.
        let _ = Command::new("kill").args(["-TERM", &pid]).status();
        let _ = self.child.wait();
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
