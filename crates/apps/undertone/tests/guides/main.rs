//! The shell lines of the documents, run as they stand. A program of its own, because they listen at ports that were free a moment
//! before, which other tests of one process would take.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy takes for other code"
)]

mod first_steps;
mod readme;
