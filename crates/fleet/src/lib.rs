//! Real nodes for the demo, the testbed and the laboratory: started, wired, driven, attacked, measured.
//!
//! Nothing here reads arguments or prints: a [`Progress`] listens to what takes a while, results are plain
//! data, and every error is typed. [`measure`] is about proofs alone, without nodes.

pub mod measure;
mod progress;

pub use progress::Progress;
