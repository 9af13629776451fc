//! Thread that posts spans to the collector. A slow or missing collector delays nothing but this thread.

use std::io::{self, Read as _};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use libp2p::PeerId;
use thiserror::Error;
use tokio::sync::oneshot;
use undertone_membership::evm::without_credentials;

use super::TraceSpan;
use super::otlp::{self, ClockPair};
use super::queue::SpanQueue;

/// Timeout for posting a batch.
const POSTING: Duration = Duration::from_secs(5);

/// Pause after a failed batch; doubled with each further failure, up to the maximum.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// Maximum bytes of the collector's answer that are read.
const ANSWER_BYTES_MAX: u64 = 64 << 10;

/// Owner of the thread that posts spans.
pub struct TraceExporter {
    queue: Arc<SpanQueue>,
    ended: oneshot::Receiver<()>,
}

/// Reason why posting spans failed.
#[derive(Debug, Error)]
enum PostError {
    #[error("{0}")]
    Unreachable(#[from] Box<ureq::Error>),
    #[error("it answers with status {0}")]
    Status(u16),
}

impl TraceExporter {
    pub(super) fn start(url: String, own: PeerId, queue: Arc<SpanQueue>) -> io::Result<Self> {
        let (ending, ended) = oneshot::channel();
        let posting = queue.clone();
        thread::Builder::new()
            .name("traces".into())
            .spawn(move || {
                post_all(&url, &own, &posting);
                // The owner may not wait.
                let _ = ending.send(());
            })?;
        Ok(Self { queue, ended })
    }

    /// Posts the waiting spans one last time, and ends.
    pub async fn finish(mut self) {
        self.queue.close();
        // Fails if the thread has panicked, which was logged.
        let _ = (&mut self.ended).await;
    }
}

impl Drop for TraceExporter {
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// Posts batches until the queue is closed.
fn post_all(url: &str, own: &PeerId, queue: &SpanQueue) {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(POSTING))
        .http_status_as_error(false)
        .max_redirects(0)
        .build()
        .into();
    let mut pause = Duration::ZERO;
    while let Some(batch) = queue.batch() {
        match post(&agent, url, own, &batch) {
            Ok(refused) => {
                let refused = usize::try_from(refused)
                    .unwrap_or(usize::MAX)
                    .min(batch.len());
                queue.posted(batch.len() - refused, refused);
                if !pause.is_zero() {
                    tracing::info!("the collector of traces takes spans again");
                    pause = Duration::ZERO;
                }
            }
            Err(error) => {
                queue.posted(0, batch.len());
                if pause.is_zero() {
                    let url = without_credentials(url);
                    tracing::warn!(url, %error, "the collector of traces takes no spans; they are lost");
                }
                pause = (2 * pause).clamp(PAUSE_MIN, PAUSE_MAX);
                if queue.is_closed_within(pause) {
                    return;
                }
            }
        }
    }
}

/// Posts one batch; returns the number of its spans that the collector refused.
fn post(
    agent: &ureq::Agent,
    url: &str,
    own: &PeerId,
    batch: &[TraceSpan],
) -> Result<u64, PostError> {
    let body = otlp::request(own, batch, ClockPair::read());
    let mut response = agent
        .post(url)
        .header("content-type", "application/x-protobuf")
        .send(&body[..])
        .map_err(Box::new)?;
    let status = response.status();
    if !status.is_success() {
        return Err(PostError::Status(status.as_u16()));
    }
    let mut answer = Vec::new();
    let mut reader = response.body_mut().as_reader().take(ANSWER_BYTES_MAX);
    // The spans were accepted, even if the rest of the answer fails.
    let _ = reader.read_to_end(&mut answer);
    Ok(otlp::refused(&answer))
}

#[cfg(test)]
#[path = "tests/exporter.rs"]
mod tests;
