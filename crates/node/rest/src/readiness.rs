//! The route `/readyz`: whether the node can work now, as an HTTP status for load balancers and supervisors.

use axum::extract::State;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{App, errors::ApiError, health};
use undertone_network::command::{ConnectionStatus, HealthReport, HealthStatus};

#[cfg(test)]
#[path = "tests/readiness.rs"]
mod tests;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(readiness))
}

/// Whether the node is ready
///
/// Reported by the status alone, for supervisors that check nothing else; `/health` answers 200 in both cases, as
/// nwaku's does. Answered without a token.
#[utoipa::path(
    get,
    path = "/readyz",
    operation_id = "readiness",
    tag = "node",
    responses(
        (status = 200, description = "`ready`", content_type = "text/plain", body = String),
        (status = 500, description = "`Health check timed out`", content_type = "text/plain", body = String),
        (status = 503, description = "What is not ready, one part in a line", content_type = "text/plain", body = String),
    ),
)]
async fn readiness(State(app): State<App>) -> Result<&'static str, ApiError> {
    let lacks = lacks(&health::report(&app).await?);
    if lacks.is_empty() {
        return Ok("ready");
    }
    Err(ApiError::Unavailable(lacks.join("\n")))
}

/// Returns why a node cannot work: its own state, no connected peers, or a relay, membership, store or send queue
/// that is not ready.
///
/// Missing service peers are no reason: a node with relay needs none.
fn lacks(health: &HealthReport) -> Vec<String> {
    let mut lacks = Vec::new();
    for part in &health.protocols {
        let is_needed = matches!(
            part.protocol,
            "Relay" | "Rln Relay" | "Store" | "Send Queue"
        );
        let is_well = matches!(part.status, HealthStatus::Ready | HealthStatus::NotMounted);
        if is_needed && !is_well {
            let why = part.desc.as_deref().unwrap_or("no reason is known");
            lacks.push(format!("{}: {why}", part.protocol));
        }
    }
    if lacks.is_empty() && health.node != HealthStatus::Ready {
        lacks.push("the node is not ready".to_owned());
    }
    if lacks.is_empty() && health.connection == ConnectionStatus::Disconnected {
        lacks.push("no connected peers".to_owned());
    }
    lacks
}
