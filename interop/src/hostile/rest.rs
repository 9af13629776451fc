//! Minimal HTTP client for the REST API, with one request per connection, and of its event stream.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
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

/// Opens an event stream, after the event with the id `cursor` if there is one, and waits for its beginning.
///
/// # Errors
/// The error of the connection, or `UnexpectedEof` if the server refused the stream.
pub async fn events(
    server: SocketAddr,
    path: &str,
    cursor: Option<&str>,
) -> io::Result<EventLines> {
    let opening = async {
        let mut stream = TcpStream::connect(server).await?;
        let cursor = cursor.map(|id| format!("Last-Event-ID: {id}\r\n"));
        let cursor = cursor.unwrap_or_default();
        let head = format!("GET {path} HTTP/1.1\r\nHost: {server}\r\n{cursor}\r\n");
        stream.write_all(head.as_bytes()).await?;
        let mut lines = EventLines {
            stream: BufReader::new(stream),
            id: None,
        };
        // The first id of a stream is its position.
        while lines.id.is_none() {
            if lines.line().await.is_none() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(lines)
    };
    timeout(PATIENCE, opening)
        .await
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// Open event stream.
#[derive(Debug)]
pub struct EventLines {
    stream: BufReader<TcpStream>,
    id: Option<String>,
}

impl EventLines {
    /// Returns the id of the last event, with which a client that reconnects goes on behind it.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Returns the data of the next event; `None` if the stream has ended.
    pub async fn next(&mut self) -> Option<String> {
        while let Some(line) = self.line().await {
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(data.to_owned());
            }
        }
        None
    }

    /// Returns the next line. The lengths of chunks are lines of their own, as an event is one chunk.
    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.stream.read_line(&mut line).await {
            Ok(0) | Err(_) => return None,
            Ok(_) => {}
        }
        if let Some(id) = line.strip_prefix("id: ") {
            self.id = Some(id.trim_end().to_owned());
        }
        Some(line.trim_end().to_owned())
    }
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
