//! Tests of the program as people and other programs use it: its commands, and its nodes as processes.

mod chain_cli;
#[cfg(feature = "chat")]
mod chat;
#[cfg(feature = "lab")]
mod demo;
mod deploy;
mod deployed;
#[cfg(feature = "lab")]
mod discovery;
#[cfg(feature = "lab")]
mod lab_cli;
#[cfg(feature = "lab")]
mod lab_report;
#[cfg(feature = "lab")]
mod lab_run;
mod migrate_cli;
mod nat;
mod node_cli;
mod nwaku;
mod operating;
mod operator;
mod rln_cli;
mod store_cli;
mod support;
#[cfg(feature = "lab")]
mod testbed;
