//! The page at `/`, which shows the state of the node while it runs.

use axum::{
    http::{
        HeaderName,
        header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY},
    },
    response::{IntoResponse as _, Response},
};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::App;

/// Content security policy of the page: its own script and style, and requests to this node.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(document))
        .routes(routes!(script))
        .routes(routes!(style))
}

fn asset(kind: &'static str, text: &'static str) -> Response {
    let headers = [
        (CONTENT_TYPE, kind),
        (CONTENT_SECURITY_POLICY, POLICY),
        (REFERRER_POLICY, "no-referrer"),
        // The next node at this address may have another version.
        (CACHE_CONTROL, "no-cache"),
        (HeaderName::from_static("x-content-type-options"), "nosniff"),
    ];
    (headers, text).into_response()
}

/// Page that shows the node's state
///
/// Answered without a token; the page asks for it.
#[utoipa::path(
    get,
    path = "/",
    operation_id = "page",
    tag = "node",
    responses((status = 200, description = "The page", content_type = "text/html", body = String)),
)]
async fn document() -> Response {
    asset(
        "text/html; charset=utf-8",
        include_str!("../assets/page/page.html"),
    )
}

/// Script of the page
#[utoipa::path(
    get,
    path = "/page.js",
    operation_id = "pageScript",
    tag = "node",
    responses((status = 200, description = "The script", content_type = "text/javascript", body = String)),
)]
async fn script() -> Response {
    asset(
        "text/javascript; charset=utf-8",
        include_str!("../assets/page/page.js"),
    )
}

/// Style of the page
#[utoipa::path(
    get,
    path = "/page.css",
    operation_id = "pageStyle",
    tag = "node",
    responses((status = 200, description = "The style", content_type = "text/css", body = String)),
)]
async fn style() -> Response {
    asset(
        "text/css; charset=utf-8",
        include_str!("../assets/page/page.css"),
    )
}
