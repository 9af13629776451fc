//! What goes into the relay and what comes out.

use bytes::Bytes;
use thiserror::Error;
use undertone_gossip::{self as gossip, Class, MessageId, NewPeer, PeerIx, Progress, SendHandle};
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_rln::{Epoch, Fr, ProofStatement, RateLimitProof, RecoveredSecret, RootWindow};

use crate::rejection::Rejection;

/// Names one proof that is being checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProofTicket(pub u64);

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Input {
    /// A peer is connected and its protocol known.
    Connected(NewPeer),
    /// A peer is gone.
    Disconnected(PeerIx),
    /// Frames of a connected peer, or frames to it, go over another stream from now on.
    Renewed(NewPeer),
    /// A long frame has begun to come from a peer and is not whole, or none is any more; see
    /// [`gossip::Input::Arriving`].
    Arriving {
        /// From whom.
        peer: PeerIx,
        /// Whether one is.
        is_arriving: bool,
    },
    /// A peer sent a frame; its length prefix is part of it.
    Frame {
        /// Who.
        peer: PeerIx,
        /// One RPC with its length.
        frame: Bytes,
    },
    /// What became of a frame.
    Sent {
        /// To whom.
        peer: PeerIx,
        /// Which.
        handle: SendHandle,
        /// What became of it.
        progress: Progress,
    },
    /// Join a topic; answered by [`Output::Subscribed`].
    Subscribe(PubsubTopic),
    /// Leave a topic.
    Unsubscribe(PubsubTopic),
    /// Publish a message; answered by [`Output::Published`].
    Publish {
        /// Where.
        topic: PubsubTopic,
        /// What. A missing timestamp is filled in; a proof that is there is checked and kept.
        message: WakuMessage,
        /// Comes back in the answer.
        token: u64,
    },
    /// The answer to [`Output::Prove`].
    Proved {
        /// The token of the request.
        token: u64,
        /// The proof, or why there is none.
        result: Result<RateLimitProof, ProofFailure>,
    },
    /// The answer to [`Output::VerifyProof`].
    ProofVerified {
        /// Which.
        ticket: ProofTicket,
        /// Whether the proof holds.
        valid: bool,
    },
    /// The membership changed: the roots that are accepted from now on.
    Roots(RootWindow),
    /// Wall time at virtual time zero, Unix nanoseconds.
    ClockSet {
        /// Unix nanoseconds at [`gossip::Time::ZERO`].
        unix_ns_at_zero: u64,
    },
    /// Time has passed.
    Tick,
}

/// Something to do.
#[derive(Clone, Debug)]
pub enum Output {
    /// Send a frame; its length prefix is part of it.
    Send {
        /// To whom.
        peer: PeerIx,
        /// Its name.
        handle: SendHandle,
        /// Its place in the queue.
        class: Class,
        /// The bytes.
        frame: Bytes,
    },
    /// Drop a frame that has not begun.
    Cancel {
        /// Of whom.
        peer: PeerIx,
        /// Which.
        handle: SendHandle,
    },
    /// Connect to a peer offered in peer exchange.
    Connect {
        /// Its identity.
        identity: Bytes,
        /// Its signed record, unchecked; may be empty.
        record: Bytes,
    },
    /// Close the connection to a peer below the graylist threshold.
    Disconnect(PeerIx),
    /// The index may be given to another peer.
    Forgotten(PeerIx),
    /// Check a proof; answer with [`Input::ProofVerified`].
    VerifyProof {
        /// Its name.
        ticket: ProofTicket,
        /// The peer that delivered it; `None` for one that we publish.
        from: Option<PeerIx>,
        /// What it claims.
        statement: Box<ProofStatement>,
    },
    /// From now on a proof that is being checked counts as delivered by another peer, which has sent it
    /// too.
    MoveProof {
        /// Its name.
        ticket: ProofTicket,
        /// The other peer.
        from: PeerIx,
    },
    /// A proof need not be checked any more, and no answer is waited for.
    DropProof {
        /// Its name.
        ticket: ProofTicket,
    },
    /// Whether to read frames from a peer. While it is paused, as many of its proofs wait to be checked
    /// as may; what it sends meanwhile should wait on its connection.
    Reading {
        /// Whom.
        peer: PeerIx,
        /// Whether nothing more should be read.
        is_paused: bool,
    },
    /// Make a proof; answer with [`Input::Proved`].
    Prove {
        /// Comes back in the answer.
        token: u64,
        /// The epoch of the message.
        epoch: Epoch,
        /// The hash of the message.
        x: Fr,
        /// The nullifier of the proof made before was in the log, so somebody else publishes with this
        /// identity: message ids whose nullifiers [`crate::Relay::knows_nullifier`] are to be skipped.
        is_taken: bool,
    },
    /// A valid message of a joined topic, from a peer or from ourselves.
    Deliver {
        /// Its gossip id.
        id: MessageId,
        /// Where.
        topic: PubsubTopic,
        /// What. Its deterministic hash is left to whoever wants it: at 150 kB it takes as long as
        /// everything else here, and would hold up the copies that go on to peers.
        message: WakuMessage,
        /// When its first copy was complete here; for our own, when it was published.
        received: gossip::Time,
        /// Who sent the first copy; `None` for our own.
        from: Option<PeerIx>,
    },
    /// The answer to [`Input::Publish`].
    Published {
        /// The token of the request.
        token: u64,
        /// What became of it.
        outcome: Result<Published, PublishError>,
    },
    /// The answer to [`Input::Subscribe`].
    Subscribed {
        /// The topic.
        topic: PubsubTopic,
        /// Whether it was joined.
        outcome: Result<(), SubscribeError>,
    },
    /// Something worth knowing.
    Report(RelayReport),
}

