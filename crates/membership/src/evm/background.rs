//! A thread that ends with its owner.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::registry::EvmError;

/// The owner's end: when it is dropped, the thread is told to stop and waited for.
#[derive(Debug)]
pub(super) struct Background {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The thread's end.
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
            // Its panic was printed; there is nothing to save.
            let _ = thread.join();
        }
    }
}

impl Stop {
    /// Waits for `timeout` or until the owner is gone; tells whether it is.
    pub(super) fn within(&self, timeout: Duration) -> bool {
        !matches!(self.0.recv_timeout(timeout), Err(RecvTimeoutError::Timeout))
    }
}
