//! Real nodes for the demo, the testbed and the laboratory: started, wired, driven, attacked, measured.
//!
//! Nothing here reads arguments or prints: a [`Progress`] listens to long-running work, results are plain
//! data, and every error is typed. [`demo`] is a small network, [`experiments`] are the measurements for the
//! laboratory, [`in_process`] has the nodes of both, and [`attack`] has the attackers. [`processes`] runs a
//! scenario with a process for each node. [`measure`] measures proofs alone, without nodes.

pub mod attack;
mod credentials;
pub mod demo;
mod dev_chain;
pub mod experiments;
pub mod in_process;
pub mod measure;
mod payload;
pub mod processes;
mod progress;

pub use progress::Progress;
