//! Requests to the REST API, and readers of its event stream; there may be thousands of readers.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;
use undertone_node_process::rest::{HttpAnswer, ask_async};

/// Time limit for an answer, long because a node under attack may be slow.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sends a request on a connection of its own, with a JSON body if there is one, and returns the answer.
pub(super) async fn request(
    server: SocketAddr,
    method: &str,
    path: &str,
    body: Option<&str>,
) -> io::Result<HttpAnswer> {
    ask_async(server, method, path, body.unwrap_or_default(), PATIENCE).await
}

/// Opens an event stream, after the event with the id `cursor` if there is one, and waits for it to begin.
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
    /// Returns the id of the last event, with which a reconnecting client continues after it.
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

    /// Returns the next line. Chunk lengths appear as lines of their own, because each event is one chunk.
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
