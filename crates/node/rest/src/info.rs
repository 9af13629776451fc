//! The routes `/info` and `/version`, with their deprecated forms under `/debug/v1`.

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    App,
    errors::{ApiError, NodeStopped},
};
use undertone_network::command::Reachable;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(info))
        .routes(routes!(old_info))
        .routes(routes!(version))
        .routes(routes!(old_version))
}

/// Addresses of the node.
#[derive(Serialize, ToSchema)]
#[schema(as = Info)]
#[serde(rename_all = "camelCase")]
struct InfoBody {
    /// Addresses with peer id.
    listen_addresses: Vec<String>,
    /// Signed record of EIP-778; missing if the key is not secp256k1.
    #[serde(skip_serializing_if = "Option::is_none")]
    enr_uri: Option<String>,
    /// Whether peers can reach the node, by their own reports: `yes`, `no` or `unknown`.
    reachable: &'static str,
}

/// Addresses with peer id
#[utoipa::path(
    get,
    path = "/info",
    operation_id = "info",
    tag = "node",
    responses(
        (status = 200, description = "Addresses", body = InfoBody),
        NodeStopped,
    ),
)]
async fn info(State(app): State<App>) -> Result<Json<InfoBody>, ApiError> {
    let info = app.handle.info().await?;
    Ok(Json(InfoBody {
        listen_addresses: info
            .listen_addresses
            .iter()
            .map(ToString::to_string)
            .collect(),
        enr_uri: info.enr_uri,
        reachable: match info.reachable {
            Reachable::Yes => "yes",
            Reachable::No => "no",
            Reachable::Unknown => "unknown",
        },
    }))
}

/// Addresses with peer id
///
/// Deprecated form of `/info`.
#[utoipa::path(
    get,
    path = "/debug/v1/info",
    operation_id = "oldInfo",
    tag = "node",
    responses(
        (status = 200, description = "Addresses", body = InfoBody),
        NodeStopped,
    ),
)]
async fn old_info(state: State<App>) -> Result<Json<InfoBody>, ApiError> {
    info(state).await
}

/// Version of the node
#[utoipa::path(
    get,
    path = "/version",
    operation_id = "version",
    tag = "node",
    responses(
        (status = 200, description = "Version", content_type = "text/plain", body = String),
    ),
)]
async fn version(State(app): State<App>) -> String {
    app.config.version.clone()
}

/// Version of the node
///
/// Deprecated form of `/version`.
#[utoipa::path(
    get,
    path = "/debug/v1/version",
    operation_id = "oldVersion",
    tag = "node",
    responses(
        (status = 200, description = "Version", content_type = "text/plain", body = String),
    ),
)]
async fn old_version(state: State<App>) -> String {
    version(state).await
}
