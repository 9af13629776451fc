//! Flow control of multiplexers as seen on the wire: frames of yamux between two ends of one implementation, recorded by a
//! relay that delays them.

mod ends;
mod record;
mod wire;

pub use ends::{Implementation, MuxError, Transfer};
pub use record::{Recording, WireRow};
pub use wire::{FrameKind, MuxFrame, MuxFrameReader};

#[cfg(test)]
#[path = "tests/mux.rs"]
mod tests;
