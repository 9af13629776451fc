//! Handle by which the owner of a follower's thread reads its status and asks for a refresh.

use std::sync::Arc;
use std::time::Duration;

use super::background::Background;
use super::error::EvmError;
use super::health::ChainStatus;
use super::rpc::Endpoints;
use super::session::ChainSession;
use super::signals::Signals;

/// Handle of the thread that follows a contract. Clones share the thread, which ends with the last
/// of them.
#[derive(Clone, Debug)]
pub struct ChainHandle(Arc<Thread>);

#[derive(Debug)]
struct Thread {
    signals: Arc<Signals>,
    /// Background thread, stopped when the last handle is dropped.
    _background: Background,
}

impl ChainHandle {
    /// Starts the thread that asks `endpoints`. `run` must return when [`ChainSession::is_stopped`].
    pub(super) fn start(
        endpoints: Endpoints,
        run: impl FnOnce(ChainSession) + Send + 'static,
    ) -> Result<Self, EvmError> {
        let signals = Arc::new(Signals::new());
        let known = Arc::clone(&signals);
        let background =
            Background::start(move |stop| run(ChainSession::new(endpoints, known, stop)))?;
        Ok(Self(Arc::new(Thread {
            signals,
            _background: background,
        })))
    }

    /// Returns the status of the follower.
    pub fn status(&self) -> ChainStatus {
        self.0.signals.status()
    }

    /// Waits until the status satisfies `done` or `timeout` has passed; returns the status then.
    pub fn wait_until(
        &self,
        timeout: Duration,
        done: impl Fn(&ChainStatus) -> bool,
    ) -> ChainStatus {
        self.0.signals.wait_until(timeout, done)
    }

    /// Requests an early poll for a new block, because a peer refers to an unknown change. Subject to
    /// [`super::EvmConfig::throttle`].
    pub fn request_refresh(&self) {
        self.0.signals.request_refresh();
    }
}
