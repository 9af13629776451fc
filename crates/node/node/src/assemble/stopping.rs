//! Stopping an assembled node: one sequence of steps with a common deadline.

use std::time::Duration;

use tokio::time::{Instant, timeout, timeout_at};

use super::Assembled;
use undertone_provider::services::UnsavedWork;

/// Time limit for exporting the last spans.
const TRACES: Duration = Duration::from_secs(1);

/// Time limits for stopping a node.
///
/// A supervisor that sends SIGTERM kills the process some time later, often after ten seconds. The whole sequence
/// therefore has one deadline, whatever a single step would need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopDeadlines {
    /// Time for requests to the REST API that are in progress. A client whose request is cut off gets no answer, so
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

/// How a node has stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StopOutcome {
    /// Whether the network thread ended in time; it saves the membership as it ends.
    pub network_ended: bool,
    /// Work not yet on disk at the deadline.
    pub unsaved: UnsavedWork,
}

impl StopOutcome {
    /// Whether everything that the node acknowledged is on disk.
    pub fn is_complete(&self) -> bool {
        self.network_ended && self.unsaved == UnsavedWork::default()
    }
}

impl Assembled {
    /// Stops the servers, then the node, and waits until all acknowledged work is on disk, for 8 s at most.
    pub async fn stop(self) -> StopOutcome {
        self.stop_within(StopDeadlines::default()).await
    }

    /// Like [`Self::stop`], with other deadlines.
    ///
    /// Stops the sources of work in order: first requests, then messages of peers. What these have left is then
    /// written.
    pub async fn stop_within(self, deadlines: StopDeadlines) -> StopOutcome {
        let deadline = Instant::now() + deadlines.total;
        let mut ending = Vec::new();
        for server in self.servers {
            // The server may have ended by itself; that was logged.
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
            // Spans that the collector does not accept in time are lost, which affects only the trace.
            let _ = timeout_at(last, exporter.finish()).await;
        }
        StopOutcome {
            network_ended,
            unsaved,
        }
    }
}
