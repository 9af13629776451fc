//! Writing of the send queue, and handling of a disk that refuses writes.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use super::driver::SenderDriver;
use super::handle::{SendFailure, SenderCall};
use super::queue::QueueWrite;
use super::step::SenderStep;

/// Pause before a failed write is repeated.
const REPEAT_AFTER: Duration = Duration::from_secs(1);

impl SenderDriver {
    /// Writes the changes of a step to disk, with retries while the disk refuses them. Nothing is started before its
    /// record is on disk, so a full disk stops the sender. Meanwhile callers are answered, and their new messages are
    /// refused. Returns the step without its changes.
    pub(super) async fn write(
        &mut self,
        mut step: SenderStep,
        calls: &mut mpsc::Receiver<SenderCall>,
    ) -> SenderStep {
        let mut is_refused = false;
        while !step.writes.is_empty() {
            let Some(error) = self.commit(&mut step.writes).await else {
                break;
            };
            if !is_refused {
                tracing::error!(%error, "the send queue cannot be written; nothing is sent until it can");
                is_refused = true;
            }
            for (reply, id) in std::mem::take(&mut step.accepted) {
                let ids = self.machine.withdraw(id);
                self.reports.forget(&step.withdraw(&ids));
                let reason = error.clone();
                let _ = reply.send(Err(SendFailure::Unwritable { reason }));
            }
            self.state.set_waiting(&self.machine);
            self.state.set_trouble(Some(error.clone()));
            self.answer_for(REPEAT_AFTER, &error, calls).await;
        }
        if is_refused {
            self.state.set_trouble(None);
            tracing::info!("the send queue can be written again");
        }
        step
    }

    /// Writes changes to disk and removes those that were written. Returns the error if none were.
    async fn commit(&self, writes: &mut Vec<QueueWrite>) -> Option<String> {
        let batch = Arc::new(std::mem::take(writes));
        let (queue, written) = (Arc::clone(&self.queue), Arc::clone(&batch));
        let result = tokio::task::spawn_blocking(move || queue.lock().commit(&written)).await;
        let error = match result {
            Ok(Ok(())) => return None,
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        *writes = Arc::unwrap_or_clone(batch);
        Some(error)
    }

    /// Answers callers during a pause in which no message can be accepted because of `error`.
    async fn answer_for(
        &mut self,
        pause: Duration,
        error: &str,
        calls: &mut mpsc::Receiver<SenderCall>,
    ) {
        let end = Instant::now() + pause;
        while let Ok(call) = tokio::time::timeout_at(end, calls.recv()).await {
            match call {
                Some(SenderCall::Send { reply, .. } | SenderCall::WaitForPeer { reply, .. }) => {
                    let reason = error.to_owned();
                    // A caller that no longer waits is not an error.
                    let _ = reply.send(Err(SendFailure::Unwritable { reason }));
                }
                Some(call) => self.on_call(call).await,
                // The node is stopping, but acknowledged messages still have to be written.
                None => return tokio::time::sleep_until(end).await,
            }
        }
    }
}
