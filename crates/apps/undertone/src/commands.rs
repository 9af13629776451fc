//! The subcommands, one module each, and their output for people and programs.

#[cfg(feature = "lab")]
pub(crate) mod attack;
#[cfg(feature = "chat")]
pub(crate) mod chat;
#[cfg(feature = "lab")]
pub(crate) mod demo;
pub(crate) mod doctor;
#[cfg(feature = "lab")]
pub(crate) mod interrupt;
#[cfg(feature = "lab")]
pub(crate) mod lab;
pub(crate) mod migrate;
#[cfg(feature = "lab")]
pub(crate) mod model;
pub(crate) mod node;
pub(crate) mod node_flags;
pub(crate) mod registry;
pub(crate) mod rln;
#[cfg(feature = "lab")]
pub(crate) mod sim;
pub(crate) mod store;
#[cfg(feature = "lab")]
pub(crate) mod sweep;
#[cfg(feature = "lab")]
pub(crate) mod testbed;

mod chain;
mod failure;
mod output;
mod progress;

pub(crate) use failure::Failure;
