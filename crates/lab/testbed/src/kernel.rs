//! Measurement of the time that this machine's kernel takes for one message on one TCP connection,
//! from the write to the last byte read, as a reference for a model of its TCP.
//!
//! There are two hosts, one connection and three messages of one size: the first on the fresh
//! connection ([`Moment::Cold`]), the second as soon as the first is acknowledged
//! ([`Moment::Warm`]), the third after a pause long enough for the congestion window to be reset
//! ([`Moment::Idle`]; Linux's `tcp_slow_start_after_idle`). Each measurement has its own
//! namespaces, so that no cached metrics of an address affect the next one.

mod formula;
mod measure;
mod model;
pub(crate) mod socket;
mod table;

pub use formula::{slow_start_ms, transfer_ms};
pub use measure::{Case, KernelError, Measured, measure};
pub use model::simulated_ms;
pub use table::{Row, median_ms, table};

use clap::ValueEnum;

/// Moment in a connection's life at which a message is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Moment {
    /// First message on its connection.
    Cold,
    /// Message right after another of the same size.
    Warm,
    /// Message after a long pause.
    Idle,
}

impl Moment {
    /// All moments, in the order in which they are measured.
    pub const ALL: [Self; 3] = [Self::Cold, Self::Warm, Self::Idle];

    /// Returns the name for the head of a column.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Warm => "warm",
            Self::Idle => "idle",
        }
    }
}
