//! Minimal HTTP client for the REST server of a node in its namespace.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use undertone_testbed::{Host, TestbedError};

/// Address of every node's REST server, each in its own namespace.
const ADDRESS: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 8645);

/// Time limit for reading from or writing to a node.
const TIMEOUT: Duration = Duration::from_secs(60);

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

/// Connects to a node's REST server. The socket belongs to the node's namespace, in which it is made,
/// and can be used from anywhere.
///
/// # Errors
///
/// [`TestbedError`] when the host's namespace cannot be used; within it, the error of connecting.
pub fn connect(host: &Host) -> Result<io::Result<TcpStream>, TestbedError> {
    let connecting = host.spawn(|| TcpStream::connect(ADDRESS))?;
    let what = "a connection to REST";
    connecting.join().map_err(|_| TestbedError::Gone { what })
}

/// Sends a GET request for a path.
///
/// # Errors
///
/// The error of the connection, or of an answer that is not HTTP.
pub fn get(stream: TcpStream, path: &str) -> io::Result<HttpAnswer> {
    exchange(stream, &head("GET", path, 0))
}

/// Returns the bytes of a POST request with a JSON body.
pub fn post(path: &str, json: &str) -> Vec<u8> {
    let mut request = head("POST", path, json.len());
    request.extend_from_slice(json.as_bytes());
    request
}

fn head(method: &str, path: &str, length: usize) -> Vec<u8> {
    format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )
    .into_bytes()
}

/// Sends a request and reads the answer to its end.
///
/// # Errors
///
/// The error of the connection, or of an answer that is not HTTP.
pub fn exchange(mut stream: TcpStream, request: &[u8]) -> io::Result<HttpAnswer> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    stream.write_all(request)?;
    let mut answer = Vec::new();
    stream.take(MAX_ANSWER_BYTES).read_to_end(&mut answer)?;
    parse(&answer).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Parses status and body. The server closes the connection at the end of the body and never uses
/// chunked encoding.
fn parse(answer: &[u8]) -> Option<HttpAnswer> {
    let text = std::str::from_utf8(answer).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
    Some(HttpAnswer {
        status,
        body: body.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_a_status_and_a_body() {
        let answer = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 4\r\n\r\nno\r\n";
        let body = "no\r\n".to_owned();
        let status = 400;
        assert_eq!(parse(answer), Some(HttpAnswer { status, body }));
        for broken in [
            "",
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.1 20\r\n\r\n",
            "x\r\n\r\n",
        ] {
            assert_eq!(parse(broken.as_bytes()), None, "{broken:?}");
        }
    }

    #[test]
    fn a_request_has_its_length() {
        let request = String::from_utf8(post("/a", "{\"b\":1}")).unwrap();
        assert!(request.starts_with("POST /a HTTP/1.1\r\n"));
        assert!(request.contains("Content-Length: 7\r\n"));
        assert!(request.ends_with("\r\n\r\n{\"b\":1}"));
    }
}
