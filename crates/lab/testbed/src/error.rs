//! Errors of setting up or running a testbed.

use std::io;

use thiserror::Error;
use undertone_link::packet::{ConfigError, NetworkMisuse};

/// Error of a testbed that could not be started, or that ended early.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TestbedError {
    /// A host's address could not be changed.
    #[error("the address of host {host} cannot be changed: {source}")]
    Address {
        /// Index of the host.
        host: u32,
        /// Reason that was reported.
        source: io::Error,
    },
    /// The configuration of the network is invalid.
    #[error("the network cannot be built: {0}")]
    Config(#[from] ConfigError),
    /// A change of the network is invalid, e.g. names a host that does not exist.
    #[error("the network cannot be changed: {0}")]
    Change(#[from] NetworkMisuse),
    /// A thread that holds a namespace or pumps packets has panicked.
    #[error("the thread of {what} is gone")]
    Gone {
        /// Owner of the thread, for the message.
        what: &'static str,
    },
    /// The iproute2 command failed.
    #[error("`ip {arguments}` failed in the namespace of host {host}: {source}; install iproute2")]
    Ip {
        /// Index of the host.
        host: u32,
        /// Arguments of the command.
        arguments: &'static str,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The kernel refused a setting.
    #[error("cannot write {value:?} to {path} for host {host}: {source}")]
    Sysctl {
        /// Index of the host.
        host: u32,
        /// Path of the setting's file.
        path: &'static str,
        /// Value that was to be written.
        value: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// There are too many hosts: they are numbered with 24 bits of their addresses.
    #[error("{hosts} hosts do not fit a network of 8 bits: at most {max}")]
    TooManyHosts {
        /// Number of hosts in the configuration.
        hosts: usize,
        /// Maximum number of hosts.
        max: u32,
    },
    /// A thread or an event descriptor could not be created, or waiting for packets failed.
    #[error("{what}: {source}")]
    System {
        /// Description of the failed operation.
        what: &'static str,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The TUN device could not be created.
    #[error("cannot make a TUN device for host {host}: {source}; see `can_run`")]
    Tun {
        /// Index of the host.
        host: u32,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The namespace could not be created.
    #[error("cannot make a network namespace for host {host}: {source}; see `can_run`")]
    Unshare {
        /// Index of the host.
        host: u32,
        /// Error of the operating system.
        source: io::Error,
    },
}
