//! Results of tasks that run beside the services' host.

use std::time::Duration;

use undertone_services::history::{HistoryError, HistoryPage};
use undertone_services::lightpush::PublishRefusal;
use undertone_services::{PeerNo, RequestNo};

/// Results of tasks that run beside the host.
pub(super) enum FinishedWork {
    Page {
        query: RequestNo,
        result: Result<HistoryPage, HistoryError>,
        took: Duration,
    },
    Published {
        publish: RequestNo,
        outcome: Result<u32, PublishRefusal>,
    },
    Pushed {
        peer: PeerNo,
        delivered: bool,
    },
    /// The task that pushes to a peer has ended because it was idle.
    Idle {
        peer: PeerNo,
    },
}
