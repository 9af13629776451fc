//! Restart matrix: a node goes away in several ways and for several durations; measures when messages flow
//! again.

use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

use futures::{StreamExt as _, stream};
use serde::Serialize;

use super::node::Node;
use super::test_network::Ways;
use super::traffic::{Load, Troubled};
use super::{HostileError, StageOptions, TestNetwork};

/// Address from which the node dials after a change of address.
const NEW_ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 4, 1);
/// Time limit for messages to flow both ways after the node is back.
pub const FLOWS_WITHIN: Duration = Duration::from_secs(5);
/// Maximum latency of a message that travelled through a mesh.
const PROMPT: Duration = Duration::from_secs(1);
/// Down times of the matrix, seconds.
pub const DOWN_S: [u64; 4] = [0, 2, 15, 70];
/// Number of networks that run concurrently.
const AT_A_TIME: usize = 4;

/// How a node goes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// SIGTERM, then a new start.
    Terminated,
    /// SIGKILL, then a new start.
    Killed,
    /// SIGSTOP, then SIGCONT after the down time.
    Suspended,
    /// Change of address: the node dials from a new one, while its peer never sees the old connection end.
    AddressChanged,
    /// SIGKILL, while the peer never sees the old connection end; then a new start.
    PowerLost,
}

impl Way {
    /// All ways, in the order of the table.
    pub const ALL: [Self; 5] = [
        Self::Terminated,
        Self::Killed,
        Self::Suspended,
        Self::AddressChanged,
        Self::PowerLost,
    ];

    /// Returns the way's name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Terminated => "SIGTERM",
            Self::Killed => "SIGKILL",
            Self::Suspended => "suspend",
            Self::AddressChanged => "address change",
            Self::PowerLost => "power loss",
        }
    }
}

/// Result for one way and one down time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// How the node went away.
    pub way: Way,
    /// Time that the node was away, seconds.
    pub down_s: u64,
    /// Time after the node's return from which on every message arrived promptly in both directions, seconds.
    /// `None` if one of the last two messages did not.
    pub flows_after_s: Option<f64>,
    /// Last message that did not arrive promptly; `None` if all did.
    pub last_troubled: Option<Troubled>,
    /// Number of messages times receivers since the node's return.
    pub sent: usize,
    /// Number of these that arrived, prompt or late.
    pub delivered: usize,
    /// Lowest score that one honest node had of another at the end.
    pub lowest_score: Option<f64>,
}

impl Cell {
    /// Whether messages flowed in time and no honest node had a negative score.
    #[must_use]
    pub fn is_good(&self) -> bool {
        let in_time = |after_s: f64| after_s <= FLOWS_WITHIN.as_secs_f64();
        self.flows_after_s.is_some_and(in_time) && self.lowest_score.is_none_or(|low| low >= 0.0)
    }
}

/// Runs the matrix; returns the cells ordered by way and down time.
pub async fn run(program: &Path, down_s: &[u64]) -> Result<Vec<Cell>, HostileError> {
    let cells = Way::ALL
        .into_iter()
        .flat_map(|way| down_s.iter().map(move |down_s| (way, *down_s)));
    let running = cells.map(|(way, down_s)| cell(program, way, down_s, PROMPT));
    let done: Vec<_> = stream::iter(running).buffered(AT_A_TIME).collect().await;
    done.into_iter().collect()
}

/// Runs one cell on a new network: a client behind a proxy, the node that it is connected to, and a third
/// node. A message that takes longer than `prompt` does not count as flowing.
pub async fn cell(
    program: &Path,
    way: Way,
    down_s: u64,
    prompt: Duration,
) -> Result<Cell, HostileError> {
    let options = StageOptions {
        shards: 8,
        ways: Ways::Both,
        ..StageOptions::default()
    };
    let mut stage = TestNetwork::start(program, options).await?;
    go_away(&mut stage, way, Duration::from_secs(down_s)).await?;
    let load = Load {
        messages: 80,
        interval: Duration::from_millis(100),
        payload_bytes: 100,
        patience: PROMPT + prompt,
        prompt,
    };
    let measured = stage.measure(&load, 0).await;
    let last_troubled = measured.arrived.last_troubled;
    let flows_after_s = match last_troubled.as_ref().map(|last| last.message) {
        None => Some(0.0),
        Some(last) if last + 2 < load.messages => Some((load.interval * (last + 1)).as_secs_f64()),
        Some(_) => None,
    };
    Ok(Cell {
        way,
        down_s,
        flows_after_s,
        last_troubled,
        sent: measured.arrived.sent,
        delivered: measured.arrived.delivered,
        lowest_score: measured.lowest_score,
    })
}

/// Takes the client away and brings it back.
async fn go_away(stage: &mut TestNetwork, way: Way, down: Duration) -> Result<(), HostileError> {
    let client = stage.reader.as_mut().expect("there is a client");
    let proxy = stage.proxy.as_ref().expect("the client is behind a proxy");
    match way {
        Way::Terminated => client.terminate().await,
        Way::Killed => client.kill().await,
        Way::Suspended => client.suspend(),
        Way::AddressChanged => {
            proxy.set_closed(true);
            proxy.set_source(NEW_ADDRESS);
            proxy.cut();
        }
        Way::PowerLost => {
            proxy.silence();
            client.kill().await;
        }
    }
    tokio::time::sleep(down).await;
    match way {
        Way::Terminated | Way::Killed | Way::PowerLost => Node::launch(client).await?,
        Way::Suspended => client.resume(),
        Way::AddressChanged => proxy.set_closed(false),
    }
    Ok(())
}
