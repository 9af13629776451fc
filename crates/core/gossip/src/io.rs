//! Inputs and outputs of the router.

use std::net::IpAddr;

use bytes::Bytes;

use crate::error::{Capacity, PeerMisbehaved, PublishError};
use crate::features::Features;
use crate::types::{Direction, MessageId, PeerIx, RequestId, SendHandle, Topic};
use crate::wire::Frame;

/// Event that the driver reports to the router, or a command for it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Input {
    /// A peer connected and its protocol was negotiated.
    Connected(NewPeer),
    /// A peer disconnected; its index stays bound until [`Output::Forgotten`].
    Disconnected(PeerIx),
    /// Frames of a connected peer, or frames to it, use another stream from now on. Frames in transit on
    /// the old stream may be lost, so the router sends the peer its subscriptions and GRAFTs again.
    Renewed(NewPeer),
    /// A long incoming frame (longer than [`crate::LargeMessages::transfer_bytes`]) from the peer started. While
    /// one is in transit no IWANT is sent, for at most [`crate::LargeMessages::transfer_wait`], because the
    /// frame may contain the wanted message. Without this input, IWANTs are sent at once.
    TransferStarted(PeerIx),
    /// No long incoming frame from the peer is in transit any more. Must be passed after the frame itself.
    TransferEnded(PeerIx),
    /// A frame arrived from a peer, with its length prefix as in [`Output::Send`], so that the router can
    /// forward a message from the memory into which the frame was received.
    Frame {
        /// Peer that sent the frame.
        peer: PeerIx,
        /// One RPC with its length prefix; `into()` makes it from `Bytes`.
        frame: Frame,
    },
    /// The validator's verdict on an [`Output::Validate`].
    Validated {
        /// Id of the validated message.
        id: MessageId,
        /// Result of the validation.
        verdict: Verdict,
    },
    /// Publish a message of this node; answered by [`Output::Published`].
    Publish {
        /// Topic to publish on.
        topic: Topic,
        /// Data of the message; must be valid, because the validator is not asked.
        data: Bytes,
        /// Number of the request, repeated in the answer.
        request: RequestId,
    },
    /// Publish a message as [`Input::Publish`] does, even if it was published or received before. It goes to the
    /// current peers that are not known to have it. Answered by [`Output::Published`].
    Republish {
        /// Topic to publish on.
        topic: Topic,
        /// Data of the message; must be valid, because the validator is not asked.
        data: Bytes,
        /// Number of the request, repeated in the answer.
        request: RequestId,
    },
    /// Subscribe to a topic and join its mesh.
    Subscribe(Topic),
    /// Unsubscribe from a topic and leave its mesh.
    Unsubscribe(Topic),
    /// Progress of a frame that was handed to the driver by [`Output::Send`].
    Sent {
        /// Peer that the frame is for.
        peer: PeerIx,
        /// Handle of the frame.
        handle: SendHandle,
        /// Progress of the frame.
        progress: Progress,
    },
    /// Set the application's own score of a peer (P5).
    ApplicationScore {
        /// Peer whose score is set.
        peer: PeerIx,
        /// Value of P5 before its weight is applied.
        score: f64,
    },
    /// Time has passed; due timers run after every input.
    Tick,
}

/// Description of a newly connected peer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NewPeer {
    /// Index of the peer.
    pub peer: PeerIx,
    /// Identity of the peer, as sent in peer exchange.
    pub identity: Bytes,
    /// Signed peer record, or empty.
    pub record: Bytes,
    /// Side that opened the connection.
    pub direction: Direction,
    /// Features allowed by the negotiated protocol id.
    pub features: Features,
    /// IP address of the peer, for P6.
    pub ip: Option<IpAddr>,
    /// Whether the peer is explicit (one of the operator's own): it is sent every message, is never in a mesh
    /// and is never graylisted.
    pub explicit: bool,
}

impl NewPeer {
    /// Describes a peer without identity, record and known address that is not explicit. The caller sets the
    /// fields that differ.
    pub fn new(peer: PeerIx, features: Features, direction: Direction) -> Self {
        Self {
            peer,
            identity: Bytes::new(),
            record: Bytes::new(),
            direction,
            features,
            ip: None,
            explicit: false,
        }
    }
}

/// Result of validating a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Deliver the message and forward it.
    Accept,
    /// Drop the message without blame.
    Ignore,
    /// Drop the message without blame and forget it: the next copy is validated as if it were the first.
    Forget,
    /// Drop the message and penalise every peer that sent a copy (P4).
    Reject,
    /// Drop the message and penalise only the sender of the first copy (P4): others may have forwarded it
    /// in good faith.
    RejectFirstSender,
}

/// Progress of a frame that was handed to the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The first byte was handed to the transport, so the frame can no longer be cancelled.
    Started,
    /// The frame was dropped because the peer does not read fast enough.
    Dropped,
}

/// Order in which a driver sends the frames that are queued for one peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Subscriptions and control messages.
    Control,
    /// Messages published by this node.
    Publish,
    /// Forwarded messages, and answers to IWANT.
    Forward,
}

