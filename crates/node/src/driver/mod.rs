//! The driver: runs the relay state machine on a real clock, real sockets and real threads.
//!
//! One thread runs the network (a single-threaded runtime: a frame passes from socket to state
//! machine to socket without waking another thread), a few others verify proofs, one generates them,
//! and one follows the membership.

mod alive;
mod arriving;
mod commands;
mod deliver;
mod dial;
mod event_loop;
mod events;
mod health;
mod listen;
mod member;
mod membership;
mod membership_source;
mod metadata;
mod metrics;
mod options;
mod parts;
mod peers;
mod posts;
mod priority;
mod pubsub;
mod record;
mod rln;
mod start;
mod time;
mod tokens;
mod verify;

pub use crate::swarm::ConnectionLimits;
pub use events::{NodeEvent, TimedEvent};
pub use member::{MemberClock, MemberProofs};
pub use membership_source::MembershipSource;
pub use options::{NodeOptions, RlnOptions};
pub use rln::{Joining, ProofSource, Standing};
pub use start::{RunningNode, StartError, start};
pub use tokens::{PoolMonitor, PooledProofs};
