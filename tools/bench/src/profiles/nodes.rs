//! Processes of an implementation, each in a host of the emulated network.

use std::time::Duration;

use futures::future::try_join_all;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep_until};
use undertone_conformance::{PeerCommand, PeerError, PeerProcess};
use undertone_sim::{Plan, Scenario};
use undertone_testbed::{Host, Testbed, TestbedError};

use crate::profiles::ProfilesError;
use crate::profiles::peer_kind::PeerKind;

/// Port at which every node listens.
const PORT: u16 = 4001;

/// Returns the command line of a node at an address, with the scenario's parameters.
fn command(
    scenario: &Scenario,
    implementation: PeerKind,
    host: &Host,
) -> Result<PeerCommand, ProfilesError> {
    let degrees = &scenario.relay.gossip.degrees;
    let label = format!("node {}", host.index());
    let listen = format!("/ip4/{}/tcp/{PORT}", host.address());
    Ok(implementation
        .command()?
        .labelled(label)
        .option("listen", listen)
        .option("d", degrees.d)
        .option("d-low", degrees.d_low)
        .option("d-high", degrees.d_high)
        .option("d-lazy", degrees.d_lazy)
        .option("heartbeat-ms", scenario.relay.gossip.heartbeat.as_millis())
        .option("flood-publish", false)
        .option("max-message-bytes", scenario.relay.max_message_bytes))
}

/// Starts a node on each host, subscribed to the topic.
pub(crate) async fn start(
    scenario: &Scenario,
    implementation: PeerKind,
    testbed: &Testbed,
    topic: &str,
) -> Result<Vec<PeerProcess>, ProfilesError> {
    let mut peers = Vec::new();
    for host in testbed.hosts() {
        let command = command(scenario, implementation, host)?;
        let mut peer = spawn_in(host, command).await?;
        peer.subscribe(topic).await?;
        peers.push(peer);
    }
    Ok(peers)
}

/// Starts a process in a host's namespace; the thread that starts it must be in that namespace.
async fn spawn_in(host: &Host, command: PeerCommand) -> Result<PeerProcess, ProfilesError> {
    let runtime = Handle::current();
    let thread = host.spawn(move || runtime.block_on(PeerProcess::spawn(&command)))?;
    let joined = tokio::task::block_in_place(|| thread.join());
    let what = "a thread that starts a node";
    Ok(joined.map_err(|_| TestbedError::Gone { what })??)
}

/// Makes the connections of the plan, each at its time after `zero`, the plan's time 0. The connections of one node
/// are made one after another, however late that makes them.
pub(crate) async fn connect(
    peers: &mut [PeerProcess],
    testbed: &Testbed,
    plan: &Plan,
    zero: Instant,
) -> Result<(), PeerError> {
    let hosts = testbed.hosts().iter();
    let addresses: Vec<_> = hosts
        .zip(peers.iter())
        .map(|(host, peer)| format!("/ip4/{}/tcp/{PORT}/p2p/{}", host.address(), peer.peer_id()))
        .collect();
    let dials = plan.dials();
    let (addresses, dials) = (&addresses, &dials);
    let diallers = peers.iter_mut().zip(0u32..).map(|(peer, node)| async move {
        for dial in dials.iter().filter(|dial| dial.from == node) {
            sleep_until(zero + Duration::from_nanos(dial.at_ns)).await;
            peer.connect(&addresses[dial.to as usize]).await?;
        }
        Ok::<_, PeerError>(())
    });
    try_join_all(diallers).await.map(drop)
}
