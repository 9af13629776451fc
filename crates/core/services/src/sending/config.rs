//! Times and limits of the sender.

use std::time::Duration;

/// Parameters of the sender: timeouts, retries and limits.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SenderConfig {
    /// Whether the network requires a rate-limit proof (RLN).
    pub has_proofs: bool,
    /// Age beyond which the network refuses a message's timestamp, or, on a network without proofs, its stores do;
    /// `None` if nobody checks. nwaku with RLN refuses messages more than 20 s off, and its stores do not keep them.
    pub max_age: Option<Duration>,
    /// Time after queueing at which a message that nobody accepted has failed.
    pub deadline: Duration,
    /// Time allowed for discovering service peers after the start; only later does an empty list mean that there is no
    /// store.
    pub discovery: Duration,
    /// Time after propagation at which a message that no store has is given up.
    pub confirm_for: Duration,
    /// Delay between sending and the first store query; it doubles with each query.
    pub confirm_first: Duration,
    /// Maximum time between two store queries about a message.
    pub confirm_max: Duration,
    /// Number of times that all stores deny having a propagated message before it is sent again.
    pub resend_after: u32,
    /// Maximum number of times that a propagated message is sent again.
    pub max_resends: u32,
    /// Delay after all routes failed for the first time (LIP p2p-reliability recommends a second); it doubles each
    /// time.
    pub retry_first: Duration,
    /// Maximum delay after all routes failed.
    pub retry_max: Duration,
    /// Timeout of a lightpush request.
    pub push_timeout: Duration,
    /// Time within which the driver must report the result for a message given to the relay.
    pub relay_timeout: Duration,
    /// Timeout of a store query.
    pub store_timeout: Duration,
    /// Timeout of a connection attempt.
    pub connect_timeout: Duration,
    /// Backoff of a service peer after one failure; it doubles with each further one.
    pub backoff_first: Duration,
    /// Maximum backoff of a service peer. It is short, because light nodes know few peers.
    pub backoff_max: Duration,
    /// Number of peers' refusals of a message as invalid after which it has failed.
    pub max_refusals: u32,
    /// Limits on the resources that the application and peers may use.
    pub limits: SenderLimits,
}

impl SenderConfig {
    /// Returns the configuration for a network with or without rate-limit proofs whose relays and stores accept
    /// timestamps up to `tolerance` off.
    pub fn for_network(has_proofs: bool, tolerance: Duration) -> Self {
        // Delivery takes time, and other nodes' clocks differ from ours.
        let max_age = tolerance * 3 / 4;
        let default = Self::default();
        Self {
            has_proofs,
            max_age: Some(max_age),
            // An unanswered lightpush request must leave time for another peer.
            push_timeout: default.push_timeout.min(max_age / 3),
            // Stores that lack a message at the first query may still get it from another peer. At the third query it
            // is too old for them.
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

/// Limits on the resources of a sender that the application and service peers may use.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SenderLimits {
    /// Maximum number of messages in the queue.
    pub max_messages: usize,
    /// Maximum number of bytes of encoded messages in the queue.
    pub max_bytes: usize,
    /// Maximum number of messages that wait for a peer; they are counted separately.
    pub max_peer_waits: usize,
    /// Maximum number of bytes of messages that wait for a peer.
    pub max_peer_wait_bytes: usize,
    /// Maximum length of an encoded message with its proof, in bytes (TWN: 150 KiB).
    pub max_message_bytes: usize,
    /// Maximum length of a pubsub topic, in bytes.
    pub max_topic_bytes: usize,
    /// Space reserved for a proof, in bytes.
    pub proof_bytes: usize,
    /// Maximum number of proofs requested at once. A timestamp is chosen when the proof is requested, so behind a long
    /// queue at a slow prover every message would be too old by its turn.
    pub max_proving: usize,
    /// Maximum number of messages sent without an answer yet.
    pub max_in_flight: usize,
    /// Maximum number of hashes in a store query.
    pub hashes_per_query: usize,
    /// Maximum number of service peers known at once.
    pub max_peers: usize,
    /// Maximum number of pubsub topics kept per peer.
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
