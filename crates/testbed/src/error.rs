//! What can go wrong while a testbed is set up or runs.

use std::io;

use thiserror::Error;
use undertone_link::packet::{ApiMisuse, ConfigError};

/// A testbed that could not be started, or ended early.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TestbedError {
    /// The description of the network is wrong.
    #[error("the network cannot be built: {0}")]
    Config(#[from] ConfigError),
    /// A change names what is not there.
    #[error("the network cannot be changed: {0}")]
    Change(#[from] ApiMisuse),
    /// A thread that should hold a namespace or pump packets ended by a panic.
    #[error("the thread of {what} is gone")]
    Gone {
        /// Whose thread.
        what: &'static str,
    },
    /// The iproute2 command failed.
    #[error("`ip {arguments}` failed in the namespace of host {host}: {source}; install iproute2")]
    Ip {
        /// The host's index.
        host: u32,
        /// What it was told.
        arguments: &'static str,
        /// Why.
        source: io::Error,
    },
    /// The kernel refused a setting.
    #[error("cannot write {value:?} to {path} for host {host}: {source}")]
    Sysctl {
        /// The host's index.
        host: u32,
        /// The file.
        path: &'static str,
        /// What was to be written.
        value: String,
        /// Why.
        source: io::Error,
    },
    /// Hosts are numbered with 24 bits of their addresses.
    #[error("{hosts} hosts do not fit 10.0.0.0/8: at most {max}")]
    TooManyHosts {
        /// How many were asked for.
        hosts: usize,
        /// How many there can be.
        max: u32,
    },
    /// A thread or an event descriptor could not be made, or waiting for packets failed.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// The TUN device could not be made.
    #[error("cannot make a TUN device for host {host}: {source}; see `can_run`")]
    Tun {
        /// The host's index.
        host: u32,
        /// Why.
        source: io::Error,
    },
    /// The namespace could not be made.
    #[error("cannot make a network namespace for host {host}: {source}; see `can_run`")]
    Unshare {
        /// The host's index.
        host: u32,
        /// Why.
        source: io::Error,
    },
}
