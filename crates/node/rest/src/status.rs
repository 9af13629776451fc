//! The route `/admin/v1/status`: what the page at `/` shows. nwaku has no such route.

use std::time::{SystemTime, UNIX_EPOCH};

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    App,
    errors::{ApiError, NodeStopped},
    health::{HealthBody, judged},
    validation_times::ValidationSummary,
};
use undertone_network::command::{
    Connectedness, MetricsSnapshot, PeerSnapshot, RlnSnapshot, TopicSnapshot,
};

#[cfg(test)]
#[path = "tests/status.rs"]
mod tests;

/// Most peers in an answer.
const PEERS_MAX: usize = 100;

/// Most shards in an answer.
const SHARDS_MAX: usize = 128;

/// Most protocols listed for a peer.
const PEER_PROTOCOLS_MAX: usize = 32;

/// Most characters of a text chosen by a peer.
const PEER_TEXT_CHARS_MAX: usize = 128;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(status))
}

/// Present state of the node
///
/// The parts are queried one after another, so a change in between shows in the later parts only. Clients compute
/// rates from the totals of two answers and the difference of `uptimeMs`.
#[utoipa::path(
    get,
    path = "/admin/v1/status",
    operation_id = "status",
    tag = "admin",
    responses(
        (status = 200, description = "State", body = LiveStatus),
        (status = 500, description = "`Health check timed out`", content_type = "text/plain", body = String),
        NodeStopped,
    ),
)]
async fn status(State(app): State<App>) -> Result<Json<LiveStatus>, ApiError> {
    let health = judged(&app).await?;
    let info = app.handle.info().await?;
    let metrics = *app.handle.metrics().await?;
    let peers = app.handle.peers().await?;
    let unix_ns = SystemTime::now().duration_since(UNIX_EPOCH);
    let unix_ns = i128::try_from(unix_ns.unwrap_or_default().as_nanos()).unwrap_or(i128::MAX);
    let unix_ns = unix_ns.saturating_add(app.config.clock_ahead_ns.into());
    let limits = app.config.network.rln.as_ref();
    let (peers, peers_left_out) = most_important(peers);
    let shards_left_out = metrics.topics.len().saturating_sub(SHARDS_MAX);
    Ok(Json(LiveStatus {
        uptime_ms: app.validation.uptime_ms(),
        version: app.config.version.clone(),
        network: app.config.network.name,
        cluster_id: app.config.network.cluster_id,
        peer_id: info.peer_id.to_string(),
        health,
        totals: LiveTotals::from(&metrics),
        validation: app.validation.summary(),
        checks_waiting: metrics.checks_waiting,
        connected_peers: metrics.peers,
        known_peers: metrics.known_peers,
        rln: metrics
            .rln
            .zip(limits)
            .map(|(rln, limits)| EpochQuota::new(rln, limits.epoch_size_s, unix_ns)),
        shards: metrics
            .topics
            .into_iter()
            .take(SHARDS_MAX)
            .map(LiveShard::from)
            .collect(),
        shards_left_out,
        peers,
        peers_left_out,
    }))
}

/// Present state of the node, gathered by several queries.
#[derive(Serialize, ToSchema)]
#[schema(as = Status)]
#[serde(rename_all = "camelCase")]
struct LiveStatus {
    /// Time since the API was started, milliseconds.
    uptime_ms: u64,
    version: String,
    network: &'static str,
    cluster_id: u16,
    peer_id: String,
    health: HealthBody,
    totals: LiveTotals,
    /// Validation times of the last messages of peers; `null` before the first.
    validation: Option<ValidationSummary>,
    /// Proofs whose verification the relay is waiting for.
    checks_waiting: usize,
    connected_peers: usize,
    known_peers: usize,
    /// Epoch and quota; `null` when rate limiting is off.
    rln: Option<EpochQuota>,
    /// Shards that the node is subscribed to, at most 128.
    shards: Vec<LiveShard>,
    shards_left_out: usize,
    /// Connected peers, at most 100: those in most meshes first, then by descending score.
    peers: Vec<LivePeer>,
    peers_left_out: usize,
}

/// Totals since the start of the node.
#[derive(Serialize, ToSchema)]
#[schema(as = StatusTotals)]
#[serde(rename_all = "camelCase")]
struct LiveTotals {
    /// Bytes of received frames.
    received_bytes: u64,
    /// Bytes of frames queued for peers; some are cancelled before they are written.
    queued_bytes: u64,
    /// Received messages, with duplicates.
    received_messages: u64,
    duplicate_messages: u64,
    /// Copies of messages sent to peers.
    sent_messages: u64,
    /// Valid messages, own and of peers.
    delivered: u64,
    published: u64,
    publish_failed: u64,
    rejected: u64,
}

/// Epoch of the rate limit and the node's messages in it.
#[derive(Serialize, ToSchema)]
#[schema(as = StatusQuota)]
#[serde(rename_all = "camelCase")]
struct EpochQuota {
    /// Number of the present epoch by the node's clock.
    epoch: u64,
    epoch_size_s: u64,
    epoch_ends_in_ms: u64,
    may_publish: bool,
    /// Reason why the node cannot publish now although it has a membership.
    refusal: Option<String>,
    /// Messages left in the epoch; `null` while unknown, and without a membership.
    left: Option<u64>,
    /// Messages allowed in each epoch; `null` when `left` is.
    limit: Option<u64>,
    members: Option<usize>,
    tokens_ready: Option<usize>,
}

