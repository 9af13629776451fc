//! Inputs and outputs of the relay.

use bytes::Bytes;
use thiserror::Error;
use undertone_gossip::{
    self as gossip, Class, MessageId, NewPeer, PeerIx, Progress, RequestId, SendHandle, wire,
};
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_rln::{Epoch, Fr, ProofStatement, RateLimitProof, RecoveredSecret, RootWindow};

use crate::rejection::Rejection;

/// Ticket of one proof that is being verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProofTicket(pub u64);

/// Event that the driver reports to the relay, or a command for it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Input {
    /// A peer connected and its protocol was negotiated.
    Connected(NewPeer),
    /// A peer disconnected; its index stays bound until [`Output::Forgotten`].
    Disconnected(PeerIx),
    /// Frames of a connected peer, or frames to it, use another stream from now on.
    Renewed(NewPeer),
    /// A long incoming frame from the peer started; see [`gossip::Input::TransferStarted`].
    TransferStarted(PeerIx),
    /// No long incoming frame from the peer is in transit any more; see [`gossip::Input::TransferEnded`].
    TransferEnded(PeerIx),
    /// A frame arrived from a peer, with its length prefix.
    Frame {
        /// Peer that sent the frame.
        peer: PeerIx,
        /// One RPC with its length prefix; `into()` makes it from `Bytes`.
        frame: wire::Frame,
    },
    /// Progress of a frame that was handed to the driver by [`Output::Send`].
    Sent {
        /// Peer that the frame is for.
        peer: PeerIx,
        /// Handle of the frame.
        handle: SendHandle,
        /// Progress of the frame.
        progress: Progress,
    },
    /// Subscribe to a topic; answered by [`Output::Subscribed`].
    Subscribe(PubsubTopic),
    /// Unsubscribe from a topic and leave its mesh.
    Unsubscribe(PubsubTopic),
    /// Publish a message; answered by [`Output::Published`].
    Publish {
        /// Topic to publish on.
        topic: PubsubTopic,
        /// Message to publish. A missing timestamp is filled in; a proof that is present is kept, and
        /// checked on a network with RLN.
        message: WakuMessage,
        /// Number of the request, repeated in the answer.
        request: RequestId,
    },
    /// Publish a message as [`Input::Publish`] does, even if it was published or received before. It goes to the
    /// current peers that are not known to have it. On a network with RLN the message must contain its proof.
    /// Answered by [`Output::Published`].
    Republish {
        /// Topic to publish on.
        topic: PubsubTopic,
        /// Message to publish, with its timestamp and proof.
        message: WakuMessage,
        /// Number of the request, repeated in the answer.
        request: RequestId,
    },
    /// Answer to an [`Output::Prove`].
    Proved {
        /// Number of the [`Output::Prove`].
        request: RequestId,
        /// The proof, or the reason why none was made.
        result: Result<RateLimitProof, ProofFailure>,
    },
    /// Answer to an [`Output::VerifyProof`].
    ProofVerified {
        /// Ticket of the proof.
        ticket: ProofTicket,
        /// Whether the proof is valid.
        valid: bool,
    },
    /// The membership changed: only these roots are accepted from now on.
    Roots(RootWindow),
    /// The wall clock was set or corrected.
    ClockSet {
        /// Wall time at [`gossip::Time::ZERO`], Unix nanoseconds.
        unix_ns_at_zero: u64,
    },
    /// Time has passed: run the timers that are due.
    Tick,
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
    /// Drop a frame that has not been started.
    Cancel {
        /// Peer that the frame was for.
        peer: PeerIx,
        /// Handle of the frame.
        handle: SendHandle,
    },
    /// Connect to a peer that a PRUNE offered (peer exchange).
    Connect {
        /// Peer that sent the PRUNE.
        from: PeerIx,
        /// Topic of the PRUNE, to which the offered peer is subscribed according to `from`.
        topic: PubsubTopic,
        /// Identity of the offered peer.
        identity: Bytes,
        /// Signed peer record, unverified; may be empty.
        record: Bytes,
    },
    /// Close the connection to a peer whose score is below the graylist threshold.
    Disconnect(PeerIx),
    /// The relay holds no more state for a disconnected peer: its index may be reused.
    Forgotten(PeerIx),
    /// Verify a proof; answer with [`Input::ProofVerified`].
    VerifyProof {
        /// Ticket of the proof.
        ticket: ProofTicket,
        /// Peer that delivered the proof; `None` for a message published by this node.
        from: Option<PeerIx>,
        /// Statement that the proof has to prove.
        statement: Box<ProofStatement>,
    },
    /// A proof being verified is now attributed to another peer, which has sent the message too.
    MoveProof {
        /// Ticket of the proof.
        ticket: ProofTicket,
        /// Peer that the proof is now attributed to.
        from: PeerIx,
    },
    /// A proof need not be verified any more, and no answer is expected.
    DropProof {
        /// Ticket of the proof.
        ticket: ProofTicket,
    },
    /// Pause or resume reading frames from a peer. A paused peer has reached its limit of proofs waiting for
    /// verification; its further frames should stay on the connection (back-pressure).
    Reading {
        /// Peer that is paused or resumed.
        peer: PeerIx,
        /// Whether the driver should pause reading.
        is_paused: bool,
    },
    /// Make a proof; answer with [`Input::Proved`].
    Prove {
        /// Number of the request, repeated in the answer.
        request: RequestId,
        /// Epoch of the message, from its timestamp.
        epoch: Epoch,
        /// Hash of the message (the signal hash `x`).
        x: Fr,
        /// Whether the nullifier of the previous proof was already in the log, so another node publishes with this
        /// identity. Message ids whose nullifiers [`crate::Relay::knows_nullifier`] knows must then be skipped.
        is_taken: bool,
    },
    /// A valid message of a joined topic, from a peer or published by this node.
    Deliver {
        /// Gossip id of the message.
        id: MessageId,
        /// Topic of the message.
        topic: PubsubTopic,
        /// The message. Its deterministic hash is left to the receiver of this output: at 150 kB hashing takes as
        /// long as all other work here, and would delay forwarding to peers.
        message: WakuMessage,
        /// Time at which the first copy was complete here; for a message of this node, when it was published.
        received: gossip::Time,
        /// Peer that sent the first copy; `None` for a message published by this node.
        from: Option<PeerIx>,
    },
    /// Answer to an [`Input::Publish`].
    Published {
        /// Number of the [`Input::Publish`].
        request: RequestId,
        /// Id and receivers of the message, or the reason for refusing it.
        outcome: Result<Published, PublishError>,
    },
    /// Answer to an [`Input::Subscribe`].
    Subscribed {
        /// Topic of the subscription.
        topic: PubsubTopic,
        /// Whether the topic was joined, or the reason why not.
        outcome: Result<(), SubscribeError>,
    },
    /// An event for logs, metrics and tests.
    Report(RelayReport),
}

