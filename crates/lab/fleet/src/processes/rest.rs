//! Requests to the REST servers of nodes in their namespaces.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use undertone_node_process::rest::{HttpAnswer, ask};
use undertone_testbed::{Host, TestbedError};

/// Address of every node's REST server, each in its own namespace.
const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8645);

/// Time limit for a request to a node in a namespace.
const LIMIT: Duration = Duration::from_secs(60);

/// Sends a request like [`ask`] to the node of a host, from a thread in the host's namespace, to which the socket then
/// belongs.
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
    let asking = host.spawn(move || ask(SERVER, method, &path, &json, LIMIT))?;
    let what = "a thread that asks REST";
    asking.join().map_err(|_| TestbedError::Gone { what })
}
