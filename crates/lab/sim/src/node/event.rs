//! Events of a simulated node, and the context in which it handles one.

use std::collections::VecDeque;

use bytes::Bytes;
use undertone_gossip::RequestId;
use undertone_link::{Arrival, ConnIx};
use undertone_relay::{Output, ProofTicket};
use undertone_rln::{ExternalNullifiers, RateLimitProof, RlnIdentifier};
use undertone_services::RequestNo;

use crate::adversary::{AdversaryEvent, SignalTotals, WatchTotals};
use crate::events::Scheduled;
use crate::hashes::{SharedIds, SharedSignals};
use crate::light::LightEvent;
use crate::node::find::FindEvent;
use crate::outcome::{RecordOptions, Violation};
use crate::record::TrafficRecord;
use crate::services::io::ServiceInput;
use crate::world::{GENERATION, World};

/// Event of a simulated node.
#[derive(Debug)]
pub(crate) enum Event {
    /// The node starts its relay.
    Start,
    /// Connections that are due become ready for frames.
    Connect,
    /// A transmission arrives from another host.
    Arrival(Arrival<Bytes>),
    /// A timer of the host or the relay is due.
    Wake,
    /// A received frame is handed to the relay.
    Frame { conn: ConnIx, frame: Bytes },
    /// A proof for a message of this node is ready.
    Proved {
        request: RequestId,
        proof: Box<RateLimitProof>,
    },
    /// One proof is verified, independently of others.
    Verified(ProofTicket),
    /// The verifier has finished its current job.
    VerifierDone(Vec<ProofTicket>),
    /// The node publishes the message with this number.
    Publish(u32),
    /// The node publishes a spam message and schedules the next one.
    Spam { interval_ns: u64, count: u64 },
    /// The fault with this number happens to the node.
    Fault(u32),
    /// The other end of a connection has closed it.
    Closed(ConnIx),
    /// An event of peer discovery.
    Find(FindEvent),
    /// An event of the node's services.
    Service(ServiceEvent),
    /// An event of a light client.
    Light(LightEvent),
    /// An event of an adversary.
    Adversary(AdversaryEvent),
    /// The node looks at its meshes and at the scores of its peers.
    Watch,
    /// The node learns of the change of the membership with this number.
    Root(u64),
}

// Millions of events are queued in a large network, so rare large contents are boxed.
const _: () = assert!(size_of::<Event>() <= 48);

/// Scheduled event of a node's services.
#[derive(Debug)]
pub(crate) enum ServiceEvent {
    /// A client dials; `conn` is the client's index of the connection.
    Dial { client: u32, conn: ConnIx },
    /// The archive has finished a query.
    Queried(RequestNo),
    /// The trouble with this number begins.
    TroubleBegins(u32),
    /// The trouble with this number ends.
    TroubleEnds(u32),
}

impl From<ServiceEvent> for ServiceInput {
    fn from(event: ServiceEvent) -> Self {
        match event {
            ServiceEvent::Dial { client, conn } => Self::Dial { client, conn },
            ServiceEvent::Queried(query) => Self::Queried(query),
            ServiceEvent::TroubleBegins(number) => Self::TroubleBegins(number),
            ServiceEvent::TroubleEnds(number) => Self::TroubleEnds(number),
        }
    }
}

/// Buffers and caches that the nodes of a thread share.
#[derive(Debug)]
pub(crate) struct Scratch {
    pub(crate) ids: SharedIds,
    pub(crate) signals: SharedSignals,
    pub(crate) externals: ExternalNullifiers,
    pub(crate) relay_outputs: VecDeque<Output>,
    pub(crate) received: VecDeque<(ConnIx, Bytes)>,
    pub(crate) writable: Vec<ConnIx>,
    /// Events scheduled by the current node.
    pub(crate) scheduled: Vec<Scheduled<Event>>,
    pub(crate) violations: Vec<Violation>,
    pub(crate) deliveries: u64,
    /// What nodes see of adversaries.
    pub(crate) watch: WatchTotals,
    /// What nodes make of the messages of adversaries.
    pub(crate) signals_of_adversaries: SignalTotals,
    /// Traffic over time, if recorded.
    pub(crate) traffic: Option<Box<TrafficRecord>>,
}

impl Scratch {
    pub(crate) fn new(record: RecordOptions) -> Self {
        Self {
            ids: SharedIds::new(),
            signals: SharedSignals::new(),
            externals: ExternalNullifiers::new(GENERATION, RlnIdentifier::WAKU),
            relay_outputs: VecDeque::new(),
            received: VecDeque::new(),
            writable: Vec::new(),
            scheduled: Vec::new(),
            violations: Vec::new(),
            deliveries: 0,
            watch: WatchTotals::default(),
            signals_of_adversaries: SignalTotals::default(),
            traffic: TrafficRecord::new(record),
        }
    }
}

/// Context in which a node handles one event.
#[derive(Debug)]
pub(crate) struct Step<'a> {
    pub(crate) world: &'a World,
    pub(crate) scratch: &'a mut Scratch,
    /// Virtual time of the event.
    pub(crate) now_ns: u64,
}
