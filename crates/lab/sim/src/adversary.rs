//! Adversaries: peers that speak the protocol through its codec, and follow a policy instead of the rules.
//!
//! Identities are numbered after the relays and the light clients. Each is on a machine of its own.

mod node;
mod plan;
mod publish;
mod rpc;
pub(crate) mod signals;
mod watch;

pub(crate) use node::AdversaryNode;
pub(crate) use plan::{Identity, edges, groups, identities, validate};
pub(crate) use signals::SignalTotals;
pub(crate) use watch::{EVERY_NS as WATCH_EVERY_NS, WatchTotals};

use bytes::Bytes;
use undertone_gossip::MessageId;

/// Event of an adversary.
#[derive(Debug)]
pub(crate) enum AdversaryEvent {
    /// Another identity of the group has heard of a message.
    Shared(Box<Heard>),
    /// Everything ends: the identity closes its connections.
    Leave,
}

/// A message that an identity knows.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    pub(crate) id: MessageId,
    /// Index of its topic.
    pub(crate) topic: u16,
    /// The frame that carries it.
    pub(crate) frame: Bytes,
    /// Whether the policy says that nobody gets it from the group.
    pub(crate) is_withheld: bool,
}