/// Action for the driver, or event for its information.
///
/// The enum is exhaustive on purpose: a driver that overlooks a new action is wrong, so it must not compile.
#[derive(Clone, Debug)]
pub enum Output {
    /// Send a frame, whose length prefix is included.
    Send {
        /// Peer to send to.
        peer: PeerIx,
        /// Handle of the frame in [`Output::Cancel`] and [`Input::Sent`].
        handle: SendHandle,
        /// Priority class in the send queue.
        class: Class,
        /// Bytes of the frame.
        frame: Bytes,
    },
    /// Drop a frame that has not been started. No effect if it has.
    Cancel {
        /// Peer that the frame was for.
        peer: PeerIx,
        /// Handle of the frame.
        handle: SendHandle,
    },
    /// Validate a message; answer with [`Input::Validated`].
    Validate {
        /// Id of the message.
        id: MessageId,
        /// Peer that sent the first copy.
        from: PeerIx,
        /// Topic of the message.
        topic: Topic,
        /// Data of the message.
        data: Bytes,
    },
    /// Another peer sent a copy of a message whose verdict is still awaited.
    Copied {
        /// Id of the message.
        id: MessageId,
        /// Peer that sent this copy.
        from: PeerIx,
    },
    /// A valid message is ready for the application.
    Deliver {
        /// Id of the message.
        id: MessageId,
        /// Peer that sent the first copy.
        from: PeerIx,
        /// Topic of the message.
        topic: Topic,
        /// Data of the message.
        data: Bytes,
    },
    /// Answer to an [`Input::Publish`].
    Published {
        /// Number of the [`Input::Publish`].
        request: RequestId,
        /// Id of the message and the number of peers that get a copy or its id, or the reason
        /// for refusing it.
        outcome: Result<(MessageId, usize), PublishError>,
    },
    /// Connect to a peer that a PRUNE offered (peer exchange).
    Connect {
        /// Peer that sent the PRUNE.
        from: PeerIx,
        /// Topic of the PRUNE, to which the offered peer is subscribed according to `from`.
        topic: Topic,
        /// Identity of the offered peer.
        identity: Bytes,
        /// Signed peer record, unverified; may be empty.
        record: Bytes,
    },
    /// Close the connection to a peer whose score is below the graylist threshold.
    Disconnect(PeerIx),
    /// The router holds no more state for a disconnected peer: its index may be reused.
    Forgotten(PeerIx),
    /// An event for logs, metrics and tests.
    Report(Report),
}

/// Events for logs, metrics and tests.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Report {
    /// A limit was reached.
    Capacity {
        /// Peer whose input reached the limit.
        peer: PeerIx,
        /// Limit that was reached.
        capacity: Capacity,
    },
    /// A peer entered our mesh.
    Grafted {
        /// Peer that entered the mesh.
        peer: PeerIx,
        /// Topic of the mesh.
        topic: Topic,
    },
    /// A message arrived on a topic where it does not belong, see [`crate::Placement`].
    Misplaced {
        /// Peer that sent the message.
        peer: PeerIx,
        /// Id of the message.
        id: MessageId,
    },
    /// A peer broke the protocol.
    Misbehaved {
        /// Peer that broke the protocol.
        peer: PeerIx,
        /// Kind of misbehaviour and its details.
        what: PeerMisbehaved,
    },
    /// A peer left our mesh.
    Pruned {
        /// Peer that left the mesh.
        peer: PeerIx,
        /// Topic of the mesh.
        topic: Topic,
    },
    /// A peer subscribed to a topic or unsubscribed from it.
    Subscribed {
        /// Peer whose subscription changed.
        peer: PeerIx,
        /// Topic of the subscription.
        topic: Topic,
        /// Whether the peer subscribed (`true`) or unsubscribed.
        subscribed: bool,
    },
}

/// Totals since the router was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Frames received from connected peers.
    pub frames_received: u64,
    /// First copies that were passed to the validator.
    pub messages_received: u64,
    /// Further copies of known messages received.
    pub duplicates_received: u64,
    /// Ids requested although a long frame was in transit, because their deadline had passed.
    pub iwant_after_deadline: u64,
    /// Copies sent: forwarded, published or requested by IWANT.
    pub messages_sent: u64,
    /// Copies cancelled before they were started.
    pub sends_cancelled: u64,
    /// Frames that the driver dropped.
    pub sends_dropped: u64,
    /// Control entries received from peers.
    pub received: ControlStats,
    /// Control entries sent to peers.
    pub sent: ControlStats,
}

/// Counts of control entries; IHAVE, IWANT and IDONTWANT are counted by message ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ControlStats {
    /// Number of GRAFT entries.
    pub graft: u64,
    /// Number of PRUNE entries.
    pub prune: u64,
    /// Number of PRUNE entries that carry a backoff.
    pub prune_with_backoff: u64,
    /// Message ids in IHAVE entries.
    pub ihave: u64,
    /// Message ids in IWANT entries.
    pub iwant: u64,
    /// Message ids in IDONTWANT entries.
    pub idontwant: u64,
}
