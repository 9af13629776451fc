//! Ctrl-C during a simulation: the first stops the running work and keeps its results, the second ends the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tokio::signal::unix::{SignalKind, signal};

use super::{Failure, output};

/// Exit code of an interrupted program, as in shells.
pub(crate) const INTERRUPTED: u8 = 130;

/// Flag that is set when the user asks to stop.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt {
    is_asked: Arc<AtomicBool>,
}

impl Interrupt {
    /// Starts to listen for SIGINT and SIGTERM.
    ///
    /// # Errors
    /// [`Failure`] if the process cannot listen for signals.
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

    /// Whether the user has asked to stop.
    pub(crate) fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::Relaxed)
    }
}
