//! The routes under `/admin/v1`: peers, connections and log level.

use axum::{
    Json, Router,
    extract::{Path, State},
    response::Response,
    routing::{get, post},
};
use libp2p::{Multiaddr, PeerId};
use undertone_message::Shard;

use super::{
    App,
    body::JsonBody,
    errors::ApiError,
    ok,
    peers::{
        Grouping, Ordered, PeersOfShard, WakuPeer, by_shard, on_shard, statistics, with_services,
    },
};
use crate::command::{Connectedness, PeerSnapshot};
use crate::config::LogLevel;

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/admin/v1/peers", get(all).post(connect))
        .route("/admin/v1/peer/{peer_id}", get(single))
        .route("/admin/v1/peers/service", get(service))
        .route("/admin/v1/peers/connected", get(connected))
        .route("/admin/v1/peers/connected/on/{shard}", get(connected_on))
        .route("/admin/v1/peers/relay", get(relay))
        .route("/admin/v1/peers/relay/on/{shard}", get(relay_on))
        .route("/admin/v1/peers/mesh", get(mesh))
        .route("/admin/v1/peers/mesh/on/{shard}", get(mesh_on))
        .route("/admin/v1/peers/stats", get(stats))
        .route("/admin/v1/filter/subscriptions", get(filter_subscriptions))
        .route("/admin/v1/log-level/{level}", post(log_level))
}

type JsonResult<T> = Result<Json<T>, ApiError>;

fn listed<'a>(peers: impl Iterator<Item = &'a PeerSnapshot>) -> Json<Vec<WakuPeer>> {
    Json(peers.map(WakuPeer::listed).collect())
}

async fn all(State(app): State<App>) -> JsonResult<Vec<WakuPeer>> {
    Ok(listed(app.handle.peers().await?.iter()))
}

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

async fn service(State(app): State<App>) -> JsonResult<Vec<WakuPeer>> {
    Ok(Json(with_services(&app.handle.peers().await?)))
}

fn is_connected(peer: &&PeerSnapshot) -> bool {
    peer.connected == Connectedness::Connected
}

async fn connected(State(app): State<App>) -> JsonResult<Vec<WakuPeer>> {
    Ok(listed(
        app.handle.peers().await?.iter().filter(is_connected),
    ))
}

async fn connected_on(
    State(app): State<App>,
    Path(text): Path<String>,
) -> JsonResult<Vec<WakuPeer>> {
    let shard = parse_shard(&app, &text)?;
    let peers = app.handle.peers().await?;
    let on_shard = |peer: &&PeerSnapshot| peer.shards.contains(&shard.index);
    Ok(listed(peers.iter().filter(is_connected).filter(on_shard)))
}

async fn relay(State(app): State<App>) -> JsonResult<Vec<PeersOfShard>> {
    grouped(&app, Grouping::Relay).await
}

async fn mesh(State(app): State<App>) -> JsonResult<Vec<PeersOfShard>> {
    grouped(&app, Grouping::Mesh).await
}

async fn relay_on(State(app): State<App>, Path(text): Path<String>) -> JsonResult<PeersOfShard> {
    grouped_on(&app, &text, Grouping::Relay).await
}

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

async fn stats(State(app): State<App>) -> JsonResult<Ordered<Ordered<usize>>> {
    let info = app.handle.info().await?;
    Ok(Json(statistics(
        &app.handle.peers().await?,
        &info.subscriptions,
    )))
}

async fn filter_subscriptions() -> ApiError {
    ApiError::BadRequest("Error: Filter Protocol is not mounted to the node".into())
}

/// Sets the log level by nwaku's names; a level between two of ours is set to the coarser one.
async fn log_level(State(app): State<App>, Path(text): Path<String>) -> Result<Response, ApiError> {
    let level = match text.to_ascii_uppercase().as_str() {
        "TRACE" | "TRC" => LogLevel::Trace,
        "DEBUG" | "DBG" => LogLevel::Debug,
        "INFO" | "INF" => LogLevel::Info,
        "NOTICE" | "NTC" | "WARN" | "WRN" => LogLevel::Warn,
        "ERROR" | "ERR" | "FATAL" | "FTL" => LogLevel::Error,
        _ => {
            return Err(ApiError::BadRequest(format!(
                "Invalid log-level: {text}; TRACE, DEBUG, INFO, NOTICE, WARN, ERROR or FATAL"
            )));
        }
    };
    match app.config.log_level {
        Some(set) if set(level) => Ok(ok()),
        _ => Err(ApiError::Internal("The log level cannot be changed".into())),
    }
}

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
