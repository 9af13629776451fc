//! Times and limits of the light client.

use std::time::Duration;

/// Parameters of a light client: how it uses its service peers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LightConfig {
    /// Filter peers that hold each subscription at once (LIP p2p-reliability recommends 2).
    pub filter_peers: usize,
    /// Stores asked at each comparison with history.
    pub stores_per_check: usize,
    /// Time between pings to a filter peer (LIP p2p-reliability recommends a minute; nwaku forgets
    /// subscriptions after five minutes without one).
    pub ping_every: Duration,
    /// Time after which an unanswered ping is repeated.
    pub ping_retry: Duration,
    /// Number of consecutive unanswered pings after which a filter peer is replaced.
    pub ping_failures: u32,
    /// Time within which the other filter peers should push a message that one of them pushed.
    pub push_grace: Duration,
    /// Number of consecutive messages that a filter peer failed to push, after which it counts as asleep.
    pub asleep_after: u32,
    /// Number of pushes never subscribed to, after which a filter peer counts as a liar.
    pub lies: u32,
    /// Time between comparisons with history when nothing is wrong.
    pub check_every: Duration,
    /// Minimum time between two comparisons with history.
    pub check_spacing: Duration,
    /// Overlap of comparisons with history: allowance for the lag of archives and clocks.
    pub check_overlap: Duration,
    /// Minimum time between two listings by one store that overlap by [`late_overlap`](Self::late_overlap).
    pub late_every: Duration,
    /// Overlap of such listings: allowance for messages that senders repeat until a service peer accepts
    /// them.
    pub late_overlap: Duration,
    /// Minimum time between two listings by one store that overlap by [`deep_overlap`](Self::deep_overlap).
    pub deep_every: Duration,
    /// Overlap of such listings: allowance for messages that stores receive late from other stores.
    pub deep_overlap: Duration,
    /// Age beyond which history is not asked for (nwaku keeps two days).
    pub max_lookback: Duration,
    /// How long before the subscription messages are wanted, unless the application says otherwise.
    pub subscribe_lookback: Duration,
    /// How far ahead of this client's clock history is asked for.
    pub clock_tolerance: Duration,
    /// Timeout of a filter request.
    pub filter_timeout: Duration,
    /// Timeout of a store query.
    pub store_timeout: Duration,
    /// Timeout of a connection attempt.
    pub connect_timeout: Duration,
    /// Backoff of a service peer after one failure; it doubles with each further one.
    pub backoff_first: Duration,
    /// Maximum backoff of a service peer. It is short, because light nodes know few peers.
    pub backoff_max: Duration,
    /// Delay of a call past the due timer from which this machine is taken to have slept.
    pub suspend_after: Duration,
    /// Limits on the resources that peers and the application may use.
    pub limits: LightLimits,
}

impl Default for LightConfig {
    fn default() -> Self {
        Self {
            filter_peers: 2,
            stores_per_check: 2,
            ping_every: Duration::from_secs(60),
            ping_retry: Duration::from_secs(5),
            ping_failures: 2,
            push_grace: Duration::from_secs(10),
            asleep_after: 3,
            lies: 3,
            check_every: Duration::from_secs(180),
            check_spacing: Duration::from_secs(15),
            check_overlap: Duration::from_secs(60),
            late_every: Duration::from_secs(300),
            late_overlap: Duration::from_secs(600),
            deep_every: Duration::from_secs(3600),
            deep_overlap: Duration::from_secs(2 * 3600),
            max_lookback: Duration::from_secs(3 * 24 * 3600),
            subscribe_lookback: Duration::from_secs(10),
            clock_tolerance: Duration::from_secs(20),
            filter_timeout: Duration::from_secs(10),
            store_timeout: Duration::from_secs(20),
            connect_timeout: Duration::from_secs(15),
            backoff_first: Duration::from_secs(2),
            backoff_max: Duration::from_secs(60),
            suspend_after: Duration::from_secs(15),
            limits: LightLimits::default(),
        }
    }
}

/// Limits on the resources of a light client that service peers and the application may use.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LightLimits {
    /// Maximum number of service peers known at once.
    pub max_peers: usize,
    /// Maximum number of pubsub topics kept per peer.
    pub max_peer_topics: usize,
    /// Maximum number of subscriptions, counted as pairs of pubsub topic and content topic (nwaku: 1000 per
    /// peer).
    pub max_subscriptions: usize,
    /// Maximum length of a pubsub or content topic, in bytes.
    pub max_topic_bytes: usize,
    /// Maximum number of content topics of a filter request (nwaku: 100).
    pub topics_per_request: usize,
    /// Maximum number of content topics of a store query (nwaku: 10).
    pub topics_per_query: usize,
    /// Maximum number of hashes of delivered messages to remember.
    pub max_remembered: usize,
    /// Age below which a hash is never forgotten, even if the memory is full.
    pub min_memory: Duration,
    /// Maximum number of recent messages tracked to see which filter peers push them.
    pub max_watched: usize,
    /// Maximum number of messages requested from a store by hash at once.
    pub hashes_per_query: usize,
    /// Maximum number of pages of one listing by a store.
    pub max_pages: u32,
    /// Maximum number of stores asked for a message that one store listed.
    pub stores_per_message: usize,
}

impl Default for LightLimits {
    fn default() -> Self {
        Self {
            max_peers: 128,
            max_peer_topics: 64,
            max_subscriptions: 1000,
            max_topic_bytes: 1024,
            topics_per_request: 100,
            topics_per_query: 10,
            max_remembered: 65_536,
            min_memory: Duration::from_secs(600),
            max_watched: 256,
            hashes_per_query: 20,
            max_pages: 1000,
            stores_per_message: 4,
        }
    }
}

/// Returns a duration in nanoseconds, at most `i64::MAX`.
pub(crate) fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
