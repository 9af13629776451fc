//! The demo's attack: a member publishes more than its limit, and its peers disconnect it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use undertone_message::{MessageHash, WakuMessage};
use undertone_node::driver::{NodeEvent, TimedEvent};
use undertone_rln::RecoveredSecret;

use super::error::DemoError;
use super::line::{DemoLine, DemoNode};
use crate::Progress;
use crate::attack::ReusedIds;
use crate::in_process::connected;

/// Registered limit of the spammer, messages per epoch.
const LIMIT: u32 = 5;

/// Number of messages that the spammer publishes, meant for one epoch.
const ATTEMPTS: u32 = 30;

/// Upper bound on sending and processing all messages on a loaded machine.
const SPAMMING: Duration = Duration::from_secs(10);

/// Nodes of the line that the spammer connects to.
const VICTIMS: [usize; 3] = [1, 2, 3];

/// Time limit for the spammer to join the meshes, and for its isolation after its last message.
const ISOLATION_LIMIT: Duration = Duration::from_secs(10);

/// Outcome of the spam attack.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Spam {
    /// Messages that the spammer published.
    pub attempted: u32,
    /// Messages of the spammer that reached every honest node.
    pub delivered: usize,
    /// Whether an honest node recovered the spammer's secret.
    pub secret_recovered: bool,
    /// Number of peers that the spammer has at the end.
    pub spammer_peers_left: usize,
    /// Time from the first message over the limit until the last node graylisted the spammer; `None` if
    /// the spammer kept a peer or nobody graylisted it.
    pub isolated_after_ms: Option<f64>,
    /// Secret that a node recovered, if equal to the spammer's.
    #[serde(skip)]
    pub secret: Option<RecoveredSecret>,
    /// Registered limit of the spammer, for the table.
    #[serde(skip)]
    pub limit: u32,
    /// Nodes that graylisted the spammer, each with the time since the first message over the limit, ms.
    #[serde(skip)]
    pub disconnected_by: Vec<(usize, f64)>,
}

pub(crate) async fn attack(
    line: &mut DemoLine,
    progress: &dyn Progress,
) -> Result<Spam, DemoError> {
    progress.step("a sixth node joins");
    let member = line.register(LIMIT).await?;
    let secret = *member.credentials.identity.secret();
    let proofs = ReusedIds::new(member.credentials);
    let spammer = line.node(Box::new(proofs), member.view, Vec::new()).await?;
    join(line, &spammer).await?;
    within_one_epoch(line, progress).await;
    let (over_limit_at, hashes) = publish_all(line, &spammer, progress).await;

    progress.step("waiting for its peers to turn away");
    let deadline = Instant::now() + ISOLATION_LIMIT;
    while connected(&spammer.running.handle).await > 0 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let spammer_peers_left = connected(&spammer.running.handle).await;
    let spammer_id = spammer.running.peer_id;

    let mut delivered: Option<BTreeSet<_>> = None;
    let mut exposed = None;
    let mut disconnected_by = Vec::new();
    let mut last = None;
    for (i, node) in line.nodes.iter_mut().enumerate() {
        let got = drain_deliveries(node);
        let got = got.intersection(&hashes).copied().collect();
        delivered = Some(match delivered {
            Some(all) => all.intersection(&got).copied().collect(),
            None => got,
        });
        while let Ok(TimedEvent { at, event }) = node.events.try_recv() {
            match event {
                NodeEvent::SpammerExposed {
                    secret: recovered, ..
                } => {
                    exposed = exposed.or(Some(recovered).filter(|it| *it.secret() == secret));
                }
                NodeEvent::Graylisted { peer, .. } if peer == spammer_id => {
                    let after = at.saturating_duration_since(over_limit_at);
                    disconnected_by.push((i, after.as_secs_f64() * 1e3));
                    last = last.max(Some(after));
                }
                _ => {}
            }
        }
    }
    spammer.running.stop().await;
    let isolated = last.filter(|_| spammer_peers_left == 0);
    Ok(Spam {
        attempted: ATTEMPTS,
        delivered: delivered.map_or(0, |all| all.len()),
        secret_recovered: exposed.is_some(),
        spammer_peers_left,
        isolated_after_ms: isolated.map(|after| after.as_secs_f64() * 1e3),
        secret: exposed,
        limit: LIMIT,
        disconnected_by,
    })
}

/// Connects the spammer to its victims and waits until it is in their meshes.
async fn join(line: &DemoLine, spammer: &DemoNode) -> Result<(), DemoError> {
    for victim in VICTIMS {
        if let Some(address) = line.nodes[victim].running.addresses.first() {
            let connected = spammer.running.handle.connect(address.clone()).await;
            connected.map_err(|reason| DemoError::Spammer {
                node: victim,
                reason,
            })?;
        }
    }
    let deadline = Instant::now() + ISOLATION_LIMIT;
    while in_mesh(line, spammer).await < VICTIMS.len() && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// Waits for the next epoch if the current one would end during the spam: the spammer could then use its
/// limit twice.
async fn within_one_epoch(line: &DemoLine, progress: &dyn Progress) {
    let Some(rln) = &line.network.relay.rln else {
        return;
    };
    let epoch_ms = u128::from(rln.policy.epoch_size_s.max(1)) * 1_000;
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let passed_ms = now.unwrap_or_default().as_millis() % epoch_ms;
    let left_ms = epoch_ms - passed_ms;
    if left_ms < SPAMMING.as_millis() && epoch_ms > SPAMMING.as_millis() {
        progress.step("waiting for the next epoch");
        let left_ms = u64::try_from(left_ms).expect("shorter than ten seconds");
        tokio::time::sleep(Duration::from_millis(left_ms)).await;
    }
}

/// Returns the number of honest nodes that have the spammer in a mesh.
async fn in_mesh(line: &DemoLine, spammer: &DemoNode) -> usize {
    let mut count = 0;
    for victim in VICTIMS {
        let peers = line.nodes[victim]
            .running
            .handle
            .peers()
            .await
            .unwrap_or_default();
        count += peers
            .iter()
            .filter(|peer| peer.peer_id == spammer.running.peer_id && !peer.in_mesh.is_empty())
            .count();
    }
    count
}

/// Publishes all spam; returns when the first message over the limit went out, and the hashes of all
/// messages sent.
async fn publish_all(
    line: &DemoLine,
    spammer: &DemoNode,
    progress: &dyn Progress,
) -> (Instant, BTreeSet<MessageHash>) {
    let mut over_limit_at = Instant::now();
    let mut hashes = BTreeSet::new();
    for i in 0..ATTEMPTS {
        progress.step(&format!(
            "spam: message {} of {ATTEMPTS}, limit {LIMIT}",
            i + 1
        ));
        let text = format!("buy now, offer number {i}");
        let message = WakuMessage::new(text.into_bytes(), "/undertone/1/demo/proto");
        let sent = spammer
            .running
            .handle
            .publish(line.network.topic.clone(), message)
            .await;
        if i == LIMIT {
            over_limit_at = Instant::now();
        }
        // Fails once the spammer has no peers left to publish to.
        if let Ok(published) = sent {
            hashes.insert(published.hash());
        }
    }
    (over_limit_at, hashes)
}

/// Takes all waiting deliveries from a node's queue, and returns their hashes.
fn drain_deliveries(node: &mut DemoNode) -> BTreeSet<MessageHash> {
    let mut hashes = BTreeSet::new();
    while let Ok(delivery) = node.deliveries.try_recv() {
        hashes.insert(delivery.hash());
    }
    hashes
}
