//! A single HTTP request to a router, with a bound on its answer.

use std::error::Error;
use std::net::SocketAddr;

use http_body_util::{BodyExt as _, Limited};
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, HOST};
use hyper::http::request;
use hyper_util::rt::TokioIo;
use thiserror::Error;
use tokio::net::TcpStream;

/// Maximum length of an answer's head and of its body, bytes. Descriptions of routers have some ten thousand.
const ANSWER_BYTES_MAX: usize = 256 << 10;

/// Reason why a request failed.
#[derive(Debug, Error)]
pub(crate) enum HttpError {
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("{0}")]
    Request(#[from] hyper::http::Error),
    #[error("{0}")]
    Http(#[from] hyper::Error),
    #[error("{0}")]
    Body(Box<dyn Error + Send + Sync>),
}

/// Answer to a request.
#[derive(Debug)]
pub(super) struct RouterAnswer {
    pub(super) status: u16,
    pub(super) body: String,
}

/// Sends a request on a new connection. The caller limits the time.
pub(super) async fn ask(
    at: SocketAddr,
    request: request::Builder,
    body: String,
) -> Result<RouterAnswer, HttpError> {
    let request = request
        .header(HOST, at.to_string())
        .header(CONNECTION, "close")
        .body(body)?;
    let stream = TokioIo::new(TcpStream::connect(at).await?);
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(ANSWER_BYTES_MAX)
        .title_case_headers(true)
        .handshake(stream)
        .await?;
    // Ends with the answer, or when it is no longer awaited.
    tokio::spawn(connection);
    let answer = sender.send_request(request).await?;
    let status = answer.status().as_u16();
    let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX);
    let body = body.collect().await.map_err(HttpError::Body)?.to_bytes();
    Ok(RouterAnswer {
        status,
        body: String::from_utf8_lossy(&body).into_owned(),
    })
}
