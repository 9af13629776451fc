#![doc = include_str!("../README.md")]
//!
//! # Where to start
//!
//! [`Router`] is the state machine, [`Input`] and [`Output`] are its interface. [`Config`] holds its parameters
//! and [`Limits`] the bounds on what remote peers can make it hold or do. [`SendQueue`] is the outbound queue for
//! drivers. The table [`PROTOCOLS`] says what may be sent on which protocol id. A custom strategy implements
//! [`Strategy`] and reads [`View`].
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod address;
mod backoff;
mod cache;
mod config;
mod connect;
mod dissemination;
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
mod mesh_replacement;
mod parameters;
mod peer_topics;
mod peers;
mod pending;
mod policy;
mod profiles;
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
mod stem;
mod strategy;
mod time;
mod topics;
mod traffic;
mod types;
mod upkeep;
pub mod wire;

#[cfg(test)]
mod tests;

pub use address::AddressGroup;
pub use config::{Config, ConfigError, Rule};
pub use error::{ApiMisuse, Capacity, Malformed, PeerMisbehaved, Penalty, PublishError};
pub use features::{Features, LARGE_MESSAGES_ID, PROTOCOLS, Protocol, STEM_ID};
pub use ids::{MessageIds, Placement};
pub use io::{Class, ControlStats, Input, NewPeer, Output, Progress, Report, Stats, Verdict};
pub use limits::Limits;
pub use parameters::{Dandelion, Degrees, FloodPublish, LargeMessages, Parameters};
pub use policy::{MeshTrim, RouterPolicy, SendOrder};
pub use profiles::{PROFILES, ProfileRules, RouterProfile};
pub use queue::{Overflow, QueueLimits, QueuedFrame, SendQueue};
pub use rng::Rng;
pub use router::{Router, Usage};
pub use score::{Evaluation, ScoreParams, Thresholds, TopicScoreParams};
pub use strategy::{
    SendPlan, Strategy, StrategyChoice, StrategyFactory, StrategyKind, UnknownStrategy, View,
};
pub use time::Time;
pub use traffic::{TopicBudget, TopicTraffic};
pub use types::{Direction, MessageId, PeerIx, RequestId, SendHandle, Topic};
