//! Parameters that strategies read; they are part of the configuration.

use std::time::Duration;

/// Target sizes of meshes and of gossip rounds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Degrees {
    /// Target number of peers in a mesh (D).
    pub d: usize,
    /// Mesh size below which peers are grafted.
    pub d_low: usize,
    /// Mesh size above which peers are pruned.
    pub d_high: usize,
    /// Number of best-scoring peers kept when a mesh is pruned.
    pub d_score: usize,
    /// Minimum number of outbound peers (dialled by this node) in a mesh.
    pub d_out: usize,
    /// Minimum number of peers that get gossip at each heartbeat, per topic.
    pub d_lazy: usize,
}

/// How widely a message published by this node is flooded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloodPublish {
    /// Send to the mesh (or fanout) only.
    Off,
    /// Send to every subscriber with a score at or above the publish threshold.
    On,
    /// As `On`, but to no more peers than this rate can serve within a heartbeat (and at least `d_low`).
    /// nim-libp2p bounds flooding in this way, with an estimate of 12 500 bytes per millisecond.
    BoundedByRate {
        /// Assumed uplink rate, bytes per millisecond.
        rate_bytes_per_ms: usize,
    },
}

/// Parameters of the strategies for large messages, and of the timing of IWANT.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LargeMessages {
    /// Data longer than this is large, bytes.
    pub threshold_bytes: usize,
    /// Staggered: number of copies sent at the same time.
    pub group: usize,
    /// Staggered: time between two groups of copies.
    pub gap: Duration,
    /// Reduced: number of full copies sent without being asked for.
    pub push: usize,
    /// Time between the announcement of an unknown id and the IWANT for it: its copy may be in transit.
    pub iwant_delay: Duration,
    /// Time after which the next peer is asked.
    pub iwant_retry: Duration,
    /// Length above which an incoming frame counts as long and may delay IWANTs, bytes. The default is the
    /// amount that a connection's initial window of ten segments carries at once.
    pub transfer_bytes: usize,
    /// Maximum time for which long frames in transit delay an IWANT; zero turns the delay off.
    pub transfer_wait: Duration,
}

impl Default for LargeMessages {
    /// Values of nim-libp2p for `threshold_bytes`, `group` and `gap`; IWANTs are sent without delay.
    fn default() -> Self {
        Self {
            threshold_bytes: 2_000,
            group: 2,
            gap: Duration::from_millis(35),
            push: 3,
            iwant_delay: Duration::ZERO,
            iwant_retry: Duration::from_secs(1),
            transfer_bytes: 14_480,
            transfer_wait: Duration::from_secs(1),
        }
    }
}

/// Parameters of Dandelion++.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Dandelion {
    /// Length of an epoch, in which a node keeps its successors and its role.
    pub epoch: Duration,
    /// Probability that a node spreads the stem messages of others in an epoch (q), 0 to 1.
    pub diffuser_probability: f64,
    /// Mean of the time after which a node spreads a message itself if it has got no ordinary copy.
    pub embargo_mean: Duration,
}

impl Default for Dandelion {
    /// The mean follows from Proposition 3 of the paper, `k (k - 1) hop / (-2 ln(1 - e))`: with it a message makes
    /// `k` = 5 hops (1/q) of 100 ms (44/WAKU2-DANDELION) before the first of their timers ends, except for one
    /// message of ten (`e` = 0.1).
    fn default() -> Self {
        Self {
            epoch: Duration::from_secs(600),
            diffuser_probability: 0.2,
            embargo_mean: Duration::from_millis(9_500),
        }
    }
}

/// The part of a configuration that a strategy reads.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Parameters<'a> {
    /// Target sizes of meshes and gossip rounds.
    pub degrees: &'a Degrees,
    /// Parameters of the strategies for large messages.
    pub large: &'a LargeMessages,
    /// Parameters of Dandelion++.
    pub dandelion: &'a Dandelion,
    /// How messages published by this node are flooded.
    pub flood_publish: FloodPublish,
    /// Flooding: interval at which queued copies are sent; zero sends at once.
    pub flood_interval: Duration,
    /// Time between two heartbeats.
    pub heartbeat: Duration,
    /// Score below which a peer is sent no message by flooding.
    pub publish_threshold: f64,
}
