//! The routes under `/admin/v1`: peers, connections and log level.

use axum::{
    Json,
    extract::{Path, State},
    response::Response,
};
use libp2p::{Multiaddr, PeerId};
use tracing::Level;
use undertone_message::Shard;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    App,
    body::JsonBody,
    errors::{ApiError, NodeStopped},
    ok,
    peers::{
        FilterSubscription, Grouping, Ordered, PeersOfShard, WakuPeer, by_shard, on_shard,
        statistics, with_services,
    },
};
use undertone_network::command::{Connectedness, PeerSnapshot};
use undertone_network::handle::Stopped;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(all, connect))
        .routes(routes!(single))
        .routes(routes!(service))
        .routes(routes!(connected))
        .routes(routes!(connected_on))
        .routes(routes!(relay))
        .routes(routes!(relay_on))
        .routes(routes!(mesh))
        .routes(routes!(mesh_on))
        .routes(routes!(stats))
        .routes(routes!(filter_subscriptions))
        .routes(routes!(log_level))
}

type JsonResult<T> = Result<Json<T>, ApiError>;

fn listed<'a>(peers: impl Iterator<Item = &'a PeerSnapshot>) -> Json<Vec<WakuPeer>> {
    Json(peers.map(WakuPeer::listed).collect())
}

/// All known peers
#[utoipa::path(
    get,
    path = "/admin/v1/peers",
    operation_id = "peers",
    tag = "admin",
    responses(
        (status = 200, description = "Peers", body = Vec<WakuPeer>),
        NodeStopped,
    ),
)]
async fn all(State(app): State<App>) -> JsonResult<Vec<WakuPeer>> {
    Ok(listed(app.handle.peers().await?.iter()))
}

/// One known peer
#[utoipa::path(
    get,
    path = "/admin/v1/peer/{peerId}",
    operation_id = "peer",
    tag = "admin",
    params(
        ("peerId" = String, Path, description = "Peer id"),
    ),
    responses(
        (status = 200, description = "The peer", body = WakuPeer),
        (status = 400, description = "`Invalid argument:…`", content_type = "text/plain", body = String),
        (status = 404, description = "`Peer with ID … not found`", content_type = "text/plain", body = String),
        NodeStopped,
    ),
)]
async fn single(State(app): State<App>, Path(text): Path<String>) -> JsonResult<WakuPeer> {
    let peer_id: PeerId = text
        .parse()
        .map_err(|e| ApiError::BadRequest(format!("Invalid argument:{e}")))?;
    let peers = app.handle.peers().await?;
    let peer = peers
        .iter()
        .find(|peer| peer.peer_id == peer_id)
        .ok_or_else(|| ApiError::NotFound(format!("Peer with ID {peer_id} not found")))?;
    Ok(Json(WakuPeer::listed(peer)))
}

/// Peers that offer a service
///
/// Each peer is listed with its service protocols only.
#[utoipa::path(
    get,
    path = "/admin/v1/peers/service",
    operation_id = "servicePeers",
    tag = "admin",
    responses(
        (status = 200, description = "Peers", body = Vec<WakuPeer>),
        NodeStopped,
    ),
)]
async fn service(State(app): State<App>) -> JsonResult<Vec<WakuPeer>> {
    Ok(Json(with_services(&app.handle.peers().await?)))
}

fn is_connected(peer: &&PeerSnapshot) -> bool {
    peer.connected == Connectedness::Connected
}

/// All connected peers
#[utoipa::path(
    get,
    path = "/admin/v1/peers/connected",
    operation_id = "connectedPeers",
    tag = "admin",
    responses(
        (status = 200, description = "Peers", body = Vec<WakuPeer>),
        NodeStopped,
    ),
)]
async fn connected(State(app): State<App>) -> JsonResult<Vec<WakuPeer>> {
    Ok(listed(
        app.handle.peers().await?.iter().filter(is_connected),
    ))
}

/// Connected peers of a shard
#[utoipa::path(
    get,
    path = "/admin/v1/peers/connected/on/{shard}",
    operation_id = "connectedPeersOn",
    tag = "admin",
    params(
        ("shard" = u16, Path, description = "Number of a shard of the node's network"),
    ),
    responses(
        (status = 200, description = "Peers", body = Vec<WakuPeer>),
        (status = 400, description = "`Invalid shardId: …`", content_type = "text/plain", body = String),
        NodeStopped,
    ),
)]
async fn connected_on(
    State(app): State<App>,
    Path(text): Path<String>,
) -> JsonResult<Vec<WakuPeer>> {
    let shard = parse_shard(&app, &text)?;
    let peers = app.handle.peers().await?;
    let on_shard = |peer: &&PeerSnapshot| peer.shards.contains(&shard.index);
    Ok(listed(peers.iter().filter(is_connected).filter(on_shard)))
}

