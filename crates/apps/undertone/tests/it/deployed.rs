//! What operators are given to run, run on this machine: the network of the compose file, and the first steps of a new user.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy takes for other code"
)]

mod compose;
