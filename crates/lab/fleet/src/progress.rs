//! Interface for displaying progress.

/// Listener for the progress of long-running work.
pub trait Progress {
    /// Reports the step that begins.
    fn step(&self, what: &str);

    /// Reports something that a user should know but that is not a failure.
    fn note(&self, what: &str);

    /// Reports that the work has ended. Another step begins new work.
    fn finish(&self);
}
