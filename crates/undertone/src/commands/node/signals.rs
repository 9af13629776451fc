//! Signals by which a supervisor or a terminal tells a node what to do.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::commands::Failure;

/// Signals that a node listens for from its start on, because the system's way with them is to kill the process.
pub(super) struct NodeSignals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

/// Order of a signal.
pub(super) enum NodeOrder {
    /// The node is to stop; the name of the signal.
    Stop(&'static str),
    /// The node is to read its configuration again.
    Reload,
}

impl NodeSignals {
    /// Listens for the signals.
    ///
    /// # Errors
    /// [`Failure`] if the system does not let the process listen.
    pub(super) fn listen() -> Result<Self, Failure> {
        let listen = |kind: SignalKind, name: &str| {
            signal(kind).map_err(|error| Failure::new(format!("cannot listen for {name}: {error}")))
        };
        Ok(Self {
            terminate: listen(SignalKind::terminate(), "SIGTERM")?,
            interrupt: listen(SignalKind::interrupt(), "SIGINT")?,
            hangup: listen(SignalKind::hangup(), "SIGHUP")?,
        })
    }

    /// Waits for the next signal.
    pub(super) async fn next(&mut self) -> NodeOrder {
        tokio::select! {
            _ = self.terminate.recv() => NodeOrder::Stop("SIGTERM"),
            _ = self.interrupt.recv() => NodeOrder::Stop("SIGINT"),
            _ = self.hangup.recv() => NodeOrder::Reload,
        }
    }

    /// Waits for the next signal that asks the node to stop; returns its name.
    pub(super) async fn stop(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}