/// Gossip peers of each shard
#[utoipa::path(
    get,
    path = "/admin/v1/peers/relay",
    operation_id = "relayPeers",
    tag = "admin",
    responses(
        (status = 200, description = "Peers with scores", body = Vec<PeersOfShard>),
        (status = 503, description = "`Error: Relay Protocol is not mounted to the node`, or the node has stopped", content_type = "text/plain", body = String),
    ),
)]
async fn relay(State(app): State<App>) -> JsonResult<Vec<PeersOfShard>> {
    grouped(&app, Grouping::Relay).await
}

/// Mesh peers of each shard
#[utoipa::path(
    get,
    path = "/admin/v1/peers/mesh",
    operation_id = "meshPeers",
    tag = "admin",
    responses(
        (status = 200, description = "Peers with scores", body = Vec<PeersOfShard>),
        (status = 503, description = "`Error: Relay Protocol is not mounted to the node`, or the node has stopped", content_type = "text/plain", body = String),
    ),
)]
async fn mesh(State(app): State<App>) -> JsonResult<Vec<PeersOfShard>> {
    grouped(&app, Grouping::Mesh).await
}

/// Gossip peers of a shard
#[utoipa::path(
    get,
    path = "/admin/v1/peers/relay/on/{shard}",
    operation_id = "relayPeersOn",
    tag = "admin",
    params(
        ("shard" = u16, Path, description = "Number of a shard of the node's network"),
    ),
    responses(
        (status = 200, description = "Peers with scores", body = PeersOfShard),
        (status = 400, description = "`Invalid shardId: …`", content_type = "text/plain", body = String),
        (status = 503, description = "`Error: Relay Protocol is not mounted to the node`, or the node has stopped", content_type = "text/plain", body = String),
    ),
)]
async fn relay_on(State(app): State<App>, Path(text): Path<String>) -> JsonResult<PeersOfShard> {
    grouped_on(&app, &text, Grouping::Relay).await
}

/// Mesh peers of a shard
#[utoipa::path(
    get,
    path = "/admin/v1/peers/mesh/on/{shard}",
    operation_id = "meshPeersOn",
    tag = "admin",
    params(
        ("shard" = u16, Path, description = "Number of a shard of the node's network"),
    ),
    responses(
        (status = 200, description = "Peers with scores", body = PeersOfShard),
        (status = 400, description = "`Invalid shardId: …`", content_type = "text/plain", body = String),
        (status = 503, description = "`Error: Relay Protocol is not mounted to the node`, or the node has stopped", content_type = "text/plain", body = String),
    ),
)]
async fn mesh_on(State(app): State<App>, Path(text): Path<String>) -> JsonResult<PeersOfShard> {
    grouped_on(&app, &text, Grouping::Mesh).await
}

async fn grouped(app: &App, grouping: Grouping) -> JsonResult<Vec<PeersOfShard>> {
    require_relay(app)?;
    let info = app.handle.info().await?;
    Ok(Json(by_shard(
        &app.handle.peers().await?,
        &info.subscriptions,
        grouping,
    )))
}

async fn grouped_on(app: &App, text: &str, grouping: Grouping) -> JsonResult<PeersOfShard> {
    let shard = parse_shard(app, text)?;
    require_relay(app)?;
    Ok(Json(on_shard(&app.handle.peers().await?, shard, grouping)))
}

fn parse_shard(app: &App, text: &str) -> Result<Shard, ApiError> {
    let index = text
        .parse()
        .map_err(|e| ApiError::BadRequest(format!("Invalid shardId: {e}")))?;
    Ok(Shard {
        cluster: app.config.network.cluster_id,
        index,
    })
}

fn require_relay(app: &App) -> Result<(), ApiError> {
    if app.config.relay {
        return Ok(());
    }
    Err(ApiError::Unavailable(
        "Error: Relay Protocol is not mounted to the node".into(),
    ))
}

