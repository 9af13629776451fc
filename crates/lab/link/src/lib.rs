#![doc = include_str!("../README.md")]
//!
//! # Where to start
//!
//! [`Host`] with its [`StackConfig`] and [`Profile`], or [`packet::Network`].

mod boxed_if_used;
mod connection;
mod downlink;
mod flights;
mod flow;
mod handshake;
mod host;
mod inflight;
pub mod packet;
mod profile;
mod queue;
mod rate;
mod uplink;

pub use connection::Burst;
pub use downlink::QueueDiscipline;
pub use flow::{FlowControl, MUXES, MuxProfile};
pub use handshake::{HANDSHAKES, HandshakeProfile, SentBefore};
pub use host::{
    Arrival, ConnIx, Host, Input, Misuse, Output, Priority, Segment, StackConfig, TrafficTotals,
};
pub use profile::{BufferTuning, Idle, LARGE_WINDOW_PACKETS, Profile, SendBuffer, Sharing};
pub use rate::LinkRate;
