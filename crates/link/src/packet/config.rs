//! What a host's uplink and downlink can do.

use std::num::NonZeroU64;

use thiserror::Error;

/// How fast a link carries bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(NonZeroU64);

impl Rate {
    /// A rate in bytes per second; none when it is 0 or above 10^18, where arithmetic in nanoseconds
    /// would leave 64 bits.
    pub const fn bytes_per_s(bytes: u64) -> Option<Self> {
        if bytes > 1_000_000_000_000_000_000 {
            return None;
        }
        match NonZeroU64::new(bytes) {
            Some(bytes) => Some(Self(bytes)),
            None => None,
        }
    }

    /// A rate in megabits (10^6 bits) per second; none when it is 0 or above the limit of
    /// [`Rate::bytes_per_s`].
    pub const fn mbit_per_s(mbit: u64) -> Option<Self> {
        match mbit.checked_mul(125_000) {
            Some(bytes) => Self::bytes_per_s(bytes),
            None => None,
        }
    }

    /// Bytes per second.
    pub const fn as_bytes_per_s(self) -> u64 {
        self.0.get()
    }
}

/// One direction of a host's connection to the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkConfig {
    /// None: as fast as packets come, so that nothing ever waits.
    pub rate: Option<Rate>,
    /// How many bytes an idle link may send at once before the rate holds: the depth of a token
    /// bucket. 0 is a wire, where a packet of n bytes takes n / rate.
    pub burst_bytes: u32,
    /// Bytes that may wait, the packet being sent not counted; what does not fit is dropped on
    /// arrival.
    pub queue_max_bytes: u64,
    /// What else is dropped.
    pub discipline: Discipline,
}

impl LinkConfig {
    /// No limit of any kind.
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

/// How a queue treats what waits. All are first in, first out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// Drops only what does not fit.
    Fifo,
    /// Drops also what has waited too long, by RFC 8289.
    CoDel(CoDel),
}

/// Parameters of RFC 8289.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDel {
    /// TARGET: the standing delay that is acceptable.
    pub target_ns: u64,
    /// INTERVAL: how long the delay must stay above the target before the first drop.
    pub interval_ns: u64,
    /// `maxpacket`: a queue of no more than this is never dropped from.
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

/// The two directions of one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostConfig {
    /// From the host into the network.
    pub uplink: LinkConfig,
    /// From the network to the host.
    pub downlink: LinkConfig,
}

impl HostConfig {
    /// The same in both directions.
    pub const fn symmetric(link: LinkConfig) -> Self {
        Self {
            uplink: link,
            downlink: link,
        }
    }
}

/// A network that cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The list that says to which group a host belongs has another length than the list of hosts.
    #[error("{groups} hosts have a group but there are {hosts} hosts: name one group for each")]
    GroupPerHost {
        /// Hosts with a group.
        groups: usize,
        /// Hosts.
        hosts: usize,
    },
    /// A host belongs to a group for which there are no paths.
    #[error("host {host} is in group {group} but paths are given for {groups} groups only")]
    NoSuchGroup {
        /// The host's index.
        host: usize,
        /// Its group.
        group: u32,
        /// How many groups have paths.
        groups: usize,
    },
    /// A probability above one.
    #[error("a probability of {ppm} in a million is over one: give at most 1000000")]
    Probability {
        /// What was given, in millionths.
        ppm: u32,
    },
    /// The table of paths is not a square.
    #[error("{paths} paths are no square table: give groups x groups of them")]
    NotSquare {
        /// How many were given.
        paths: usize,
    },
    /// More hosts than an index can name.
    #[error("{hosts} hosts are more than the 2^32 that an index can name")]
    TooManyHosts {
        /// How many were given.
        hosts: usize,
    },
}
