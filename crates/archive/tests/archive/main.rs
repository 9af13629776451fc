//! Tests of archives, for both databases.

mod crash;
mod faults;
mod fixture;
mod model;
mod pages;
#[cfg(feature = "postgres")]
mod postgres_server;
mod rows;
mod slots;
