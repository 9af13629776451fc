//! Anonymity of publishers: who spoke, as observers of a simulated network estimate it.
//!
//! Observers are nodes that note when, and from whom, they first got each message. They guess the publisher by an
//! [`Estimator`]. Passive observers change nothing, so one run gives figures for any number of them.

mod estimate;
mod figures;
mod known;
mod observe;

pub use estimate::{Estimator, Guess};
pub use figures::{AnonymityFigures, Attempt};
pub use known::KnownNetwork;
pub use observe::{Observers, Sighting};

#[cfg(test)]
mod tests;
