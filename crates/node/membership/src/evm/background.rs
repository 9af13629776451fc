//! Background thread that stops when its owner is dropped.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::error::EvmError;

/// The owner's handle. Dropping it tells the thread to stop and joins it.
#[derive(Debug)]
pub(super) struct Background {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The thread's handle, which reports when to stop.
#[derive(Debug)]
pub(super) struct Stop(Receiver<()>);

impl Background {
    pub(super) fn start(run: impl FnOnce(Stop) + Send + 'static) -> Result<Self, EvmError> {
        let (stop, stopped) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("chain".into())
            .spawn(move || run(Stop(stopped)))
            .map_err(EvmError::Thread)?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was already printed; there is nothing to save.
            let _ = thread.join();
        }
    }
}

impl Stop {
    /// Waits for `timeout` or until the owner is dropped; returns whether it was dropped.
    pub(super) fn within(&self, timeout: Duration) -> bool {
        !matches!(self.0.recv_timeout(timeout), Err(RecvTimeoutError::Timeout))
    }
}
