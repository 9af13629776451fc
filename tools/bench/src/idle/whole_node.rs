//! A node as operators run it, `undertone node`, with all services enabled.

use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::{Instant, sleep, sleep_until};
use undertone_attacks::node::{Node, NodeSpec};
use undertone_attacks::rest::{self, EventLines};
use undertone_attacks::{HostileError, ProcessLook};
use undertone_conformance::protocol::Stat;

use crate::idle::crowd::{IdleCrowd, NETWORK, SHARD};
use crate::idle::report::{Look, Usage};

/// Time limit for the node to know all the others.
const DEADLINE: Duration = Duration::from_secs(60);
/// Number of samples after the first.
const LOOKS: u32 = 4;

/// Connections that a node may have besides those of the crowd.
const SPARE_CONNECTIONS: usize = 100;

/// Node that is measured; a drop kills it.
pub(crate) struct WholeNode {
    node: Node,
    _events: EventLines,
    _folder: TempDir,
}

impl WholeNode {
    /// Starts the node with relay, store, filter, lightpush, peer exchange, REST and one event stream, and
    /// makes it dial the crowd.
    pub(crate) async fn start(program: &Path, crowd: &IdleCrowd) -> Result<Self, HostileError> {
        let failed = |what| move |source| HostileError::Io { what, source };
        let folder = tempfile::tempdir().map_err(failed("cannot make a folder"))?;
        let connections = crowd.addrs().len() + SPARE_CONNECTIONS;
        let flags = [
            format!("--network={NETWORK}"),
            format!("--shards={SHARD}"),
            "--rln=false".to_owned(),
            "--store=true".to_owned(),
            format!("--max-connections={connections}"),
            format!("--max-clients={connections}"),
        ];
        let spec = NodeSpec {
            program: program.to_owned(),
            name: "whole".to_owned(),
            folder: folder.path().to_owned(),
            ip: Ipv4Addr::LOCALHOST,
            flags: flags.into(),
        };
        let node = Node::start(spec).await?;
        let events = rest::events(node.rest(), "/events/v1/messages", None).await;
        let events = events.map_err(failed("cannot open an event stream"))?;
        for addr in crowd.addrs() {
            node.connect(&addr.parse().expect("a node's own address is one"))
                .await;
        }
        Ok(Self {
            node,
            _events: events,
            _folder: folder,
        })
    }

    /// Waits until the node knows the whole crowd, and `settle_s` seconds more; returns the size of its mesh.
    pub(crate) async fn settle(
        &self,
        connections: usize,
        settle_s: u32,
    ) -> Result<usize, HostileError> {
        let knows_all = self.node.wait_peers(DEADLINE, |peers| {
            peers.len() >= connections && peers.values().any(|peer| peer.meshes > 0)
        });
        if !knows_all.await {
            return Err(HostileError::Late {
                waiting_for: format!("acquaintance with {connections} nodes"),
                deadline_s: DEADLINE.as_secs(),
            });
        }
        sleep(Duration::from_secs(settle_s.into())).await;
        let peers = self.node.peers().await?;
        Ok(peers.values().filter(|peer| peer.meshes > 0).count())
    }

    /// Measures the node for `time` from outside.
    pub(crate) async fn watch(&self, time: Duration) -> Usage {
        let start = Instant::now();
        let mut looks = vec![self.look(start)];
        for look in 1..=LOOKS {
            sleep_until(start + time * look / LOOKS).await;
            looks.push(self.look(start));
        }
        Usage::of(&looks)
    }

    fn look(&self, start: Instant) -> Look {
        let look = ProcessLook::at(self.node.pid().unwrap_or(0));
        Look {
            at: start.elapsed(),
            stat: Stat {
                cpu_us: (look.cpu_s * 1e6) as u64,
                rss_kib: (look.memory_mib * 1024.0) as u64,
            },
        }
    }
}
