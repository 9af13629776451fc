//! REST API with the paths, JSON shapes, status codes and error texts of nwaku.
//!
//! Listens on loopback by default, because every client that can reach it can publish
//! with this node's membership.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    extract::State,
    http::{Method, StatusCode, Uri},
    middleware,
    response::{IntoResponse as _, Response},
};
use tracing::Level;
use undertone_message::{NetworkPreset, PubsubTopic};
use utoipa_axum::router::OpenApiRouter;

mod access;
mod admin;
mod auto;
mod body;
mod cache;
mod errors;
mod events;
#[cfg(test)]
mod fake;
mod filter;
mod gossip;
mod health;
mod inbox;
mod info;
mod lightpush;
mod long;
mod messaging;
mod metrics;
mod openapi;
mod page;
mod params;
mod peers;
mod readiness;
mod relay;
mod rln;
mod serve;
mod shapes;
mod slots;
mod status;
mod store;
mod validation_times;

use cache::MessageCache;
use errors::ApiError;
use events::{EventLimits, EventLog};
use inbox::Inbox;
use messaging::ReceivedMessages;
use undertone_network::handle::NodeHandle;
use undertone_provider::services::ServicesHandle;
use validation_times::ValidationTimes;

pub use access::{Access, AccessToken, TokenScope};
pub use admin::level_by_name;
pub use metrics::{MetricsNames, metrics_router};
pub use serve::{ServeLimits, listen, serve};

/// Longest wait for the node to publish or to report its health.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Bytes allowed in a request body besides the message, for field names, topics and base64 padding.
const BODY_OVERHEAD_BYTES: usize = 64 * 1024;

/// Settings of the REST API.
#[derive(Debug, Clone)]
pub struct RestConfig {
    /// Network of the node, for autosharding and size limits.
    pub network: NetworkPreset,
    /// Whether content topics are spread over the network's shards. If not, the routes by content topic answer that
    /// autosharding is not configured.
    pub autosharding: bool,
    /// Topics that the node is subscribed to from the start; their messages are kept for fetching.
    pub subscriptions: Vec<PubsubTopic>,
    /// Content topics whose messages are kept from the start, each with the pubsub topic that carries it.
    pub content_topics: Vec<(String, PubsubTopic)>,
    /// Function that changes the level of the log; `None` where it cannot be changed.
    pub log_level: Option<fn(Level) -> bool>,
    /// Access rules of the API.
    pub access: Access,
    /// Whether `/relay` is served.
    pub relay: bool,
    /// Keys of services that the configuration asks for but the node does not offer, because it does not relay. The
    /// health names them.
    pub unserved: Vec<&'static str>,
    /// Whether `/admin` is served.
    pub admin: bool,
    /// Messages kept for each topic until they are fetched.
    pub relay_cache_capacity: usize,
    /// Offset of the node's clock from the system's, nanoseconds. Messages without a timestamp are stamped by the
    /// node's clock.
    pub clock_ahead_ns: i64,
    /// Version text that `/version` returns.
    pub version: String,
    /// Prefixes of the metrics that dashboards for nwaku query.
    pub metrics_names: MetricsNames,
}

/// State shared by all handlers.
#[derive(Clone)]
struct App {
    handle: NodeHandle,
    config: Arc<RestConfig>,
    cache: Arc<MessageCache>,
    services: Option<ServicesHandle>,
    /// Messages that filter peers pushed.
    filtered: Arc<MessageCache>,
    /// Messages of content topics that were subscribed to under `/messaging`.
    received: Arc<ReceivedMessages>,
    events: Arc<EventLog>,
    /// Validation times of the last messages of peers.
    validation: Arc<ValidationTimes>,
    /// OpenAPI description of the API, JSON.
    document: Arc<str>,
    max_body_bytes: usize,
}

impl App {
    fn services(&self) -> Result<&ServicesHandle, ApiError> {
        let off = || ApiError::NotFound("This node has no services".into());
        self.services.as_ref().ok_or_else(off)
    }
}

/// Returns the API of the node behind `handle`, without `/store`, `/filter`, `/lightpush` and `/messaging`. Messages
/// are kept from this call on.
pub fn router(handle: NodeHandle, config: RestConfig) -> Router {
    router_with(handle, None, config, EventLimits::default())
}

