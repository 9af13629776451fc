//! Requests to the REST servers of nodes, also to that of a node in its namespace.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use undertone_testbed::{Host, TestbedError};
use ureq::Agent;
use ureq::http::Request;

/// Address of every node's REST server, each in its own namespace.
const SERVER: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 8645);

/// Time limit for a request to a node in a namespace.
const LIMIT: Duration = Duration::from_secs(60);

/// Maximum length of an answer that is read, bytes; the peer list of a node with many peers is long.
const MAX_ANSWER_BYTES: u64 = 4 << 20;

/// Answer to a REST request.
#[derive(Debug, PartialEq, Eq)]
pub struct HttpAnswer {
    /// Status of the answer.
    pub status: u16,
    /// Body of the answer.
    pub body: String,
}

/// Sends a request with a JSON body, which may be empty, on a connection of its own, and waits for the whole answer.
///
/// # Errors
///
/// The error of the connection, of an answer that is not HTTP or longer than 4 MiB, or of the time that is over.
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
        // A proxy of the environment leads nowhere from a namespace.
        .proxy(None)
        .http_status_as_error(false)
        .timeout_global(Some(limit));
    let answer = config.build().new_agent().run(request);
    let (head, body) = answer.map_err(ureq::Error::into_io)?.into_parts();
    let body = body.into_with_config().limit(MAX_ANSWER_BYTES);
    Ok(HttpAnswer {
        status: head.status.as_u16(),
        body: body.read_to_string().map_err(ureq::Error::into_io)?,
    })
}

/// Sends a request as [`ask`] does to the node of a host, from a thread in the host's namespace, to which the socket belongs.
///
/// # Errors
///
/// [`TestbedError`] when the host's namespace cannot be used; within it, the errors of [`ask`].
pub fn ask_in(
    host: &Host,
    method: &'static str,
    path: &str,
    json: &str,
) -> Result<io::Result<HttpAnswer>, TestbedError> {
    let (path, json) = (path.to_owned(), json.to_owned());
    let asking = host.spawn(move || ask(SERVER.into(), method, &path, &json, LIMIT))?;
    let what = "a thread that asks REST";
    asking.join().map_err(|_| TestbedError::Gone { what })
}
