//! Tests of archives, for both databases.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod crash;
mod faults;
mod fixture;
mod model;
mod pages;
#[cfg(feature = "postgres")]
#[allow(dead_code, reason = "the tests of nodes need more of it")]
mod postgres_server;
mod rows;
mod slots;
