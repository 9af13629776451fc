//! The routes `/info` and `/version`, with their deprecated forms under `/debug/v1`.

use axum::{Json, Router, extract::State, routing::get};
use serde::Serialize;

use super::{App, errors::ApiError};

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/info", get(info))
        .route("/debug/v1/info", get(info))
        .route("/version", get(version))
        .route("/debug/v1/version", get(version))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InfoBody {
    listen_addresses: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enr_uri: Option<String>,
}

async fn info(State(app): State<App>) -> Result<Json<InfoBody>, ApiError> {
    let info = app.handle.info().await?;
    Ok(Json(InfoBody {
        listen_addresses: info
            .listen_addresses
            .iter()
            .map(ToString::to_string)
            .collect(),
        enr_uri: info.enr_uri,
    }))
}

async fn version(State(app): State<App>) -> String {
    app.config.version.clone()
}
