//! Signals by which a supervisor or a terminal controls a node.

use std::time::{Duration, Instant};

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::commands::Failure;

/// Time within which a second SIGTERM counts as the same request. Two arrive when a supervisor signals a whole
/// process group and a parent process passes the signal on as well.
const ECHO: Duration = Duration::from_secs(1);

/// Signals that a node handles from its start on, because by default they would kill the process.
pub(super) struct NodeSignals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

/// Request of a signal.
pub(super) enum NodeOrder {
    /// Stop the node; holds the name of the signal.
    Stop(&'static str),
    /// Reload the configuration.
    Reload,
}

impl NodeSignals {
    /// Starts to listen for the signals.
    ///
    /// # Errors
    /// [`Failure`] if the process cannot listen for signals.
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

    /// Waits for another signal to stop, after the one called `first`, which has just arrived.
    pub(super) async fn stop_again(&mut self, first: &str) -> &'static str {
        let told = Instant::now();
        loop {
            let name = self.stop().await;
            if !is_echo(first, name, told.elapsed()) {
                return name;
            }
        }
    }
}

/// Whether a signal to stop only repeats an earlier one that arrived `after` before.
fn is_echo(first: &str, name: &str, after: Duration) -> bool {
    (first, name) == ("SIGTERM", "SIGTERM") && after <= ECHO
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_second_sigterm_within_a_second_is_an_echo() {
        assert!(is_echo("SIGTERM", "SIGTERM", Duration::ZERO));
        assert!(is_echo("SIGTERM", "SIGTERM", ECHO));
        assert!(!is_echo(
            "SIGTERM",
            "SIGTERM",
            ECHO + Duration::from_millis(1)
        ));
        assert!(!is_echo("SIGTERM", "SIGINT", Duration::ZERO));
        assert!(!is_echo("SIGINT", "SIGINT", Duration::ZERO));
        assert!(!is_echo("SIGINT", "SIGTERM", Duration::ZERO));
    }
}
