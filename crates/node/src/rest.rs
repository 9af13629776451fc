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
use undertone_message::{NetworkPreset, PubsubTopic};

mod access;
mod admin;
mod auto;
mod body;
mod cache;
mod errors;
mod gossip;
mod health;
mod info;
mod metrics;
mod peers;
mod posts;
mod relay;
mod rln;
mod serve;
mod shapes;
mod slots;

use crate::config::LogLevel;
use crate::handle::NodeHandle;
use cache::MessageCache;
use errors::ApiError;

pub use access::{Access, AccessToken, TokenScope};
pub use metrics::metrics_router;
pub use serve::{ServeLimits, serve};

/// Longest wait for the node to publish or to report its health.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Bytes allowed in a request body beyond the message: field names, topics, the padding of base64.
const BODY_OVERHEAD_BYTES: usize = 64 * 1024;

/// Settings of the REST API.
#[derive(Debug, Clone)]
pub struct RestConfig {
    /// Network of the node, for autosharding and size limits.
    pub network: NetworkPreset,
    /// Whether content topics are spread over the network's shards. Without it, the routes by content topic
    /// answer that there is no automatic sharding.
    pub autosharding: bool,
    /// Topics that the node is subscribed to from the start; their messages are kept for fetching.
    pub subscriptions: Vec<PubsubTopic>,
    /// Content topics whose messages are kept from the start, each with the pubsub topic that carries it.
    pub content_topics: Vec<(String, PubsubTopic)>,
    /// Function that changes the level of the log; `None` where it cannot be changed.
    pub log_level: Option<fn(LogLevel) -> bool>,
    /// Access rules of the API.
    pub access: Access,
    /// Whether `/relay` is served.
    pub relay: bool,
    /// Whether `/admin` is served.
    pub admin: bool,
    /// Messages kept for each topic until they are fetched.
    pub relay_cache_capacity: usize,
    /// Offset of the node's clock from the system's, nanoseconds; messages without a timestamp
    /// are stamped by it.
    pub clock_ahead_ns: i64,
    /// Text that `/version` answers with.
    pub version: String,
}

/// State shared by all handlers.
#[derive(Clone)]
struct App {
    handle: NodeHandle,
    config: Arc<RestConfig>,
    cache: Arc<MessageCache>,
    max_body_bytes: usize,
}

/// Returns the API of the node behind `handle`; messages are kept from this call on.
pub fn router(handle: NodeHandle, config: RestConfig) -> Router {
    let cache = Arc::new(MessageCache::new(config.relay_cache_capacity));
    for topic in &config.subscriptions {
        cache.subscribe_pubsub(topic.clone());
    }
    for (topic, carrier) in &config.content_topics {
        // The configuration has no more content topics than the cache holds.
        let _ = cache.subscribe_content(topic, carrier.clone());
    }
    handle.add_sink(cache.clone());
    let mut router = Router::new()
        .merge(health::routes())
        .merge(info::routes())
        .merge(gossip::routes())
        .merge(metrics::routes())
        .merge(rln::routes());
    if config.relay {
        router = router
            .merge(relay::routes())
            .merge(auto::routes())
            .merge(posts::routes());
    }
    if config.admin {
        router = router.merge(admin::routes());
    }
    // Base64 lengthens a payload by a third, and a proof may come with it.
    let max_body_bytes = config
        .network
        .max_message_bytes
        .saturating_mul(2)
        .saturating_add(BODY_OVERHEAD_BYTES);
    let app = App {
        handle,
        config: Arc::new(config),
        cache,
        max_body_bytes,
    };
    router
        .fallback(unknown_route)
        .method_not_allowed_fallback(unknown_route)
        .layer(middleware::from_fn_with_state(app.clone(), access::check))
        .with_state(app)
}

/// Answers unknown routes with 404, saying so if that part of the API is switched off.
/// OPTIONS under `/relay` succeeds.
async fn unknown_route(State(app): State<App>, method: Method, uri: Uri) -> Response {
    let area = uri.path().split('/').nth(1).unwrap_or_default();
    let off = match area {
        "admin" if !app.config.admin => Some(
            "/admin endpoints are not available. Please check your configuration: --rest-admin=true",
        ),
        "relay" if !app.config.relay => {
            Some("/relay endpoints are not available. Please check your configuration: --relay")
        }
        "filter" => Some("/filter endpoints are not available."),
        "lightpush" => Some("/lightpush endpoints are not available."),
        "store" => Some("/store endpoints are not available."),
        _ => None,
    };
    match off {
        Some(text) => ApiError::NotFound(text.into()).into_response(),
        None if method == Method::OPTIONS && matches!(area, "relay") => ok(),
        None => ApiError::NotFound("Bad request initiated. Invalid path or method used.".into())
            .into_response(),
    }
}

/// The answer of nwaku when there is nothing else to say.
fn ok() -> Response {
    (StatusCode::OK, "OK").into_response()
}
