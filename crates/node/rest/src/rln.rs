//! The route `/debug/v1/rln`: tokens and verification. nwaku has no such route.

use std::time::SystemTime;

use axum::{Json, extract::State};
use serde::Serialize;
use undertone_membership::evm::{ChainStatus, EndpointCosts, Health};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    App,
    errors::{ApiError, NodeStopped},
};
use undertone_network::command::{RlnSnapshot, TokenSnapshot, VerifierSnapshot};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(state))
}

/// Proof tokens and verification of rate limiting
#[utoipa::path(
    get,
    path = "/debug/v1/rln",
    operation_id = "rln",
    tag = "node",
    responses(
        (status = 200, description = "State", body = RlnBody),
        (status = 404, description = "`Rate limiting is off. Please check your configuration: --rln`", content_type = "text/plain", body = String),
        NodeStopped,
    ),
)]
async fn state(State(app): State<App>) -> Result<Json<RlnBody>, ApiError> {
    match app.handle.rln().await? {
        Some(snapshot) => Ok(Json(snapshot.into())),
        None => Err(ApiError::NotFound(
            "Rate limiting is off. Please check your configuration: --rln".into(),
        )),
    }
}

/// State of rate limiting.
#[derive(Serialize, ToSchema)]
#[schema(as = Rln)]
#[serde(rename_all = "camelCase")]
struct RlnBody {
    may_publish: bool,
    refusal: Option<String>,
    ids_taken_total: u64,
    tokens: Option<TokensBody>,
    verifier: VerifierBody,
    chain: Option<ChainBody>,
}

/// Proofs made in advance.
#[derive(Serialize, ToSchema)]
#[schema(as = Tokens)]
#[serde(rename_all = "camelCase")]
struct TokensBody {
    size: usize,
    refresh_roots: u64,
    lead_ms: u64,
    max_cpu_percent: u8,
    ready: usize,
    prepared_total: u64,
    taken_total: u64,
    missed_total: u64,
    discarded_total: u64,
    spent_ms_total: u64,
}

/// Verification of proofs.
#[derive(Serialize, ToSchema)]
#[schema(as = Verifier)]
#[serde(rename_all = "camelCase")]
struct VerifierBody {
    threads: usize,
    batch_from: usize,
    batch_max: usize,
    batch_max_delay_ms: u64,
    suspect_ms: u64,
    waiting: usize,
    suspects: usize,
    checked_total: u64,
    bad_total: u64,
    batches_total: u64,
}

/// State of following the membership contract.
#[derive(Serialize, ToSchema)]
#[schema(as = Chain)]
#[serde(rename_all = "camelCase")]
struct ChainBody {
    state: &'static str,
    reason: Option<String>,
    block: Option<u64>,
    head: Option<u64>,
    compared_ms_ago: Option<u64>,
    reorganisations_total: u64,
    sent_bytes_total: u64,
    received_bytes_total: u64,
    endpoints: Vec<EndpointBody>,
}

/// Requests to one endpoint of the chain.
#[derive(Serialize, ToSchema)]
#[schema(as = Endpoint)]
#[serde(rename_all = "camelCase")]
struct EndpointBody {
    name: String,
    requests_total: u64,
    failures_total: u64,
}

const NS_PER_MS: u64 = 1_000_000;

impl From<RlnSnapshot> for RlnBody {
    fn from(snapshot: RlnSnapshot) -> Self {
        Self {
            may_publish: snapshot.may_publish && snapshot.refusal.is_none(),
            refusal: snapshot.refusal,
            ids_taken_total: snapshot.ids_taken_total,
            tokens: snapshot.tokens.map(TokensBody::from),
            verifier: snapshot.verifier.into(),
            chain: snapshot.chain.map(ChainBody::from),
        }
    }
}

impl From<ChainStatus> for ChainBody {
    fn from(status: ChainStatus) -> Self {
        let ago = |at: SystemTime| {
            let ago = SystemTime::now().duration_since(at).unwrap_or_default();
            u64::try_from(ago.as_millis()).unwrap_or(u64::MAX)
        };
        Self {
            state: status.health.name(),
            block: status.block(),
            head: status.head,
            compared_ms_ago: status.compared.map(ago),
            reorganisations_total: status.reorganisations,
            sent_bytes_total: status.costs.sent_bytes,
            received_bytes_total: status.costs.received_bytes,
            endpoints: status
                .endpoints
                .into_iter()
                .map(EndpointBody::from)
                .collect(),
            reason: match status.health {
                Health::Degraded { reason, .. } => Some(reason),
                _ => None,
            },
        }
    }
}

impl From<EndpointCosts> for EndpointBody {
    fn from(endpoint: EndpointCosts) -> Self {
        Self {
            name: endpoint.name,
            requests_total: endpoint.requests,
            failures_total: endpoint.failures,
        }
    }
}

impl From<TokenSnapshot> for TokensBody {
    fn from(TokenSnapshot { config, state }: TokenSnapshot) -> Self {
        Self {
            size: config.size,
            refresh_roots: config.refresh_roots,
            lead_ms: config.next_epoch_lead_ns / NS_PER_MS,
            max_cpu_percent: config.max_cpu_percent,
            ready: state.ready,
            prepared_total: state.prepared_total,
            taken_total: state.taken_total,
            missed_total: state.missed_total,
            discarded_total: state.discarded_total,
            spent_ms_total: state.spent_ns_total / NS_PER_MS,
        }
    }
}

impl From<VerifierSnapshot> for VerifierBody {
    fn from(snapshot: VerifierSnapshot) -> Self {
        Self {
            threads: snapshot.threads,
            batch_from: snapshot.policy.single_below,
            batch_max: snapshot.policy.max_batch,
            batch_max_delay_ms: snapshot.policy.max_delay_ns / NS_PER_MS,
            suspect_ms: snapshot.policy.suspect_for_ns / NS_PER_MS,
            waiting: snapshot.waiting,
            suspects: snapshot.suspects,
            checked_total: snapshot.checked_total,
            bad_total: snapshot.bad_total,
            batches_total: snapshot.batches_total,
        }
    }
}
