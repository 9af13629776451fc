//! How long this machine's kernel takes for one message on one TCP connection, from the write to
//! the last byte read: the measure for a model of its TCP.
//!
//! Two hosts, one connection, three messages of one size: the first on the fresh connection
//! ([`Moment::Cold`]), the second as soon as the first is acknowledged ([`Moment::Warm`]), the third
//! after a pause long enough for the congestion window to be taken back ([`Moment::Idle`]; Linux's
//! `tcp_slow_start_after_idle`). Each measurement has namespaces of its own, so that nothing the
//! kernel remembers of an address helps the next one.

mod formula;
mod measure;
mod model;
mod socket;
mod table;

pub use formula::{slow_start_ms, transfer_ms};
pub use measure::{Case, KernelError, Measured, measure};
pub use model::simulated_ms;
pub use table::{Row, median_ms, table};

use clap::ValueEnum;

/// When a message is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Moment {
    /// First on its connection.
    Cold,
    /// Right after another of the same size.
    Warm,
    /// After a long pause.
    Idle,
}

impl Moment {
    /// In the order in which they are measured.
    pub const ALL: [Self; 3] = [Self::Cold, Self::Warm, Self::Idle];

    /// For the head of a column.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Warm => "warm",
            Self::Idle => "idle",
        }
    }
}
