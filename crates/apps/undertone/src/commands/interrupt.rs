//! Ctrl-C during a simulation: the first one stops what runs and keeps what is done, the second one ends the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tokio::signal::unix::{SignalKind, signal};

use super::{Failure, output};

/// Exit code of a program that was interrupted, as shells have it.
pub(crate) const INTERRUPTED: u8 = 130;

/// Whether the user has asked that the work stops.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt {
    is_asked: Arc<AtomicBool>,
}

impl Interrupt {
    /// Listens for SIGINT and SIGTERM from now on.
    ///
    /// # Errors
    /// [`Failure`] if the system does not let the process listen.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let failed = |error| Failure::new(format!("cannot listen for signals: {error}"));
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().map_err(failed)?;
        let (mut interrupt, mut terminate) = {
            let _inside = runtime.enter();
            let listen = |kind| signal(kind).map_err(failed);
            (
                listen(SignalKind::interrupt())?,
                listen(SignalKind::terminate())?,
            )
        };
        let is_asked = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&is_asked);
        // The thread ends with the program.
        thread::spawn(move || {
            runtime.block_on(async {
                loop {
                    tokio::select! {
                        _ = interrupt.recv() => {}
                        _ = terminate.recv() => {}
                    }
                    if asked.swap(true, Ordering::Relaxed) {
                        std::process::exit(INTERRUPTED.into());
                    }
                    output::note(
                        "stopping, and keeping what is done; once more ends the program at once",
                    );
                }
            });
        });
        Ok(Self { is_asked })
    }

    /// Whether the work is to stop.
    pub(crate) fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::Relaxed)
    }
}
