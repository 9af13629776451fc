//! WebSocket to an endpoint: requests, and announcements of new blocks.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use tungstenite::handshake::HandshakeError;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Error, Message, WebSocket};

use super::super::RpcLimits;
use super::super::error::RpcError;
use super::super::json::is_answer;
use super::tcp::{TimedTcp, reach, resolve};
use super::timed_out;

type WsStream = WebSocket<MaybeTlsStream<TimedTcp>>;

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
    /// Whether the endpoint has announced a block since the connection was opened.
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
        set_deadline(
            stream,
            Instant::now() + timeout.max(Duration::from_millis(1)),
        );
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
        let failed = |error| failed(error, limits);
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => self.connect(deadline, limits)?,
        };
        set_deadline(&mut stream, deadline);
        let most = usize::try_from(limits.max_answer_bytes).unwrap_or(usize::MAX);
        stream.set_config(|config| {
            config.max_message_size = Some(most);
            config.max_frame_size = Some(most);
        });
        stream.send(Message::text(body)).map_err(failed)?;
        loop {
            let message = stream.read().map_err(failed)?;
            if is_news(&message) {
                self.news = true;
                self.subscribed = true;
            } else if let Message::Text(text) = message
                // Answers to earlier, abandoned requests are skipped.
                && is_answer(&text, id)
            {
                self.stream = Some(stream);
                return Ok(text.as_bytes().to_vec());
            }
            if Instant::now() >= deadline {
                return Err(timed_out(limits));
            }
        }
    }

    fn connect(&self, deadline: Instant, limits: &RpcLimits) -> Result<WsStream, RpcError> {
        let failed = |error| failed(error, limits);
        let default_port = if self.is_tls { 443 } else { 80 };
        let addresses = resolve(&self.host, default_port, deadline);
        let addresses = addresses.map_err(|error| failed(Error::Io(error)))?;
        if addresses.is_empty() {
            return Err(RpcError::Url {
                url: self.host.clone(),
            });
        }
        let tcp = reach(&addresses, deadline).map_err(|error| failed(Error::Io(error)))?;
        // The library uses the process's default provider and cannot choose if the program contains two: QUIC adds
        // another.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let connected = tungstenite::client_tls_with_config(
            self.url.as_str(),
            TimedTcp::new(tcp, deadline),
            Some(WebSocketConfig::default()),
            None,
        );
        let (mut stream, _) = connected.map_err(|error| match error {
            HandshakeError::Failure(error) => failed(error),
            HandshakeError::Interrupted(_) => timed_out(limits),
        })?;
        // An endpoint that refuses the subscription is polled instead, like one over HTTP.
        if self.announced {
            stream.send(Message::text(SUBSCRIBE)).map_err(failed)?;
        }
        Ok(stream)
    }
}

/// Sets a deadline for all reads and writes of a stream, however little each of them transfers.
fn set_deadline(stream: &mut WsStream, deadline: Instant) {
    match stream.get_mut() {
        MaybeTlsStream::Plain(tcp) => tcp.deadline = deadline,
        MaybeTlsStream::Rustls(tls) => tls.get_mut().deadline = deadline,
        _ => {}
    }
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

fn is_news(message: &Message) -> bool {
    matches!(message, Message::Text(text) if text.contains(r#""eth_subscription""#))
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
