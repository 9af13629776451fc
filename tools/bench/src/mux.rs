//! Flow control of multiplexers as seen on the wire: yamux frames between two ends of the same implementation,
//! recorded by a delaying relay.

mod ends;
mod record;
mod wire;

pub use ends::{Implementation, MuxError, Transfer};
pub use record::{Recording, WireRow};
pub use wire::{FrameKind, MuxFrame, MuxFrameReader};

#[cfg(test)]
#[path = "tests/mux.rs"]
mod tests;
