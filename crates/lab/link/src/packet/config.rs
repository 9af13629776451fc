//! Configuration of a host's uplink and downlink.

use std::num::NonZeroU64;

use thiserror::Error;

/// Rate at which a link carries bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(NonZeroU64);

impl Rate {
    /// A rate in bytes per second; `None` when it is 0 or above 10^18, where arithmetic in nanoseconds
    /// would exceed 64 bits.
    pub const fn bytes_per_s(bytes: u64) -> Option<Self> {
        if bytes > 1_000_000_000_000_000_000 {
            return None;
        }
        match NonZeroU64::new(bytes) {
            Some(bytes) => Some(Self(bytes)),
            None => None,
        }
    }

    /// A rate in megabits (10^6 bits) per second; `None` when it is 0 or above
    /// the limit of [`Rate::bytes_per_s`].
    pub const fn mbit_per_s(mbit: u64) -> Option<Self> {
        match mbit.checked_mul(125_000) {
            Some(bytes) => Self::bytes_per_s(bytes),
            None => None,
        }
    }

    /// The rate in bytes per second.
    pub const fn as_bytes_per_s(self) -> u64 {
        self.0.get()
    }
}

/// One direction of a host's connection to the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkConfig {
    /// Rate of the link; `None` for a link without a limit, on which no packet ever waits.
    pub rate: Option<Rate>,
    /// Bytes that an idle link may send at once before the rate applies: the depth of a token bucket.
    /// With 0 the link behaves as a wire, where a packet of n bytes takes n / rate.
    pub burst_bytes: u32,
    /// Capacity of the queue, bytes, not counting the packet being sent; a packet that does not fit is
    /// dropped on arrival.
    pub queue_max_bytes: u64,
    /// Rule for dropping further packets.
    pub discipline: Discipline,
}

impl LinkConfig {
    /// A link without limits of any kind.
    pub const UNLIMITED: Self = Self {
        rate: None,
        burst_bytes: 0,
        queue_max_bytes: u64::MAX,
        discipline: Discipline::Fifo,
    };

    /// A wire of `rate` behind a tail-drop queue of `queue_max_bytes`.
    pub const fn wire(rate: Rate, queue_max_bytes: u64) -> Self {
        Self {
            rate: Some(rate),
            burst_bytes: 0,
            queue_max_bytes,
            discipline: Discipline::Fifo,
        }
    }
}

/// How a queue treats waiting packets. All disciplines are first in, first out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// Drops only packets that do not fit.
    Fifo,
    /// Drops packets that do not fit, and packets that have waited too long (RFC 8289).
    CoDel(CoDel),
}

/// Parameters of CoDel (RFC 8289).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CoDel {
    /// TARGET of the RFC: the standing delay that is acceptable, nanoseconds.
    pub target_ns: u64,
    /// INTERVAL of the RFC: how long the delay must stay above the target before
    /// the first drop, nanoseconds.
    pub interval_ns: u64,
    /// `maxpacket` of the RFC: CoDel never drops from a queue of at most this many bytes.
    pub max_packet_bytes: u32,
}

impl CoDel {
    /// The values that RFC 8289 recommends (section 4.4): 5 ms and 100 ms.
    pub const RFC_8289: Self = Self {
        target_ns: 5_000_000,
        interval_ns: 100_000_000,
        max_packet_bytes: 1500,
    };
}

/// Links of one host in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostConfig {
    /// Link from the host into the network.
    pub uplink: LinkConfig,
    /// Link from the network to the host.
    pub downlink: LinkConfig,
}

impl HostConfig {
    /// A host with the same link in both directions.
    pub const fn symmetric(link: LinkConfig) -> Self {
        Self {
            uplink: link,
            downlink: link,
        }
    }
}

/// Reason why a network cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The list of the hosts' groups differs in length from the list of hosts.
    #[error("{groups} hosts have a group but there are {hosts} hosts: name one group for each")]
    GroupPerHost {
        /// Hosts for which a group is given.
        groups: usize,
        /// Hosts in the network.
        hosts: usize,
    },
    /// A host belongs to a group for which there are no paths.
    #[error("host {host} is in group {group} but paths are given for {groups} groups only")]
    NoSuchGroup {
        /// Index of the host concerned.
        host: usize,
        /// Number of the host's group.
        group: u32,
        /// Number of groups that have paths.
        groups: usize,
    },
    /// A probability is above one.
    #[error("a probability of {ppm} in a million is over one: give at most 1000000")]
    Probability {
        /// The value given, in millionths.
        ppm: u32,
    },
    /// The table of paths is not a square.
    #[error("{paths} paths do not form a square table: give groups x groups paths")]
    NotSquare {
        /// Number of paths given.
        paths: usize,
    },
    /// The network has more hosts than an index can name.
    #[error("{hosts} hosts are more than the 2^32 that an index can name")]
    TooManyHosts {
        /// Number of hosts given.
        hosts: usize,
    },
}