/// Like [`router`], with `/store`, `/filter`, `/lightpush` and `/messaging`, which use `services`.
pub fn router_with_services(
    handle: NodeHandle,
    services: ServicesHandle,
    config: RestConfig,
) -> Router {
    router_with(handle, Some(services), config, EventLimits::for_process())
}

fn router_with(
    handle: NodeHandle,
    services: Option<ServicesHandle>,
    config: RestConfig,
    limits: EventLimits,
) -> Router {
    let cache = Arc::new(MessageCache::new(config.relay_cache_capacity));
    for topic in &config.subscriptions {
        cache.subscribe_pubsub(topic.clone());
    }
    for (topic, carrier) in &config.content_topics {
        // The configuration has no more content topics than the cache holds.
        let _ = cache.subscribe_content(topic, Some(carrier.clone()));
    }
    let filtered = Arc::new(MessageCache::new(config.relay_cache_capacity));
    let received = Arc::new(ReceivedMessages::new(config.relay_cache_capacity));
    let events = Arc::new(EventLog::new(limits, config.clock_ahead_ns));
    let inbox = |cache: &Arc<MessageCache>| {
        Arc::new(Inbox {
            cache: Arc::clone(cache),
            received: Arc::clone(&received),
            events: Arc::clone(&events),
        })
    };
    handle.add_sink(inbox(&cache));
    if let Some(services) = &services {
        services.add_sink(inbox(&filtered));
    }
    let validation = Arc::new(ValidationTimes::new());
    handle.add_sink(validation.clone());
    let (router, document) = routes(&config, services.is_some()).split_for_parts();
    let document = openapi::complete(document, &config.access);
    // Base64 lengthens a payload by a third, and a proof may accompany it.
    let max_body_bytes = config
        .network
        .max_message_bytes
        .saturating_mul(2)
        .saturating_add(BODY_OVERHEAD_BYTES);
    let app = App {
        handle,
        config: Arc::new(config),
        cache,
        services,
        filtered,
        received,
        events,
        validation,
        document,
        max_body_bytes,
    };
    router
        .fallback(unknown_route)
        .method_not_allowed_fallback(unknown_route)
        .layer(middleware::from_fn_with_state(app.clone(), access::check))
        .with_state(app)
}

/// Returns the routes that the configuration switches on, with their description.
fn routes(config: &RestConfig, has_services: bool) -> OpenApiRouter<App> {
    let mut router = openapi::base()
        .merge(health::routes())
        .merge(readiness::routes())
        .merge(info::routes())
        .merge(gossip::routes())
        .merge(metrics::routes())
        .merge(rln::routes())
        .merge(openapi::routes())
        .merge(page::routes())
        .merge(events::routes());
    if config.relay {
        router = router.merge(relay::routes()).merge(auto::routes());
    }
    if has_services {
        router = router
            .merge(store::routes())
            .merge(filter::routes())
            .merge(lightpush::routes())
            .merge(messaging::routes());
    }
    if config.admin {
        router = router.merge(admin::routes()).merge(status::routes());
    }
    router
}

/// Answers unknown routes with 404, saying so if that part of the API is switched off.
/// OPTIONS under `/relay` and `/messaging` succeeds.
async fn unknown_route(State(app): State<App>, method: Method, uri: Uri) -> Response {
    let area = uri.path().split('/').nth(1).unwrap_or_default();
    let off = match area {
        "admin" if !app.config.admin => Some(
            "/admin endpoints are not available. Please check your configuration: --rest-admin=true",
        ),
        "relay" if !app.config.relay => {
            Some("/relay endpoints are not available. Please check your configuration: --relay")
        }
        "filter" if app.services.is_none() => Some("/filter endpoints are not available."),
        "lightpush" if app.services.is_none() => Some("/lightpush endpoints are not available."),
        "messaging" if app.services.is_none() => Some("/messaging endpoints are not available."),
        "store" if app.services.is_none() => Some("/store endpoints are not available."),
        _ => None,
    };
    match off {
        Some(text) => ApiError::NotFound(text.into()).into_response(),
        None if method == Method::OPTIONS && matches!(area, "relay" | "messaging") => ok(),
        None => ApiError::NotFound("Bad request initiated. Invalid path or method used.".into())
            .into_response(),
    }
}

/// Returns `OK`, nwaku's answer when there is nothing else to report.
fn ok() -> Response {
    (StatusCode::OK, "OK").into_response()
}