/// Result of publishing a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// Gossip id of the message.
    pub id: MessageId,
    /// Number of peers that get a copy or its id; may be 0.
    pub peers: usize,
}

/// Events for logs, metrics and tests.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RelayReport {
    /// An event of the gossip router.
    Gossip(gossip::Report),
    /// A message was dropped for this reason.
    Rejected {
        /// Gossip id of the message.
        id: MessageId,
        /// Peer that the message is attributed to: the sender of the first copy, or another sender.
        from: PeerIx,
        /// Reason why the message was dropped.
        reason: Rejection,
    },
    /// A member exceeded its limit and thereby revealed its secret. Both proofs are verified.
    SpammerExposed {
        /// Peer that sent the second message; the member may be anywhere behind it.
        from: PeerIx,
        /// Epoch of both messages.
        epoch: Epoch,
        /// Secret of the member.
        secret: RecoveredSecret,
    },
}

/// Reason why a message was not published.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The bandwidth of the topic is used up; see [`undertone_gossip::TopicBudget`].
    #[error("the bandwidth of {topic} is used up; try again in {} ms", wait.as_millis())]
    Bandwidth {
        /// Topic of the message.
        topic: PubsubTopic,
        /// Time until there is room again.
        wait: std::time::Duration,
    },
    /// The same bytes were published or received within the seen time of the router.
    #[error("the same message was published or received within the last two minutes")]
    Duplicate,
    /// The field `contentTopic` is empty.
    #[error("the content topic is empty; name one, like /my-app/1/chat/proto")]
    EmptyContentTopic,
    /// The message came with a proof that every receiver would refuse.
    #[error("the proof that came with the message is refused: {0}; leave it out to have one made")]
    InvalidProof(Rejection),
    /// The field `meta` is longer than any receiver accepts (RFC 14).
    #[error("meta of {len} bytes; at most {max} are allowed")]
    MetaTooLong {
        /// Length of the field, bytes.
        len: usize,
        /// Longest allowed length, bytes.
        max: usize,
    },
    /// The topic was not joined, or it was left before the proof was made.
    #[error("not subscribed to {topic}; subscribe first")]
    NotSubscribed {
        /// Topic of the message.
        topic: PubsubTopic,
    },
    /// No proof could be made for the message.
    #[error("no RLN proof: {0}")]
    Proof(ProofFailure),
    /// The timestamp is so far off that every receiver would refuse the message.
    #[error(
        "timestamp {timestamp_ns} is {} s {} our clock ({unix_now_ns}), receivers accept at most {} s; \
         leave the timestamp out to have the present time filled in",
        seconds(i128::from(*timestamp_ns) - i128::from(*unix_now_ns)),
        if i128::from(*timestamp_ns) > i128::from(*unix_now_ns) { "ahead of" } else { "behind" },
        seconds(i128::from(*max_clock_gap_ns))
    )]
    Timestamp {
        /// Timestamp of the message, Unix nanoseconds.
        timestamp_ns: i64,
        /// Clock of this node, Unix nanoseconds.
        unix_now_ns: u64,
        /// Largest difference of the two that the network allows, nanoseconds.
        max_clock_gap_ns: u64,
    },
    /// The message with its proof is longer than the network allows.
    #[error("Message size exceeded maximum of {max} bytes")]
    TooLarge {
        /// Length of the encoded message, bytes.
        len: usize,
        /// Longest allowed length, bytes.
        max: usize,
    },
    /// With automatic sharding, the content topic belongs to another shard: receivers would
    /// ignore the message.
    #[error(
        "content topic {content_topic} belongs to shard {shard}, not to {topic}; publish it there"
    )]
    OtherShard {
        /// Topic on which the message was to be published.
        topic: PubsubTopic,
        /// Content topic of the message.
        content_topic: std::sync::Arc<str>,
        /// Index of the shard that the content topic belongs to.
        shard: u16,
    },
    /// The limit on messages waiting for their proof is reached.
    #[error("{waiting} messages wait for their proof; try again")]
    Busy {
        /// Number of messages waiting.
        waiting: usize,
    },
}

