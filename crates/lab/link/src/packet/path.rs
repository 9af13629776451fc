//! Path between two hosts: delay, jitter, loss and order of packets.

use super::config::ConfigError;
use super::rng::{MILLION, PacketRng};

/// Path from one host to another, one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Path {
    /// One-way delay of the path, nanoseconds.
    pub delay_ns: u64,
    /// Variation of the delay from packet to packet.
    pub jitter: Jitter,
    /// Loss in millionths, drawn for each packet independently.
    pub loss_ppm: u32,
    /// Whether packets may overtake each other.
    pub order: Order,
}

impl Path {
    /// A path with a constant delay and no jitter, loss or reordering.
    pub const fn constant(delay_ns: u64) -> Self {
        Self {
            delay_ns,
            jitter: Jitter::None,
            loss_ppm: 0,
            order: Order::Kept,
        }
    }

    fn check(&self) -> Result<(), ConfigError> {
        let late_ppm = match self.order {
            Order::Late { ppm, .. } => ppm,
            Order::Kept | Order::Free => 0,
        };
        match self.loss_ppm.max(late_ppm) {
            ppm if ppm > MILLION => Err(ConfigError::Probability { ppm }),
            _ => Ok(()),
        }
    }
}

/// Variation of a path's delay. Delays below zero count as zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// The delay does not vary.
    None,
    /// Uniform from `delay_ns - spread_ns` to `delay_ns + spread_ns`.
    Uniform {
        /// Half the width of the interval.
        spread_ns: u64,
    },
    /// Normal around `delay_ns`, cut at six standard deviations.
    Normal {
        /// Standard deviation of the delay.
        sd_ns: u64,
    },
}

/// Whether the packets of a pair may overtake each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// A packet arrives no earlier than the one sent before it.
    Kept,
    /// Jitter may put packets in any order.
    Free,
    /// Order is kept, except for some packets that arrive late.
    Late {
        /// Share of late packets, in millionths.
        ppm: u32,
        /// Extra delay of a late packet.
        extra_ns: u64,
    },
}

/// Paths between all pairs of hosts. Hosts are in groups (cities, for example), so that a table for a
/// thousand hosts in five cities has 25 entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// Group of each host; empty if all hosts are in group 0.
    group_of_host: Vec<u32>,
    groups: usize,
    /// Paths row by row: `table[from * groups + to]`.
    table: Vec<Path>,
}

impl Paths {
    /// Uses the same path between any two hosts.
    pub fn uniform(path: Path) -> Self {
        Self {
            group_of_host: Vec::new(),
            groups: 1,
            table: vec![path],
        }
    }

    /// Paths between groups of hosts. `group_of_host[host]` is the group of a host;
    /// `table[from * groups + to]` is the path from one group to another, or among the hosts of one group.
    ///
    /// # Errors
    ///
    /// Returns an error when `table` is empty or not a square, or when a host's group is not in it.
    pub fn grouped(group_of_host: Vec<u32>, table: Vec<Path>) -> Result<Self, ConfigError> {
        let paths = table.len();
        let groups = paths.isqrt();
        if groups * groups != paths || groups == 0 {
            return Err(ConfigError::NotSquare { paths });
        }
        let out = |group: &u32| usize::try_from(*group).is_ok_and(|group| group >= groups);
        if let Some(host) = group_of_host.iter().position(out) {
            let group = group_of_host[host];
            return Err(ConfigError::NoSuchGroup {
                host,
                group,
                groups,
            });
        }
        Ok(Self {
            group_of_host,
            groups,
            table,
        })
    }

    /// A path for each ordered pair of hosts: `table[from * hosts + to]`.
    ///
    /// # Errors
    ///
    /// Returns an error when `table` is empty or not a square.
    pub fn per_pair(table: Vec<Path>) -> Result<Self, ConfigError> {
        let hosts = table.len().isqrt();
        let group_of_host = (0..hosts).map(|host| host as u32).collect();
        Self::grouped(group_of_host, table)
    }

    pub(super) fn check(&self, hosts: usize) -> Result<(), ConfigError> {
        let groups = self.group_of_host.len();
        if self.groups > 1 && groups != hosts {
            return Err(ConfigError::GroupPerHost { groups, hosts });
        }
        self.table.iter().try_for_each(Path::check)
    }

    /// The path between two existing hosts.
    pub(super) fn between(&self, from: u32, to: u32) -> &Path {
        let group = |host: u32| match self.group_of_host.get(host as usize) {
            Some(group) => *group as usize,
            None => 0,
        };
        &self.table[group(from) * self.groups + group(to)]
    }
}

/// Arrival times of the packets of one pair of hosts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PairArrivals {
    last_ns: u64,
}

impl PairArrivals {
    /// Time at which a packet that left the uplink at `now_ns` reaches the downlink; `None`
    /// if it is lost.
    pub(super) fn next(&mut self, now_ns: u64, path: &Path, rng: &mut PacketRng) -> Option<u64> {
        if rng.happens(path.loss_ppm) {
            return None;
        }
        let at_ns = now_ns.saturating_add(delay_ns(path, rng));
        match path.order {
            Order::Free => return Some(at_ns),
            Order::Late { ppm, extra_ns } if rng.happens(ppm) => {
                return Some(at_ns.saturating_add(extra_ns));
            }
            Order::Kept | Order::Late { .. } => {}
        }
        self.last_ns = self.last_ns.max(at_ns);
        Some(self.last_ns)
    }
}

fn delay_ns(path: &Path, rng: &mut PacketRng) -> u64 {
    match path.jitter {
        Jitter::None => path.delay_ns,
        Jitter::Uniform { spread_ns } => {
            let up_ns = rng.up_to(spread_ns.saturating_mul(2));
            path.delay_ns
                .saturating_add(up_ns)
                .saturating_sub(spread_ns)
        }
        Jitter::Normal { sd_ns } => path.delay_ns.saturating_add_signed(rng.normal(sd_ns)),
    }
}
