//! Threads whose work can wait for everyone else's.

/// Lets the calling thread run when no other wants the processor: nice value 19.
///
/// Only where priorities are a thread's own. POSIX makes them the process's, which would slow down
/// everything; there the thread's share is held down by its budget alone.
#[cfg(target_os = "linux")]
pub(super) fn lower() {
    if let Err(error) = rustix::process::setpriority_process(None, 19) {
        tracing::debug!(%error, "could not lower the priority of a background thread");
    }
}

/// See above.
#[cfg(not(target_os = "linux"))]
pub(super) fn lower() {}

#[cfg(all(test, target_os = "linux"))]
mod tests;
