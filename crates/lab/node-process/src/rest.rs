//! Requests to the REST servers of nodes.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::task::spawn_blocking;
use ureq::Agent;
use ureq::http::Request;

/// Maximum length of an answer that is read, bytes; the peer list of a node with many peers is long.
const MAX_ANSWER_BYTES: u64 = 4 << 20;

/// Answer to a REST request.
#[derive(Debug, PartialEq, Eq)]
pub struct HttpAnswer {
    /// Status of the answer.
    pub status: u16,
    /// Content type of the answer; empty if it has none.
    pub content_type: String,
    /// Body of the answer.
    pub body: String,
}

/// Sends a request with a JSON body, which may be empty, on a connection of its own, and waits for the whole answer.
///
/// # Errors
///
/// A connection error, a timeout, or an answer that is not HTTP or longer than 4 MiB.
pub fn ask(
    server: SocketAddr,
    method: &str,
    path: &str,
    json: &str,
    limit: Duration,
) -> io::Result<HttpAnswer> {
    let request = Request::builder()
        .method(method)
        .uri(format!("http://{server}{path}"))
        .header("content-type", "application/json")
        .body(json)
        .map_err(io::Error::other)?;
    let config = Agent::config_builder()
        // A proxy from the environment cannot be reached from a namespace.
        .proxy(None)
        .http_status_as_error(false)
        .timeout_global(Some(limit));
    let answer = config.build().new_agent().run(request);
    let (head, body) = answer.map_err(ureq::Error::into_io)?.into_parts();
    let body = body.into_with_config().limit(MAX_ANSWER_BYTES);
    let content_type = head
        .headers
        .get("content-type")
        .and_then(|it| it.to_str().ok());
    Ok(HttpAnswer {
        status: head.status.as_u16(),
        content_type: content_type.unwrap_or_default().to_owned(),
        body: body.read_to_string().map_err(ureq::Error::into_io)?,
    })
}

/// Sends a request like [`ask`], without blocking the caller's thread, on which the node itself may run.
///
/// # Errors
///
/// As [`ask`].
pub async fn ask_async(
    server: SocketAddr,
    method: &str,
    path: &str,
    json: &str,
    limit: Duration,
) -> io::Result<HttpAnswer> {
    let (method, path, json) = (method.to_owned(), path.to_owned(), json.to_owned());
    let asking = spawn_blocking(move || ask(server, &method, &path, &json, limit));
    asking.await?
}
