//! Closed-form models: the published ones, and ours.

pub mod comparison;
pub mod hops;
pub mod large;
pub mod path;
pub mod scenario;
pub mod spread;
pub mod tables;

#[cfg(test)]
#[path = "tests/model.rs"]
mod tests;