/// A message that was given to the router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// What the router calls it.
    pub id: MessageId,
    /// Peers it was sent to; may be 0.
    pub peers: usize,
}

/// Events for logs, metrics and tests.
#[derive(Clone, Debug, PartialEq)]
pub enum RelayReport {
    /// From the router.
    Gossip(gossip::Report),
    /// A message was dropped.
    Rejected {
        /// Which.
        id: MessageId,
        /// Who sent the first copy.
        from: PeerIx,
        /// Why.
        reason: Rejection,
    },
    /// A member published more than its limit, and thereby its secret. Both proofs are verified.
    SpammerExposed {
        /// Who sent us the second message; the member is somewhere behind.
        from: PeerIx,
        /// The epoch.
        epoch: Epoch,
        /// The member's secret.
        secret: RecoveredSecret,
    },
}

/// Why a message was not published.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The same bytes were published or received just now.
    #[error("the same message was published or received within the last two minutes")]
    Duplicate,
    /// `contentTopic` is empty.
    #[error("the content topic is empty; name one, like /my-app/1/chat/proto")]
    EmptyContentTopic,
    /// The message came with a proof that every receiver would refuse.
    #[error("the proof that came with the message is refused: {0}; leave it out to have one made")]
    InvalidProof(Rejection),
    /// `meta` is longer than any receiver accepts (RFC 14).
    #[error("meta of {len} bytes; at most {max} are allowed")]
    MetaTooLong {
        /// Bytes of the field.
        len: usize,
        /// Bytes allowed.
        max: usize,
    },
    /// The topic was not joined, or left before the proof was made.
    #[error("not subscribed to {topic}; subscribe first")]
    NotSubscribed {
        /// The topic.
        topic: PubsubTopic,
    },
    /// No proof could be made.
    #[error("no RLN proof: {0}")]
    Proof(ProofFailure),
    /// The timestamp is one that every receiver would refuse.
    #[error(
        "timestamp {timestamp_ns} is {} s {} our clock ({unix_now_ns}), receivers accept at most {} s; \
         leave the timestamp out to have the present time filled in",
        seconds(i128::from(*timestamp_ns) - i128::from(*unix_now_ns)),
        if i128::from(*timestamp_ns) > i128::from(*unix_now_ns) { "ahead of" } else { "behind" },
        seconds(i128::from(*max_clock_gap_ns))
    )]
    Timestamp {
        /// Unix nanoseconds.
        timestamp_ns: i64,
        /// Our clock, Unix nanoseconds.
        unix_now_ns: u64,
        /// The network's bound on the distance of the two.
        max_clock_gap_ns: u64,
    },
    /// Over the network's limit, proof included.
    #[error("Message size exceeded maximum of {max} bytes")]
    TooLarge {
        /// Bytes of the encoded message.
        len: usize,
        /// Bytes allowed.
        max: usize,
    },
    /// With automatic sharding, the content topic belongs to another shard: receivers would ignore the
    /// message.
    #[error(
        "content topic {content_topic} belongs to shard {shard}, not to {topic}; publish it there"
    )]
    OtherShard {
        /// Where it was to be published.
        topic: PubsubTopic,
        /// What it is about.
        content_topic: std::sync::Arc<str>,
        /// Index of the shard where it belongs.
        shard: u16,
    },
    /// As many messages wait for their proof as may.
    #[error("{waiting} messages wait for their proof; try again")]
    Busy {
        /// How many.
        waiting: usize,
    },
}

/// Why the driver made no proof.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum ProofFailure {
    /// The member's messages of this epoch are used up.
    #[error("all {limit} messages of epoch {epoch} are used up")]
    Exhausted {
        /// The member's limit.
        limit: u32,
        /// The epoch.
        epoch: Epoch,
    },
    /// Another node published with this identity in the epoch, and both used one message id.
    #[error(
        "two nodes published with this identity under one message id in epoch {epoch}, which made its \
         secret public; run one node for each identity, and register a new one"
    )]
    IdentityExposed {
        /// The epoch.
        epoch: Epoch,
    },
    /// This node is no member.
    #[error("this node has no membership; register one with `undertone rln register`")]
    NoMembership,
    /// The newest membership is not known yet, or not compared with the registry: a proof for it may
    /// be worth nothing.
    #[error("the membership is still synchronizing; try again when /health says READY")]
    Synchronizing,
    /// The prover failed, or the counter could not be written.
    #[error("{0}")]
    Prover(std::sync::Arc<dyn std::error::Error + Send + Sync>),
}

/// Why a topic was not joined.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SubscribeError {
    /// As many topics as the limits allow.
    #[error("topic {topic} does not fit the limits")]
    Limit {
        /// The topic.
        topic: PubsubTopic,
    },
    /// Another cluster, or a name on a network that has shards only.
    #[error("topic {topic} is not part of cluster {cluster_id}")]
    NotInNetwork {
        /// The topic.
        topic: PubsubTopic,
        /// Our cluster.
        cluster_id: u16,
    },
}

/// A distance in seconds, for people.
fn seconds(ns: i128) -> f64 {
    ns.unsigned_abs() as f64 / 1e9
}
