//! A node as its supervisor sees it: a process that is told by signals to stop.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy takes for other code"
)]

mod stopping;
mod support;
