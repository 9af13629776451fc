//! WebSocket to an endpoint: requests, and announcements of new blocks.

use std::io::ErrorKind;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use tungstenite::protocol::WebSocketConfig;
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Error, Message, WebSocket};

use super::super::RpcLimits;
use super::super::error::RpcError;
use super::timed_out;

type WsStream = WebSocket<MaybeTlsStream<TcpStream>>;

/// Request to subscribe to new blocks.
const SUBSCRIBE: &str =
    r#"{"jsonrpc":"2.0","id":0,"method":"eth_subscribe","params":["newHeads"]}"#;

#[derive(Debug)]
pub(super) struct Socket {
    url: String,
    host: String,
    is_tls: bool,
    /// Whether to subscribe to new blocks.
    announced: bool,
    stream: Option<WsStream>,
    /// Whether a block was announced during the wait for an answer.
    news: bool,
    /// Whether the endpoint has announced a block since the connection was made.
    subscribed: bool,
}

impl Socket {
    pub(super) fn new(url: &str, host: &str, is_tls: bool, announced: bool) -> Self {
        Self {
            url: url.to_owned(),
            host: host.to_owned(),
            is_tls,
            announced,
            stream: None,
            news: false,
            subscribed: false,
        }
    }

    pub(super) fn is_subscribed(&self) -> bool {
        self.subscribed
    }

    pub(super) fn call(
        &mut self,
        id: u64,
        body: String,
        limits: &RpcLimits,
    ) -> Result<Vec<u8>, RpcError> {
        let answer = self.try_call(id, body, limits);
        if answer.is_err() {
            self.stream = None;
            self.subscribed = false;
        }
        answer
    }

    /// Waits for the announcement of a block; also `true` when the connection broke, so that the
    /// caller polls. The next call reconnects.
    pub(super) fn wait(&mut self, timeout: Duration) -> bool {
        if std::mem::take(&mut self.news) {
            return true;
        }
        let Some(stream) = &mut self.stream else {
            return false;
        };
        let _ = set_timeout(stream, timeout.max(Duration::from_millis(1)));
        match stream.read() {
            Ok(message) => {
                self.subscribed |= is_news(&message);
                is_news(&message)
            }
            Err(Error::Io(error)) if is_timeout(&error) => false,
            Err(_) => {
                self.stream = None;
                self.subscribed = false;
                true
            }
        }
    }

    fn try_call(&mut self, id: u64, body: String, limits: &RpcLimits) -> Result<Vec<u8>, RpcError> {
        let deadline = Instant::now() + limits.timeout;
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => self.connect(limits)?,
        };
        let failed = |error| failed(error, limits);
        stream.send(Message::text(body)).map_err(failed)?;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(timed_out(limits));
            }
            set_timeout(&stream, left).map_err(|error| failed(Error::Io(error)))?;
            let message = stream.read().map_err(failed)?;
            if is_news(&message) {
                self.news = true;
                self.subscribed = true;
            } else if let Message::Text(text) = message
                && is_answer(&text, id)
            {
                self.stream = Some(stream);
                return Ok(text.as_bytes().to_vec());
            }
        }
    }

    fn connect(&self, limits: &RpcLimits) -> Result<WsStream, RpcError> {
        let unreachable = |error: std::io::Error| RpcError::Unreachable {
            detail: error.to_string(),
        };
        let port = if self.is_tls { 443 } else { 80 };
        let has_port = self
            .host
            .rsplit_once(':')
            .is_some_and(|(_, p)| p.parse::<u16>().is_ok());
        let mut addresses = match has_port {
            true => self.host.to_socket_addrs(),
            false => (self.host.as_str(), port).to_socket_addrs(),
        }
        .map_err(unreachable)?;
        let address = addresses.next().ok_or_else(|| RpcError::Url {
            url: self.host.clone(),
        })?;
        let tcp = TcpStream::connect_timeout(&address, limits.timeout).map_err(unreachable)?;
        tcp.set_read_timeout(Some(limits.timeout))
            .map_err(unreachable)?;
        tcp.set_write_timeout(Some(limits.timeout))
            .map_err(unreachable)?;
        let most = usize::try_from(limits.max_answer_bytes).unwrap_or(usize::MAX);
        let config = WebSocketConfig::default()
            .max_message_size(Some(most))
            .max_frame_size(Some(most));
        // The library takes the process's provider, and cannot choose one where a program has two: QUIC brings another.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let connected =
            tungstenite::client_tls_with_config(self.url.as_str(), tcp, Some(config), None);
        let (mut stream, _) = connected.map_err(|error| RpcError::Unreachable {
            detail: error.to_string(),
        })?;
        // An endpoint that refuses the subscription is polled instead, like one over HTTP.
        if self.announced {
            stream
                .send(Message::text(SUBSCRIBE))
                .map_err(|error| failed(error, limits))?;
        }
        Ok(stream)
    }
}

fn set_timeout(stream: &WsStream, timeout: Duration) -> std::io::Result<()> {
    match stream.get_ref() {
        MaybeTlsStream::Plain(tcp) => tcp.set_read_timeout(Some(timeout)),
        MaybeTlsStream::Rustls(tls) => tls.get_ref().set_read_timeout(Some(timeout)),
        _ => Ok(()),
    }
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

fn is_news(message: &Message) -> bool {
    matches!(message, Message::Text(text) if text.contains(r#""eth_subscription""#))
}

/// Whether a message answers request `id`; answers to earlier, abandoned requests are skipped.
fn is_answer(text: &str, id: u64) -> bool {
    let answer: Option<serde_json::Value> = serde_json::from_str(text).ok();
    answer.is_some_and(|answer| answer.get("id").and_then(serde_json::Value::as_u64) == Some(id))
}

fn failed(error: Error, limits: &RpcLimits) -> RpcError {
    match error {
        Error::Io(error) if is_timeout(&error) => timed_out(limits),
        Error::Capacity(_) => RpcError::TooLong {
            max_bytes: limits.max_answer_bytes,
        },
        error => RpcError::Unreachable {
            detail: error.to_string(),
        },
    }
}
