//! The driver: runs the relay state machine on a real clock, real sockets and real threads.
//!
//! One thread runs the network (a single-threaded runtime: a frame passes from socket to state
//! machine to socket without waking another thread), a few others verify proofs, one generates them,
//! and one follows the membership.

mod alive;
mod announced;
mod commands;
mod connections;
mod dial;
mod discovery_ports;
mod error;
mod event_loop;
mod events;
mod fallbacks;
mod fragmenter;
mod health;
mod kept;
mod listen;
mod managed;
mod member;
mod membership;
mod membership_source;
mod metadata;
mod observed;
mod offered;
mod opened_ports;
mod options;
mod outputs;
mod passage;
mod peer_news;
mod peers;
mod priority;
mod pubsub;
pub mod record;
mod reports;
mod requests;
mod reservations;
mod rln;
mod runtime_load;
mod sending;
mod shard_changes;
mod shard_watch;
mod start;
mod swarm_events;
mod time;
mod tokens;
mod traced;
mod transport;
mod verify;
mod waiting_dials;

pub use crate::portmap::MappingMethod;
pub use crate::swarm::{
    CertificateError, CertificateFiles, CircuitLimits, ConnectionLimits, PassageOptions,
    RelayClient,
};
pub use announced::AnnouncedAddresses;
pub use discovery_ports::PeerMemory;
pub use discovery_ports::{DiscoveryPorts, OwnRecord, PeerChange};
pub use error::StartError;
pub use events::{NodeEvent, TimedEvent};
pub use fragmenter::fragments_of;
pub use member::MemberProofs;
pub use membership_source::{MembershipSource, SharedView};
pub use options::{NodeOptions, RlnOptions};
pub use peer_news::PeerNews;
pub use peers::without_peer_id;
pub use rln::{MembershipProbe, MembershipState, ProofSource};
pub use start::{RunningNode, start};
pub use time::Clock;
pub use time::MemberClock;
pub use tokens::PooledProofs;
pub use tokens::pool::PoolMonitor;
