//! Two nodes that relay to each other: the measured one, and one that publishes.

use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;
use undertone_attacks::members::{Author, Members};
use undertone_attacks::node::{Node, NodeSpec};
use undertone_attacks::test_network::{prefix, pubsub_topic};
use undertone_attacks::{HostileError, ProcessLook};

/// Time limit for the nodes to join each other's mesh.
const MESHED: Duration = Duration::from_secs(60);
/// Connections that the measured node may have in addition to those of clients.
const OTHERS: u32 = 50;

/// The two nodes; a drop kills them.
pub(crate) struct ServingNetwork {
    /// Measured node.
    pub(crate) edge: Node,
    /// Node that publishes.
    pub(crate) far: Node,
    /// Member that makes proofs, on a network with rate limit.
    pub(crate) author: Option<Author>,
    _folder: TempDir,
}

impl ServingNetwork {
    pub(crate) async fn start(
        program: &Path,
        clients: u32,
        rln: bool,
    ) -> Result<Self, HostileError> {
        let failed = |source| HostileError::Io {
            what: "cannot make a folder",
            source,
        };
        let folder = tempfile::tempdir().map_err(failed)?;
        let mut author = None;
        let common = if rln {
            let mut members = Members::new(folder.path())?;
            author = Some(members.author(&folder.path().join("author"))?);
            members.flags()
        } else {
            vec!["--rln=false".to_owned()]
        };
        let spec = |name: &str, more: &[String]| {
            let flags = ["--network=local", "--cluster-id=66", "--shards=0"];
            NodeSpec {
                program: program.to_owned(),
                name: name.to_owned(),
                folder: folder.path().to_owned(),
                ip: Ipv4Addr::LOCALHOST,
                flags: flags
                    .iter()
                    .map(ToString::to_string)
                    .chain(common.clone())
                    .chain(more.iter().cloned())
                    .collect(),
            }
        };
        let connections = format!("--max-clients={}", clients + OTHERS);
        let edge = Node::start(spec("edge", &[connections])).await?;
        let peer = format!("--static-peers={}", edge.addr());
        let far = Node::start(spec("far", &[peer])).await?;
        let other = far.peer_id();
        let meshed = edge.wait_peers(MESHED, |peers| {
            peers.get(&other).is_some_and(|peer| peer.meshes == 1)
        });
        if !meshed.await {
            return Err(HostileError::Late {
                waiting_for: format!("mesh of the two nodes: {}", edge.state().await),
                deadline_s: MESHED.as_secs(),
            });
        }
        Ok(Self {
            edge,
            far,
            author,
            _folder: folder,
        })
    }

    /// Samples the process of the measured node.
    pub(crate) fn look(&self) -> ProcessLook {
        ProcessLook::at(self.edge.pid().unwrap_or(0))
    }

    /// Publishes a message through the far node; returns whether the node accepted it.
    pub(crate) async fn publish(&self, number: u32, payload_bytes: usize) -> bool {
        let payload = payload(number, payload_bytes);
        let far = &self.far;
        far.publish(&pubsub_topic(0), &topic(number), &payload)
            .await
    }
}

/// Returns the payload of a message, which starts with its number.
pub(crate) fn payload(number: u32, payload_bytes: usize) -> Vec<u8> {
    let mut payload = vec![0; payload_bytes.max(4)];
    payload[..4].copy_from_slice(&number.to_be_bytes());
    payload
}

/// Returns the content topic of a message; each message has its own.
pub(crate) fn topic(number: u32) -> String {
    format!("{}/{number}/proto", prefix(0))
}
