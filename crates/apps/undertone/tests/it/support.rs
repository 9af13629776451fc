//! What tests of several commands need: places to run the program in, nodes as processes, and messages of members.

#![allow(
    clippy::unwrap_used,
    reason = "only test functions are exempt, and these helpers serve them"
)]

pub(crate) mod author;
pub(crate) mod place;
pub(crate) mod process;
