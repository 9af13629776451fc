//! The route `/health`: health of the node and its protocols.

use axum::{Json, Router, extract::State, routing::get};
use serde::{Serialize, Serializer, ser::SerializeMap as _};
use tokio::time::timeout;

use super::{ANSWER_TIMEOUT, App, errors::ApiError};
use crate::command::{ConnectionStatus, HealthReport, HealthStatus, ProtocolHealth};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/health", get(health))
}

async fn health(State(app): State<App>) -> Result<Json<HealthBody>, ApiError> {
    match timeout(ANSWER_TIMEOUT, app.handle.health()).await {
        Err(_) => Err(ApiError::Internal("Health check timed out".into())),
        Ok(Err(_)) => Err(ApiError::Unavailable("Health check failed".into())),
        Ok(Ok(mut report)) => {
            if !app.config.relay {
                report.protocols.iter_mut().for_each(unmount_relay);
            }
            Ok(Json(report.into()))
        }
    }
}

/// Marks relay as not mounted: without relaying, a lack of peers is not a fault.
fn unmount_relay(health: &mut ProtocolHealth) {
    if health.protocol == "Relay" {
        health.status = HealthStatus::NotMounted;
        health.desc = None;
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HealthBody {
    node_health: &'static str,
    connection_status: &'static str,
    protocols_health: Vec<ProtocolBody>,
}

/// JSON form `{"<protocol>": "<status>", "desc": "<why>"}`, with `desc` only if there is a description.
struct ProtocolBody(ProtocolHealth);

impl Serialize for ProtocolBody {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(self.0.protocol, status(self.0.status))?;
        if let Some(desc) = &self.0.desc {
            map.serialize_entry("desc", desc)?;
        }
        map.end()
    }
}

impl From<HealthReport> for HealthBody {
    fn from(report: HealthReport) -> Self {
        Self {
            node_health: status(report.node),
            connection_status: match report.connection {
                ConnectionStatus::Disconnected => "Disconnected",
                ConnectionStatus::PartiallyConnected => "PartiallyConnected",
                ConnectionStatus::Connected => "Connected",
            },
            protocols_health: report.protocols.into_iter().map(ProtocolBody).collect(),
        }
    }
}

fn status(status: HealthStatus) -> &'static str {
    match status {
        HealthStatus::Initializing => "INITIALIZING",
        HealthStatus::Synchronizing => "SYNCHRONIZING",
        HealthStatus::Ready => "READY",
        HealthStatus::NotReady => "NOT_READY",
        HealthStatus::NotMounted => "NOT_MOUNTED",
        HealthStatus::ShuttingDown => "SHUTTING_DOWN",
        HealthStatus::EventLoopLagging => "EVENT_LOOP_LAGGING",
    }
}
