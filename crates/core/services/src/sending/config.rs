//! Times and limits of the sender.

use std::time::Duration;

/// Times and numbers that decide how the sender tries.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SenderConfig {
    /// Whether the network asks for a rate-limit proof (RLN).
    pub has_proofs: bool,
    /// Age of a message's timestamp beyond which the network refuses it, or where it asks for no proofs, its stores do; `None` if
    /// nobody looks. nwaku with RLN refuses messages more than 20 s off, and its stores do not keep them.
    pub max_age: Option<Duration>,
    /// Time from queueing after which a message that nobody took has failed.
    pub deadline: Duration,
    /// Time from the start within which service peers are discovered; only then no store means none.
    pub discovery: Duration,
    /// Time from propagation after which a message that no store has is given up.
    pub confirm_for: Duration,
    /// Time from sending to the first question to a store; it doubles with each question.
    pub confirm_first: Duration,
    /// Longest time between two questions to stores about a message.
    pub confirm_max: Duration,
    /// Times that all stores deny to have a propagated message, after which it is sent again.
    pub resend_after: u32,
    /// Most times that a propagated message is sent again.
    pub max_resends: u32,
    /// First wait after all ways failed (LIP p2p-reliability recommends a second); it doubles.
    pub retry_first: Duration,
    /// Longest wait after all ways failed.
    pub retry_max: Duration,
    /// Time within which a lightpush peer answers.
    pub push_timeout: Duration,
    /// Time within which the driver tells what became of a message given to the relay.
    pub relay_timeout: Duration,
    /// Time within which a store answers.
    pub store_timeout: Duration,
    /// Time within which a connection is made.
    pub connect_timeout: Duration,
    /// Backoff of a service peer after one failure; it doubles with each further one.
    pub backoff_first: Duration,
    /// Longest backoff of a service peer. Light nodes know few peers, so that it is short.
    pub backoff_max: Duration,
    /// Refusals of a message as invalid by peers, after which it has failed.
    pub max_refusals: u32,
    /// Bounds on what the application and remotes may cost.
    pub limits: SenderLimits,
}

impl SenderConfig {
    /// Returns the configuration for a network that asks for rate-limit proofs, or not, and whose relays and stores take
    /// messages with timestamps up to `tolerance` off.
    pub fn for_network(has_proofs: bool, tolerance: Duration) -> Self {
        // A message is on its way for a while, and the clocks of others differ from ours.
        let max_age = tolerance * 3 / 4;
        let default = Self::default();
        Self {
            has_proofs,
            max_age: Some(max_age),
            // A lightpush peer that does not answer leaves time for another one.
            push_timeout: default.push_timeout.min(max_age / 3),
            // Stores that do not have a message at the first look may still take it from another peer. At the third
            // look it is too old for them.
            resend_after: 1,
            ..default
        }
    }
}

impl Default for SenderConfig {
    fn default() -> Self {
        Self {
            has_proofs: true,
            max_age: None,
            deadline: Duration::from_secs(24 * 3600),
            discovery: Duration::from_secs(60),
            confirm_for: Duration::from_secs(600),
            confirm_first: Duration::from_secs(3),
            confirm_max: Duration::from_secs(60),
            resend_after: 3,
            max_resends: 3,
            retry_first: Duration::from_secs(1),
            retry_max: Duration::from_secs(60),
            push_timeout: Duration::from_secs(20),
            relay_timeout: Duration::from_secs(30),
            store_timeout: Duration::from_secs(20),
            connect_timeout: Duration::from_secs(15),
            backoff_first: Duration::from_secs(2),
            backoff_max: Duration::from_secs(60),
            max_refusals: 3,
            limits: SenderLimits::default(),
        }
    }
}

/// Bounds on what the application and service peers may cost a sender.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SenderLimits {
    /// Most messages in the queue.
    pub max_messages: usize,
    /// Most bytes of encoded messages in the queue.
    pub max_bytes: usize,
    /// Most messages that wait for a peer, which are not counted among the others.
    pub max_peer_waits: usize,
    /// Most bytes of messages that wait for a peer.
    pub max_peer_wait_bytes: usize,
    /// Longest encoded message with its proof, in bytes (TWN: 150 KiB).
    pub max_message_bytes: usize,
    /// Longest pubsub topic, in bytes.
    pub max_topic_bytes: usize,
    /// Space kept for a proof, in bytes.
    pub proof_bytes: usize,
    /// Most proofs asked for at once. A timestamp is chosen when its proof is asked for, so that messages that wait
    /// behind many others at a slow prover would be too old when it comes to them, each time.
    pub max_proving: usize,
    /// Most messages given out at once, without an answer.
    pub max_in_flight: usize,
    /// Most hashes of a question to a store.
    pub hashes_per_query: usize,
    /// Most service peers known at once.
    pub max_peers: usize,
    /// Most pubsub topics kept of a peer's list.
    pub max_peer_topics: usize,
}

impl Default for SenderLimits {
    fn default() -> Self {
        Self {
            max_messages: 1000,
            max_bytes: 16 * 1024 * 1024,
            max_peer_waits: 64,
            max_peer_wait_bytes: 8 * 1024 * 1024,
            max_message_bytes: 150 * 1024,
            max_topic_bytes: 512,
            proof_bytes: 400,
            max_proving: 2,
            max_in_flight: 16,
            hashes_per_query: 50,
            max_peers: 128,
            max_peer_topics: 64,
        }
    }
}
