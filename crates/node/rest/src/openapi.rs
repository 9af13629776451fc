//! OpenAPI description of the API, generated from the handlers, and a page to try it.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{
        HeaderName, HeaderValue,
        header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY},
    },
    response::{Html, IntoResponse as _, Response},
};
use utoipa::{
    OpenApi,
    openapi::{
        ObjectBuilder, OpenApi as Document, RefOr, Type,
        path::{Operation, Parameter, ParameterIn, PathItem},
        schema::{AnyOfBuilder, Schema, SchemaType},
        security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme},
    },
};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    Access, App,
    errors::text_response,
    events::{ClosedEvent, GapEvent, MessageEvent, StrangersEvent},
    filter::FilterAnswer,
    messaging::SentEvent,
};

/// Name of the security scheme for the token.
const TOKEN: &str = "token";

/// Page that lists the operations and sends requests. It loads nothing from other hosts.
const PAGE: &str = include_str!("openapi/page.html");

/// Content security policy of the page: it may run its own script and send requests to this node.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Undertone",
        description = "REST API of a Waku node, with the paths, shapes, statuses and texts of nwaku.",
    ),
    tags(
        (name = "node", description = "State of the node"),
        (name = "relay", description = "Messages of subscribed topics"),
        (name = "messaging", description = "Sending that is answered for, and messages of content topics"),
        (name = "events", description = "Messages as they come"),
        (name = "store", description = "Messages of the past"),
        (name = "filter", description = "Messages that a peer pushes to this node"),
        (name = "lightpush", description = "Publishing through a peer"),
        (name = "admin", description = "Peers and log level"),
    ),
    // Schemas that no request and no plain response refers to.
    components(schemas(
        MessageEvent, GapEvent, StrangersEvent, ClosedEvent, SentEvent, FilterAnswer
    )),
)]
struct Base;

/// Returns a router without routes; its description grows with the routes added.
pub(super) fn base() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Base::openapi())
}

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(document))
        .routes(routes!(page))
}

/// Description of this interface
#[utoipa::path(
    get,
    path = "/openapi.json",
    operation_id = "openapi",
    tag = "node",
    responses((status = 200, description = "OpenAPI 3.1", content_type = "application/json", body = Object)),
)]
async fn document(State(app): State<App>) -> Response {
    let json = HeaderValue::from_static("application/json");
    ([(CONTENT_TYPE, json)], String::from(&*app.document)).into_response()
}

/// Page to try this API
///
/// Answered without a token; the page asks for it.
#[utoipa::path(
    get,
    path = "/docs",
    operation_id = "docs",
    tag = "node",
    responses((status = 200, description = "The page", content_type = "text/html", body = String)),
)]
async fn page() -> Response {
    let headers = [
        (CONTENT_SECURITY_POLICY, PAGE_POLICY),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("x-content-type-options"), "nosniff"),
    ];
    (headers, Html(PAGE)).into_response()
}

/// Adds what all operations share: the token, and the responses that come before a handler.
pub(super) fn complete(mut document: Document, access: &Access) -> Arc<str> {
    if access.token.is_some() {
        let components = document.components.get_or_insert_default();
        let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        components.add_security_scheme(TOKEN, bearer);
    }
    for (path, item) in &mut document.paths.paths {
        for operation in operations(item) {
            complete_one(path, operation, access.needs_token(path));
        }
    }
    // A document consists of maps with text keys, which always have a JSON form.
    serde_json::to_string(&document).unwrap_or_default().into()
}

fn complete_one(path: &str, operation: &mut Operation, needs_token: bool) {
    if needs_token {
        let none: [&str; 0] = [];
        operation.security = Some(vec![SecurityRequirement::new(TOKEN, none)]);
        answer(operation, "401", "`This path needs the node's token: …`");
    }
    answer(
        operation,
        "403",
        "`Host … is not one of this node's; …`, `Web pages of origin … may not use this node; …` or \
         `Pages of other web sites may not use this node`",
    );
    if path.contains('{') {
        answer(operation, "400", "`Invalid URL: …`");
    }
    for parameter in operation.parameters.iter_mut().flatten() {
        match parameter {
            RefOr::T(parameter) if parameter.parameter_in == ParameterIn::Query => {
                allow_empty(parameter);
            }
            _ => {}
        }
    }
    if operation.request_body.is_some() {
        answer(operation, "400", "`Invalid content body, …`");
        answer(operation, "408", "`The request body took too long`");
        answer(
            operation,
            "413",
            "`Request body is longer than any message of the network`",
        );
        answer(
            operation,
            "415",
            "`Wrong Content-Type, expected application/json`",
        );
    }
}

/// Describes that a query parameter may be empty, which means the same as missing: [`super::params::QueryParams`].
fn allow_empty(parameter: &mut Parameter) {
    let is_text = |schema: &RefOr<Schema>| match schema {
        RefOr::T(Schema::Object(object)) => match &object.schema_type {
            SchemaType::Type(one) => *one == Type::String,
            SchemaType::Array(several) => several.contains(&Type::String),
            SchemaType::AnyValue => true,
        },
        _ => false,
    };
    let Some(schema) = parameter.schema.take_if(|schema| !is_text(schema)) else {
        return;
    };
    let nothing = ObjectBuilder::new()
        .schema_type(Type::String)
        .max_length(Some(0));
    let either = AnyOfBuilder::new().item(schema).item(nothing).build();
    parameter.schema = Some(RefOr::T(Schema::AnyOf(either)));
}

fn answer(operation: &mut Operation, status: &str, description: &str) {
    let responses = &mut operation.responses.responses;
    responses
        .entry(status.to_owned())
        .or_insert_with(|| RefOr::T(text_response(description)));
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [
        &mut item.get,
        &mut item.post,
        &mut item.put,
        &mut item.delete,
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
#[path = "tests/openapi.rs"]
mod tests;
