//! Interface to the listener that shows progress.

/// Listener to the progress of work that takes a while.
pub trait Progress {
    /// Reports the step that begins.
    fn step(&self, what: &str);

    /// Reports something that a user should know and that is no failure.
    fn note(&self, what: &str);

    /// Reports that the work has ended. Another step begins new work.
    fn finish(&self);
}
