//! The REST API against a scripted node: status, body text, and what the node was asked.
#![allow(
    clippy::unwrap_used,
    reason = "only test functions are exempt, and these helpers serve them"
)]

mod access;
mod admin;
mod auto;
mod info;
mod live;
mod relay;
mod serve;
mod support;
