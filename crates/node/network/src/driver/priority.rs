//! Lower priority for threads whose work is never urgent.

/// Gives the calling thread the lowest priority, nice value 19: it runs when no other
/// thread wants the processor.
///
/// Linux only, where priorities belong to threads. In POSIX they belong to the process, so that everything would slow
/// down; there, only the thread's budget limits its share.
#[cfg(target_os = "linux")]
pub(super) fn lower() {
    if let Err(error) = rustix::process::setpriority_process(None, 19) {
        tracing::debug!(%error, "could not lower the priority of a background thread");
    }
}

/// Does nothing: on this system priorities belong to the process.
#[cfg(not(target_os = "linux"))]
pub(super) fn lower() {}

#[cfg(all(test, target_os = "linux"))]
#[path = "tests/priority.rs"]
mod tests;
