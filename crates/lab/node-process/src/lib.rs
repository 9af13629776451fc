//! The program `undertone node` as a process, for the testbed, for attacks and for tests.
//!
//! [`command`] returns the program without the settings in this process's environment. [`NodeProcess`] starts it, sends
//! it signals, reads its log and kills it when dropped. [`rest`] queries its REST server. [`wait_for`] polls for state
//! that nothing reports.

pub mod host;
mod ports;
mod process;
mod ready;
pub mod rest;
mod wait;

pub use ports::free_port;
pub use process::{NodeProcess, StartError, command, log_tail};
pub use ready::Ready;
pub use rustix::process::Signal;
pub use wait::wait_for;
