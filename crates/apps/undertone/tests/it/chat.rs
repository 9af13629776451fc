//! `undertone chat` on loopback: processes that talk to each other, in lines and on a terminal.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy takes for other code"
)]

mod light;
mod limited;
mod rooms;
mod screen;
mod support;
