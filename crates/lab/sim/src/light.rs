//! Light clients: nodes without a relay, each on an emulated machine of its own.

mod answers;
mod channel;
mod client;
mod connections;
mod finding;
mod flood;
mod greeting;
mod node;
mod outputs;
mod reading;
mod streams;

pub(crate) use channel::channel_content;
pub(crate) use node::LightNode;

use undertone_link::ConnIx;
use undertone_rln::RateLimitProof;
use undertone_services::sending::SendId;

/// Event of a light client.
#[derive(Debug)]
pub(crate) enum LightEvent {
    /// A service node has accepted a connection; `remote_conn` is the service node's index of it.
    Accepted {
        node: u32,
        conn: ConnIx,
        remote_conn: ConnIx,
    },
    /// A service node refuses a connection.
    Refused { conn: ConnIx },
    /// The time for a service node to send its metadata is over.
    Greeted(ConnIx),
    /// Service nodes are due to be asked for others.
    FindPeers,
    /// A stream is negotiated, and its request can be written.
    StreamOpen(u32),
    /// A proof for a message is ready.
    Proved {
        id: SendId,
        attempt: u32,
        proof: Box<RateLimitProof>,
    },
    /// An epoch of the rate limit begins.
    Epoch,
    /// A connection is lost.
    ConnectionLost(ConnIx),
    /// The machine falls asleep.
    Sleep,
    /// The machine wakes up.
    WakeUp,
    /// A reading of the whole history is due.
    Read,
    /// The pending page is due to be requested again.
    ReadOn,
    /// The next request of a flood is due.
    Flood,
}
