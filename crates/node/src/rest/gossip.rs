//! The route `/debug/v1/gossip`: totals of the router. nwaku has no such route.

use axum::{Json, Router, extract::State, routing::get};
use serde::Serialize;

use super::{App, errors::ApiError};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/debug/v1/gossip", get(state))
}

/// Totals of the router since the start.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GossipBody {
    frames_received: u64,
    first_copies_received: u64,
    duplicates_received: u64,
    copies_sent: u64,
    copies_cancelled: u64,
    copies_dropped: u64,
}

async fn state(State(app): State<App>) -> Result<Json<GossipBody>, ApiError> {
    let stats = app.handle.gossip().await?.stats;
    Ok(Json(GossipBody {
        frames_received: stats.frames_received,
        first_copies_received: stats.messages_received,
        duplicates_received: stats.duplicates_received,
        copies_sent: stats.messages_sent,
        copies_cancelled: stats.sends_cancelled,
        copies_dropped: stats.sends_dropped,
    }))
}
