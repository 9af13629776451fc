//! What goes into the router and what comes out.

use std::net::IpAddr;

use bytes::Bytes;

use crate::error::{Capacity, PeerMisbehaved, PublishError};
use crate::features::Features;
use crate::types::{Direction, MessageId, PeerIx, SendHandle, Topic};

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Input {
    /// A peer is connected and its protocol known.
    Connected(NewPeer),
    /// A peer is gone.
    Disconnected(PeerIx),
    /// Frames of a connected peer, or frames to it, go over another stream from now on. What was on its
    /// way on the old one may be lost, so the peer is told again what it has to know.
    Renewed(NewPeer),
    /// A frame longer than [`crate::LargeMessages::transfer_bytes`] has begun to come from a peer and
    /// is not whole, or none is any more. What is wanted is not asked for meanwhile. Said for each that
    /// begins; the end after the frame was given. A driver that never says either asks at once.
    Arriving {
        /// From whom.
        peer: PeerIx,
        /// Whether one is.
        is_arriving: bool,
    },
    /// A peer sent a frame; its length prefix is part of it, as it is of [`Output::Send`], so
    /// that a message can go on in the memory it came in.
    Frame {
        /// Who.
        peer: PeerIx,
        /// One RPC with its length.
        frame: Bytes,
    },
    /// The validator's verdict on an [`Output::Validate`].
    Validated {
        /// Which message.
        id: MessageId,
        /// What it found.
        verdict: Verdict,
    },
    /// Publish a message of our own; answered by [`Output::Published`].
    Publish {
        /// Where.
        topic: Topic,
        /// What; must be valid, the validator is not asked.
        data: Bytes,
        /// Comes back in the answer.
        token: u64,
    },
    /// Join a topic.
    Subscribe(Topic),
    /// Leave a topic.
    Unsubscribe(Topic),
    /// What became of a frame.
    Sent {
        /// To whom.
        peer: PeerIx,
        /// Which frame.
        handle: SendHandle,
        /// What became of it.
        progress: Progress,
    },
    /// Set the application's own score of a peer (P5).
    ApplicationScore {
        /// Who.
        peer: PeerIx,
        /// The value, before its weight.
        score: f64,
    },
    /// Time has passed; due timers run after every input.
    Tick,
}

/// A peer that has connected.
#[derive(Clone, Debug)]
pub struct NewPeer {
    /// Its index.
    pub peer: PeerIx,
    /// Its identity as sent in peer exchange.
    pub identity: Bytes,
    /// Its signed peer record, or empty.
    pub record: Bytes,
    /// Who dialled.
    pub direction: Direction,
    /// What its protocol id allows.
    pub features: Features,
    /// Its address, for P6.
    pub ip: Option<IpAddr>,
    /// Whether it is one of the operator's own: always sent everything, never in a mesh, not
    /// judged by score.
    pub explicit: bool,
}

/// What the validator found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Deliver and forward.
    Accept,
    /// Drop without blame.
    Ignore,
    /// Drop without blame and without a judgement: the next copy is validated as if it were the first.
    Forget,
    /// Drop, and blame everybody who sent it (P4).
    Reject,
    /// Drop, and blame only who sent the first copy: others may have passed it on in good faith.
    RejectSender,
}

/// What became of a frame given to the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Its first byte was handed to the transport: it can no longer be cancelled.
    Started,
    /// It was dropped because the peer does not read fast enough.
    Dropped,
}

/// Order in which a driver serves the frames that wait for one peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Subscriptions and control.
    Control,
    /// Messages of our own.
    Publish,
    /// Messages of others, and answers to IWANT.
    Forward,
}

/// Something to do.
#[derive(Clone, Debug)]
pub enum Output {
    /// Send a frame; its length prefix is part of it.
    Send {
        /// To whom.
        peer: PeerIx,
        /// Its name for [`Output::Cancel`] and [`Input::Sent`].
        handle: SendHandle,
        /// Its place in the queue.
        class: Class,
        /// The bytes.
        frame: Bytes,
    },
    /// Drop a frame that has not begun. Without effect when it has.
    Cancel {
        /// Of whom.
        peer: PeerIx,
        /// Which.
        handle: SendHandle,
    },
    /// Judge a message; answer with [`Input::Validated`].
    Validate {
        /// Which.
        id: MessageId,
        /// Who sent the first copy.
        from: PeerIx,
        /// Where.
        topic: Topic,
        /// What.
        data: Bytes,
    },
    /// Another peer has sent a copy of a message whose verdict is still awaited.
    Copied {
        /// Which.
        id: MessageId,
        /// Who sent this copy.
        from: PeerIx,
    },
    /// A valid message for the application.
    Deliver {
        /// Which.
        id: MessageId,
        /// Who sent the first copy.
        from: PeerIx,
        /// Where.
        topic: Topic,
        /// What.
        data: Bytes,
    },
    /// The answer to [`Input::Publish`].
    Published {
        /// The token of the request.
        token: u64,
        /// The message's id and the number of peers it was sent to, or why it was not.
        outcome: Result<(MessageId, usize), PublishError>,
    },
    /// Connect to a peer offered in exchange for a PRUNE.
    Connect {
        /// Its identity.
        identity: Bytes,
        /// Its signed record, unchecked; may be empty.
        record: Bytes,
    },
    /// Close the connection to a peer whose score is below the graylist threshold.
    Disconnect(PeerIx),
    /// Nothing is remembered of a peer that is gone: its index may be given to another.
    Forgotten(PeerIx),
    /// Something worth knowing.
    Report(Report),
}

/// Events for logs, metrics and tests.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// A bound was hit.
    Capacity {
        /// By whom.
        peer: PeerIx,
        /// Which.
        capacity: Capacity,
    },
    /// A peer entered our mesh.
    Grafted {
        /// Who.
        peer: PeerIx,
        /// Where.
        topic: Topic,
    },
    /// A message came on a topic that it does not belong on, see [`crate::Placement`].
    Misplaced {
        /// Who sent it.
        peer: PeerIx,
        /// Which.
        id: MessageId,
    },
    /// A peer misbehaved.
    Misbehaved {
        /// Who.
        peer: PeerIx,
        /// How.
        what: PeerMisbehaved,
    },
    /// A peer left our mesh.
    Pruned {
        /// Who.
        peer: PeerIx,
        /// Where.
        topic: Topic,
    },
    /// A peer joined or left a topic.
    Subscribed {
        /// Who.
        peer: PeerIx,
        /// Where.
        topic: Topic,
        /// Whether it joined.
        subscribed: bool,
    },
}

/// Totals since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Frames received.
    pub frames_received: u64,
    /// First copies received.
    pub messages_received: u64,
    /// Further copies received.
    pub duplicates_received: u64,
    /// Ids asked for although a long frame was coming in: their patience was over.
    pub asked_impatiently: u64,
    /// Copies sent: forwarded, published or asked for.
    pub messages_sent: u64,
    /// Copies cancelled before they began.
    pub sends_cancelled: u64,
    /// Frames the driver dropped.
    pub sends_dropped: u64,
    /// Control received.
    pub received: ControlStats,
    /// Control sent.
    pub sent: ControlStats,
}

/// Control entries; ids for the last three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ControlStats {
    /// GRAFT.
    pub graft: u64,
    /// PRUNE.
    pub prune: u64,
    /// PRUNE that carries a backoff.
    pub prune_with_backoff: u64,
    /// Ids in IHAVE.
    pub ihave: u64,
    /// Ids in IWANT.
    pub iwant: u64,
    /// Ids in IDONTWANT.
    pub idontwant: u64,
}
