//! The route `/debug/v1/gossip`: totals of the gossip router. nwaku has no such route.

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    App,
    errors::{ApiError, NodeStopped},
};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(state))
}

/// Totals of the gossip router since the start.
#[derive(Serialize, ToSchema)]
#[schema(as = Gossip)]
#[serde(rename_all = "camelCase")]
struct GossipBody {
    frames_received: u64,
    first_copies_received: u64,
    duplicates_received: u64,
    copies_sent: u64,
    copies_cancelled: u64,
    copies_dropped: u64,
}

/// Totals of the gossip router since the start
#[utoipa::path(
    get,
    path = "/debug/v1/gossip",
    operation_id = "gossip",
    tag = "node",
    responses(
        (status = 200, description = "Totals", body = GossipBody),
        NodeStopped,
    ),
)]
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
