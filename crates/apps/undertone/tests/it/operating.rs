//! A node as its supervisor sees it: a process that is told by signals to stop, or to read its
//! configuration again.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy takes for other code"
)]

mod certificate;
mod reloading;
mod stopping;
mod support;
