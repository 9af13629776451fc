//! Minimal HTTP client for the REST API, with one request per connection.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Time limit for an answer, long because a node under attack may be slow.
const PATIENCE: Duration = Duration::from_secs(10);

/// Maximum length of an answer that is read, bytes.
const ANSWER_BYTES_MAX: u64 = 4 << 20;

/// Status and body of an HTTP answer.
#[derive(Debug)]
pub(super) struct RestAnswer {
    pub(super) status: u16,
    pub(super) body: String,
}

/// Sends a request, with a JSON body if there is one, and returns the answer.
pub(super) async fn request(
    server: SocketAddr,
    method: &str,
    path: &str,
    body: Option<&str>,
) -> io::Result<RestAnswer> {
    let exchange = async {
        let mut stream = TcpStream::connect(server).await?;
        let body = body.unwrap_or_default();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {server}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(body.as_bytes()).await?;
        let mut answer = Vec::new();
        stream
            .take(ANSWER_BYTES_MAX)
            .read_to_end(&mut answer)
            .await?;
        parse(&answer).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
    };
    timeout(PATIENCE, exchange)
        .await
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

fn parse(answer: &[u8]) -> Option<RestAnswer> {
    let text = std::str::from_utf8(answer).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let is_chunked = head
        .to_ascii_lowercase()
        .contains("transfer-encoding: chunked");
    let body = if is_chunked {
        unchunked(body)?
    } else {
        body.to_owned()
    };
    Some(RestAnswer { status, body })
}

/// Returns the content of a chunked body.
fn unchunked(mut body: &str) -> Option<String> {
    let mut content = String::new();
    loop {
        let (length, rest) = body.split_once("\r\n")?;
        let length = usize::from_str_radix(length.trim(), 16).ok()?;
        if length == 0 {
            return Some(content);
        }
        content.push_str(rest.get(..length)?);
        body = rest.get(length..)?.strip_prefix("\r\n")?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_read_with_and_without_chunks() {
        let plain = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nOK";
        let chunked = b"HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n1\r\n!\r\n0\r\n\r\n";
        let answer = parse(plain).unwrap();
        assert_eq!((answer.status, answer.body.as_str()), (200, "OK"));
        let answer = parse(chunked).unwrap();
        assert_eq!((answer.status, answer.body.as_str()), (404, "no!"));
        assert!(parse(b"HTTP/1.1 200").is_none());
    }
}
