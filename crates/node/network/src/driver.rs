//! The driver: runs the relay state machine on a real clock, real sockets and real threads.
//!
//! One thread runs the network (a single-threaded runtime: a frame passes from socket to state
//! machine to socket without waking another thread), a few others verify proofs, one generates them,
//! and one follows the membership.

mod addresses;
mod announced;
mod commands;
mod connection_manager;
mod connections;
mod dial_spans;
mod dialling;
mod discovery_ports;
mod error;
mod event_loop;
mod events;
mod fallbacks;
mod fragmenter;
mod health;
mod kept;
mod listen;
mod liveness;
mod member;
mod membership;
mod membership_source;
mod metadata;
mod observed_addrs;
mod opened_ports;
mod options;
mod outputs;
mod outward;
mod peer_news;
mod peers;
mod priority;
mod publishing;
mod pubsub;
mod px_offers;
mod reach;
pub(crate) mod record;
mod reports;
mod reservations;
mod rln;
mod runtime_load;
mod sending;
mod shard_watch;
mod shards;
mod spans;
mod start;
mod swarm_events;
mod time;
mod tokens;
mod transport;
mod verify;
mod waiting_dials;

pub use crate::portmap::MappingMethod;
pub use crate::swarm::{
    CertificateError, CertificateFiles, CircuitLimits, ConnectionLimits, NatOptions, RelayClient,
};
pub use addresses::without_peer_id;
pub use announced::AnnouncedAddresses;
pub use discovery_ports::{DiscoveryPorts, OwnRecord, PeerChange, PeerMemory};
pub use error::StartError;
pub use events::{NodeEvent, TimedEvent};
pub use fragmenter::fragments_of;
pub use member::MemberProofs;
pub use membership_source::{MembershipSource, SharedView};
pub use options::{NodeOptions, RlnOptions};
pub use peer_news::PeerNews;
pub use record::NodeRecord;
pub use rln::{MembershipProbe, MembershipState, ProofSource};
pub use start::{RunningNode, start};
pub use time::{Clock, MemberClock};
pub use tokens::PooledProofs;
pub use tokens::pool::PoolMonitor;
