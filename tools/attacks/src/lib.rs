//! Attacks on a running node, and their effect on its users.
//!
//! A [`TestNetwork`] is a small honest network of real `undertone node` processes over loopback, one of them the
//! victim. Each module of [`attacks`] is one attack; [`matrix`] stops or disconnects a node in several ways
//! and measures how soon messages flow again. The binary `hostile` runs the long forms and prints one table;
//! the tests in `tests/hostile` run short forms. `docs/measurements/hostile.md` describes how to run both and what is
//! measured.
//!
//! Attackers have their own loopback addresses (127.0.0.0/8), so that limits per address apply to them.
//! Every loop is bounded in count and time.

pub mod asks;
pub mod attacks;
pub mod chain;
mod counted;
mod error;
pub mod light;
pub mod matrix;
pub mod members;
pub mod node;
pub mod peer;
pub mod proxy;
pub mod raw;
pub mod rest;
pub mod rpc;
pub mod service_client;
pub mod soak;
pub mod table;
mod tasks;
pub mod test_network;
mod topics;
pub mod traffic;
mod usage;
pub mod users;

pub use counted::Counted;
pub use error::HostileError;
pub use tasks::Tasks;
pub use test_network::{StageOptions, TestNetwork};
pub use usage::{ProcessLook, Usage};
