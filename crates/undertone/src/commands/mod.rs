//! The subcommands, one module each, and their output for people and programs.

pub(crate) mod demo;
pub(crate) mod lab;
pub(crate) mod model;
pub(crate) mod node;
pub(crate) mod registry;
pub(crate) mod rln;
pub(crate) mod sim;
pub(crate) mod testbed;

mod anvil;
mod chain;
mod failure;
mod output;

pub(crate) use failure::Failure;