/// Mesh of one shard.
#[derive(Serialize, ToSchema)]
#[schema(as = StatusShard)]
#[serde(rename_all = "camelCase")]
struct LiveShard {
    pubsub_topic: String,
    /// Peers in the node's mesh.
    mesh: usize,
    /// Connected peers that are subscribed.
    subscribers: usize,
    /// Bytes of messages received, with duplicates.
    received_bytes: u64,
    /// Bytes of copies queued for peers; some are cancelled before they are written.
    sent_bytes: u64,
    /// Copies that were dropped because the shard's bandwidth was used up.
    dropped: u64,
    /// Reason why messages of the shard reach nobody; `null` if they do.
    trouble: Option<&'static str>,
}

/// A connected peer.
#[derive(Serialize, ToSchema)]
#[schema(as = StatusPeer)]
#[serde(rename_all = "camelCase")]
struct LivePeer {
    peer_id: String,
    /// Address without the peer id; empty if none is known.
    multiaddr: String,
    /// `in` if the peer dialled this node, otherwise `out`.
    direction: &'static str,
    /// `tcp`, `ws`, `wss` or `quic`, of the present connection, or `relay` if that leads through another node.
    transport: Option<&'static str>,
    /// Agent as the peer named it, at most 128 characters.
    agent: String,
    score: f64,
    /// Topics in whose mesh the peer is, at most 128.
    in_mesh: Vec<String>,
    /// Protocol ids as the peer named them, at most 32 of at most 128 characters.
    protocols: Vec<String>,
    protocols_left_out: usize,
}

/// Returns the most important connected peers, at most [`PEERS_MAX`], and the number of those left out.
fn most_important(mut peers: Vec<PeerSnapshot>) -> (Vec<LivePeer>, usize) {
    peers.retain(|peer| peer.connected == Connectedness::Connected);
    peers.sort_by(|a, b| {
        let meshes = b.in_mesh.len().cmp(&a.in_mesh.len());
        meshes.then_with(|| b.score.total_cmp(&a.score))
    });
    let left_out = peers.len().saturating_sub(PEERS_MAX);
    peers.truncate(PEERS_MAX);
    (peers.into_iter().map(LivePeer::from).collect(), left_out)
}

fn shortened(text: &str) -> String {
    text.chars().take(PEER_TEXT_CHARS_MAX).collect()
}

impl From<PeerSnapshot> for LivePeer {
    fn from(peer: PeerSnapshot) -> Self {
        let named = peer.protocols.iter().take(PEER_PROTOCOLS_MAX);
        let in_mesh = peer.in_mesh.iter().take(SHARDS_MAX);
        Self {
            peer_id: peer.peer_id.to_string(),
            direction: if peer.is_inbound { "in" } else { "out" },
            transport: peer.transport,
            multiaddr: peer
                .multiaddr
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
            agent: shortened(&peer.agent),
            score: peer.score,
            in_mesh: in_mesh.map(ToString::to_string).collect(),
            protocols_left_out: peer.protocols.len().saturating_sub(PEER_PROTOCOLS_MAX),
            protocols: named.map(|id| shortened(id)).collect(),
        }
    }
}

impl From<TopicSnapshot> for LiveShard {
    fn from(topic: TopicSnapshot) -> Self {
        Self {
            trouble: match (topic.mesh, topic.subscribers) {
                (0, 0) => Some("no connected peer is subscribed"),
                (0, _) => Some("no subscribed peer is in the mesh"),
                _ => None,
            },
            pubsub_topic: topic.topic,
            mesh: topic.mesh,
            subscribers: topic.subscribers,
            received_bytes: topic.traffic.received_bytes,
            sent_bytes: topic.traffic.sent_bytes,
            dropped: topic.traffic.dropped,
        }
    }
}

impl From<&MetricsSnapshot> for LiveTotals {
    fn from(metrics: &MetricsSnapshot) -> Self {
        let (totals, stats) = (&metrics.totals, &metrics.gossip.stats);
        Self {
            received_bytes: totals.received_bytes,
            queued_bytes: totals.queued_bytes,
            received_messages: stats.messages_received,
            duplicate_messages: stats.duplicates_received,
            sent_messages: stats.messages_sent,
            delivered: totals.delivered,
            published: totals.published,
            publish_failed: totals.publish_failed,
            rejected: totals.rejected.values().sum(),
        }
    }
}

impl EpochQuota {
    /// Creates the quota for the epoch that contains `unix_ns`, by the node's clock.
    fn new(rln: RlnSnapshot, epoch_size_s: u64, unix_ns: i128) -> Self {
        let unix_ms = u64::try_from(unix_ns / 1_000_000).unwrap_or_default();
        let size_ms = epoch_size_s.saturating_mul(1000).max(1);
        Self {
            epoch: unix_ms / size_ms,
            epoch_size_s,
            epoch_ends_in_ms: size_ms - unix_ms % size_ms,
            may_publish: rln.may_publish && rln.refusal.is_none(),
            refusal: rln.refusal,
            left: rln.allowance.map(|allowance| allowance.left),
            limit: rln.allowance.map(|allowance| allowance.limit),
            members: rln.membership.members,
            tokens_ready: rln.tokens.map(|tokens| tokens.state.ready),
        }
    }
}
