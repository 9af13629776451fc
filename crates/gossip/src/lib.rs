//! GossipSub and flood routing as one deterministic state machine: no clock, socket, thread or random source
//! of its own. Given the same seed and inputs it gives the same outputs, byte for byte.
//!
//! # How a message travels
//!
//! Each topic has a *mesh*: about D peers that send each other every message in full. Joining and leaving
//! it is negotiated with GRAFT and PRUNE; a heartbeat keeps its size. At each heartbeat the ids of recent
//! messages are *gossiped* (IHAVE) to some peers outside the mesh, which request (IWANT) the messages they
//! missed. A peer that holds a large message says so at once (IDONTWANT), so that no second copy is sent to
//! it. Every peer is *scored* by what it delivers; the score decides which peers may be in the mesh, which
//! get gossip, and which are ignored altogether.
//!
//! # Where to start
//!
//! [`Router`] is the state machine, [`Input`] and [`Output`] are its interface, [`Config`] holds its
//! parameters and [`Limits`] the bounds on what remote peers can make it hold or do. [`SendQueue`] is the
//! outbound queue for drivers. The table [`PROTOCOLS`] says what may be sent on which protocol id.
//!
//! Specifications: libp2p pubsub, GossipSub v1.0, v1.1 and v1.2; Waku's deviations (11/WAKU2-RELAY)
//! are the preset [`Config::waku`].
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod address;
mod backoff;
mod cache;
mod config;
mod connect;
mod error;
mod features;
pub mod fragments;
mod gossip;
mod heartbeat;
mod idmap;
mod idontwant;
mod ids;
mod io;
mod iwant;
mod limits;
mod mesh;
mod peers;
mod pending;
mod places;
mod publish;
mod px;
mod queue;
mod receive;
mod renew;
mod rng;
mod router;
mod score;
mod seen;
mod send_schedule;
mod spread;
mod strategy;
mod time;
mod topics;
mod types;
pub mod wire;

#[cfg(test)]
mod tests;

pub use address::AddressGroup;
pub use config::{Config, ConfigError, Degrees, FloodPublish, LargeMessages, Rule};
pub use error::{ApiMisuse, Capacity, Malformed, PeerMisbehaved, Penalty, PublishError};
pub use features::{Features, LARGE_MESSAGES_ID, PROTOCOLS, Protocol};
pub use ids::{MessageIds, Placement};
pub use io::{Class, ControlStats, Input, NewPeer, Output, Progress, Report, Stats, Verdict};
pub use limits::Limits;
pub use queue::{Overflow, QueueLimits, QueuedFrame, SendQueue};
pub use router::{Router, Usage};
pub use score::{Evaluation, ScoreParams, Thresholds, TopicScoreParams};
pub use strategy::{StrategyKind, UnknownStrategy};
pub use time::Time;
pub use types::{Direction, MessageId, PeerIx, RequestId, SendHandle, Topic};