/// Counts of peers
///
/// By connectedness, shard and protocol.
#[utoipa::path(
    get,
    path = "/admin/v1/peers/stats",
    operation_id = "peerStats",
    tag = "admin",
    responses(
        (status = 200, description = "Groups of counts", body = BTreeMap<String, BTreeMap<String, usize>>),
        NodeStopped,
    ),
)]
async fn stats(State(app): State<App>) -> JsonResult<Ordered<Ordered<usize>>> {
    let info = app.handle.info().await?;
    Ok(Json(statistics(
        &app.handle.peers().await?,
        &info.subscriptions,
    )))
}

/// Peers that are subscribed to messages at this node
#[utoipa::path(
    get,
    path = "/admin/v1/filter/subscriptions",
    operation_id = "filterSubscriptions",
    tag = "admin",
    responses(
        (status = 200, description = "Subscriptions", body = Vec<FilterSubscription>),
        (status = 400, description = "`Error: Filter Protocol is not mounted to the node`", content_type = "text/plain", body = String),
        NodeStopped,
    ),
)]
async fn filter_subscriptions(State(app): State<App>) -> JsonResult<Vec<FilterSubscription>> {
    let subscribers = match &app.services {
        Some(services) => services.subscribers().map_err(|_| Stopped)?,
        None => None,
    };
    let subscribers = subscribers.ok_or_else(|| {
        ApiError::BadRequest("Error: Filter Protocol is not mounted to the node".into())
    })?;
    Ok(Json(
        subscribers
            .into_iter()
            .map(FilterSubscription::from)
            .collect(),
    ))
}

/// Changes the log level
///
/// NOTICE counts as INFO, and FATAL as ERROR.
#[utoipa::path(
    post,
    path = "/admin/v1/log-level/{level}",
    operation_id = "logLevel",
    tag = "admin",
    params(
        ("level" = String, Path, description = "TRACE, DEBUG, INFO, NOTICE, WARN, ERROR or FATAL"),
    ),
    responses(
        (status = 200, description = "`OK`", content_type = "text/plain", body = String),
        (status = 400, description = "`Invalid log-level: …`", content_type = "text/plain", body = String),
        (status = 500, description = "`The log level cannot be changed`", content_type = "text/plain", body = String),
    ),
)]
async fn log_level(State(app): State<App>, Path(text): Path<String>) -> Result<Response, ApiError> {
    let Some(level) = level_by_name(&text) else {
        return Err(ApiError::BadRequest(format!(
            "Invalid log-level: {text}; TRACE, DEBUG, INFO, NOTICE, WARN, ERROR or FATAL"
        )));
    };
    match app.config.log_level {
        Some(set) if set(level) => Ok(ok()),
        _ => Err(ApiError::Internal("The log level cannot be changed".into())),
    }
}

/// Parses a log level by its name or three-letter form, in any case. The reference node has levels that this node
/// lacks: NOTICE maps to INFO and FATAL to ERROR, so that everything asked for is logged.
pub fn level_by_name(name: &str) -> Option<Level> {
    match name.to_ascii_uppercase().as_str() {
        "TRACE" | "TRC" => Some(Level::TRACE),
        "DEBUG" | "DBG" => Some(Level::DEBUG),
        "INFO" | "INF" | "NOTICE" | "NTC" => Some(Level::INFO),
        "WARN" | "WRN" => Some(Level::WARN),
        "ERROR" | "ERR" | "FATAL" | "FTL" => Some(Level::ERROR),
        _ => None,
    }
}

/// Connects to peers
///
/// In order, up to the first failure.
#[utoipa::path(
    post,
    path = "/admin/v1/peers",
    operation_id = "connect",
    tag = "admin",
    request_body = Vec<String>,
    responses(
        (status = 200, description = "`OK`", content_type = "text/plain", body = String),
        (status = 400, description = "`Couldn't parse remote peer info: …` or `Failed to connect to peer at index: … - …`", content_type = "text/plain", body = String),
    ),
)]
async fn connect(
    State(app): State<App>,
    JsonBody(peers): JsonBody<Vec<String>>,
) -> Result<Response, ApiError> {
    for (i, text) in peers.iter().enumerate() {
        let address: Multiaddr = text.parse().map_err(|e| {
            ApiError::BadRequest(format!(
                "Couldn't parse remote peer info: MultiAddress.init [{e}]"
            ))
        })?;
        if let Err(failure) = app.handle.connect(address).await {
            tracing::debug!(%failure, "cannot connect to a peer named over REST");
            return Err(ApiError::BadRequest(format!(
                "Failed to connect to peer at index: {i} - {text}"
            )));
        }
    }
    Ok(ok())
}
