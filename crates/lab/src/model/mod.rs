//! Closed-form models: the published ones, and ours.

pub mod hops;
pub mod large;
pub mod path;
pub mod scenario;
pub mod spread;

#[cfg(test)]
mod tests;
