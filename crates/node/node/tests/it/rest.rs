//! The REST API against a scripted node: status, body text, and what the node was asked.
#![allow(
    clippy::unwrap_used,
    reason = "only test functions are exempt, and these helpers serve them"
)]

mod access;
mod admin;
mod auto;
mod events;
mod info;
mod live;
mod openapi;
mod relay;
mod serve;
mod support;
