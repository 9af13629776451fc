//! Tests with real proofs: made, sent, tampered with and verified, by this crate and by zerokit.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod batch;
mod receive;
mod support;
mod zerokit;
