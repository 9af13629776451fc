//! `undertone store` on stores of real nodes, with real memberships and proofs.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy takes for other code"
)]

mod live;
mod misuse;
mod support;
mod tampered;
