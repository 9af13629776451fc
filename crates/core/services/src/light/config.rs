//! Times and limits of the light client.

use std::time::Duration;

/// Times and numbers that decide how a light client uses its service peers.
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
    /// Time before a ping without an answer is repeated.
    pub ping_retry: Duration,
    /// Pings in a row without an answer after which a filter peer is replaced.
    pub ping_failures: u32,
    /// Time after which a message that one filter peer pushed is due from the others.
    pub push_grace: Duration,
    /// Messages in a row that a filter peer did not push, after which it counts as asleep.
    pub asleep_after: u32,
    /// Unasked messages after which a filter peer counts as a liar.
    pub lies: u32,
    /// Time between comparisons with history when nothing is wrong.
    pub check_every: Duration,
    /// Least time between two comparisons with history.
    pub check_spacing: Duration,
    /// Time by which comparisons with history overlap: what archives and clocks may lag.
    pub check_overlap: Duration,
    /// Shortest time between two listings by one store that overlap by [`late_overlap`](Self::late_overlap).
    pub late_every: Duration,
    /// Overlap of such listings: what senders repeat until a service peer has taken and spread it.
    pub late_overlap: Duration,
    /// Shortest time between two listings by one store that overlap by [`deep_overlap`](Self::deep_overlap).
    pub deep_every: Duration,
    /// Overlap of such listings: what stores learn late from other stores.
    pub deep_overlap: Duration,
    /// Age beyond which history is not asked for (nwaku keeps two days).
    pub max_lookback: Duration,
    /// Time before a subscription from which its messages are wanted, unless the application says.
    pub subscribe_lookback: Duration,
    /// Time ahead of this client's clock up to which history is asked for.
    pub clock_tolerance: Duration,
    /// Time within which a filter request is answered.
    pub filter_timeout: Duration,
    /// Time within which a store query is answered.
    pub store_timeout: Duration,
    /// Time within which a connection is made.
    pub connect_timeout: Duration,
    /// Backoff of a service peer after one failure; it doubles with each further one.
    pub backoff_first: Duration,
    /// Longest backoff of a service peer. Light nodes know few peers, so that it is short.
    pub backoff_max: Duration,
    /// Lateness of a call, compared with the timer that was due, that counts as this machine's sleep.
    pub suspend_after: Duration,
    /// Bounds on what remotes and applications may cost.
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

/// Bounds on what service peers and the application may cost a light client.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LightLimits {
    /// Most service peers known at once.
    pub max_peers: usize,
    /// Most pubsub topics kept of a peer's list.
    pub max_peer_topics: usize,
    /// Most subscriptions, counted as pairs of pubsub topic and content topic (nwaku: 1000 a peer).
    pub max_subscriptions: usize,
    /// Most bytes of a pubsub or content topic.
    pub max_topic_bytes: usize,
    /// Most content topics of a filter request (nwaku: 100).
    pub topics_per_request: usize,
    /// Most content topics of a store query (nwaku: 10).
    pub topics_per_query: usize,
    /// Most hashes of messages remembered as delivered.
    pub max_remembered: usize,
    /// Age below which a hash is not forgotten, however many there are.
    pub min_memory: Duration,
    /// Most recent messages watched for which filter peers pushed them.
    pub max_watched: usize,
    /// Most messages asked of a store by their hashes at once.
    pub hashes_per_query: usize,
    /// Most pages of one listing by a store.
    pub max_pages: u32,
    /// Most stores asked for a message that one store listed.
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