/// Reason why the driver made no proof.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum ProofFailure {
    /// The member has used up its messages of this epoch.
    #[error("all {limit} messages of epoch {epoch} are used up")]
    Exhausted {
        /// Limit of the member, messages per epoch.
        limit: u32,
        /// Epoch of the message.
        epoch: Epoch,
    },
    /// Another node published with this identity in the epoch, and both used the same message id.
    #[error(
        "two nodes published with this identity under one message id in epoch {epoch}, which made its \
         secret public; run one node for each identity, and register a new one"
    )]
    IdentityExposed {
        /// Epoch of the messages.
        epoch: Epoch,
    },
    /// This node has no membership.
    #[error("this node has no membership; register one with `undertone rln register`")]
    NoMembership,
    /// The newest membership is not known yet, or has not been compared with the registry. Receivers might refuse
    /// a proof for it.
    #[error("the membership is still synchronizing; try again when /health says READY")]
    Synchronizing,
    /// The prover failed, or the counter could not be written.
    #[error("{0}")]
    Prover(std::sync::Arc<dyn std::error::Error + Send + Sync>),
}

/// Reason why a topic was not joined.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SubscribeError {
    /// The limit on the number of topics or on the length of their names is reached.
    #[error("topic {topic} does not fit the limits")]
    Limit {
        /// Topic that was not joined.
        topic: PubsubTopic,
    },
    /// The topic belongs to another cluster, or is not a shard although the network has only shards.
    #[error("topic {topic} is not part of cluster {cluster_id}")]
    NotInNetwork {
        /// Topic that was not joined.
        topic: PubsubTopic,
        /// Cluster of this node.
        cluster_id: u16,
    },
}

/// A time difference in seconds, for error messages.
fn seconds(ns: i128) -> f64 {
    ns.unsigned_abs() as f64 / 1e9
}
