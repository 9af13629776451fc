//! Real proofs: made, sent, tampered with, verified; here and with zerokit.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod batch;
mod receive;
mod support;
mod zerokit;
