//! End of an assembled node: one sequence of steps with a deadline.

use std::time::Duration;

use tokio::time::{Instant, timeout, timeout_at};

use super::Assembled;
use undertone_provider::services::UnsavedWork;

/// Time for the last spans to be posted.
const TRACES: Duration = Duration::from_secs(1);

/// Longest times that a node takes to stop.
///
/// A supervisor that sends SIGTERM kills the process some time later, often after ten seconds, so the whole sequence has
/// one deadline, whatever a single step would like to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopDeadlines {
    /// Time for requests to the REST API that are in progress. A client whose request is cut off has no answer, so
    /// nothing that was acknowledged is lost with it.
    pub requests: Duration,
    /// Time for the whole sequence, the requests included.
    pub total: Duration,
}

impl Default for StopDeadlines {
    fn default() -> Self {
        Self {
            requests: Duration::from_secs(2),
            total: Duration::from_secs(8),
        }
    }
}

/// State in which a node has stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StopOutcome {
    /// Whether the network thread ended in time, after which the membership is saved.
    pub network_ended: bool,
    /// Work that was not on disk at the deadline.
    pub unsaved: UnsavedWork,
}

impl StopOutcome {
    /// Whether all that the node had acknowledged is on disk.
    pub fn is_complete(&self) -> bool {
        self.network_ended && self.unsaved == UnsavedWork::default()
    }
}

impl Assembled {
    /// Stops the servers, then the node, and waits until what it has acknowledged is on disk, for 8 s at most.
    pub async fn stop(self) -> StopOutcome {
        self.stop_within(StopDeadlines::default()).await
    }

    /// As [`Self::stop`], with other deadlines.
    ///
    /// The order is that in which work arises: first no request comes any more, then no message from a peer; what these
    /// have left behind is then written.
    pub async fn stop_within(self, deadlines: StopDeadlines) -> StopOutcome {
        let deadline = Instant::now() + deadlines.total;
        let mut ending = Vec::new();
        for server in self.servers {
            // The server may have ended by itself, which was logged.
            let _ = server.stop.send(());
            ending.push(server.task);
        }
        let cut_off: Vec<_> = ending.iter().map(|task| task.abort_handle()).collect();
        let ended = async {
            for task in ending {
                let _ = task.await;
            }
        };
        if timeout(deadlines.requests, ended).await.is_err() {
            tracing::warn!("requests to the REST API were still in progress and are cut off");
            cut_off.iter().for_each(tokio::task::AbortHandle::abort);
        }
        let network_ended = timeout_at(deadline, self.node.stop()).await.is_ok();
        if !network_ended {
            tracing::error!("the network thread did not end in time; the process ends without it");
        }
        let unsaved = self.services.flush(deadline).await;
        if let Some(exporter) = self.exporter {
            let last = deadline.min(Instant::now() + TRACES);
            // Spans that the collector does not take in time are lost, which harms nothing but the trace.
            let _ = timeout_at(last, exporter.finish()).await;
        }
        StopOutcome {
            network_ended,
            unsaved,
        }
    }
}
